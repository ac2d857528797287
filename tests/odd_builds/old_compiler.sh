#!/bin/sh
# gcc without AVX-512.
case " $* " in
*" -mavx512"*)
  echo "unrecognized command-line option '-mavx512'" >&2
  exit 1
  ;;
esac
exec gcc "$@"
