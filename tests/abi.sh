#!/usr/bin/env bash
# The ABI is the one that is written down in tests/abi: functions, their types, the layout of structs, numbers of enums. It
# doesn't depend on the compiler nor on ISAs, so what lies above these is compiled for it, with debugging information.
# usage: abi.sh COMPILER [--update]
#        --update writes it down anew: for what is added, and before 1.0, with a new minor version, for what is changed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=$1 update=${2:-}

machine=$("$compiler" -dumpmachine | cut -d - -f 1)
file=tests/abi/dql-$machine.abi
if ! command -v abidiff >/dev/null; then
  echo "skipped: abi: no abidiff (Debian: abigail-tools)"
  exit 77
elif ! [ -e "$file" ] && [ -z "$update" ]; then
  echo "skipped: abi: no $file"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$compiler" -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden -Iinclude -Isrc src/*.c src/dispatch/*.c \
  -Wl,-soname,libdql.so -o "$scratch/libdql.so"

if [ -n "$update" ]; then
  abidw --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --out-file "$file" "$scratch/libdql.so"
fi
abidiff --harmless --exported-interfaces-only "$file" "$scratch/libdql.so" || {
  echo "The ABI is not that of $file. If that is meant: tests/abi.sh $compiler --update"
  exit 1
}
