#!/usr/bin/env bash
# The AVX2 kernels and all around them under valgrind, which knows no AVX-512: no byte is used that was never written, nothing
# is left allocated.
# usage: valgrind.sh DQL VECTORS TESTS_DIR
set -euo pipefail
dql=$1 vectors=$2 tests=$3

if ! command -v valgrind >/dev/null; then
  echo "skipped: valgrind: no valgrind (Debian: valgrind)"
  exit 77
fi
checked=(timeout 300 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible)
if ! timeout 60 valgrind -q "$dql" info | grep -E '^avx2 .* yes$'; then
  echo "skipped: valgrind: AVX2 is not the active ISA under it"
  exit 77
fi
"${checked[@]}" "$dql" test "$vectors" | tail -1
"${checked[@]}" "$tests/fuzz/fuzz_run" --random 100 200
"${checked[@]}" "$tests/fuzz/fuzz_plan" --random 300 200
