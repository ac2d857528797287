#!/usr/bin/env bash
# The library is clean: the same bytes in whatever folder it is built, no executable stack, no relocations of code,
# nothing writable that points to code, no variables but those that dispatch and the CPU's features are kept in, and no
# names but dql's.
# usage: clean_library.sh [C_COMPILER]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-cc}
mkdir -p "$root/build/clean"
cd "$root/build/clean"
rm -rf first second

# From two copies of the sources, so that no path can be the same.
for copy in first second/in/another/place; do
  mkdir -p $copy
  cp -r "$root"/{CMakeLists.txt,cmake,include,src} $copy
  cmake -S $copy -B $copy/build -G Ninja -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DDQL_TESTS=OFF -DDQL_TOOLS=OFF -DBUILD_SHARED_LIBS=ON >log 2>&1 || { cat log; exit 1; }
  cmake --build $copy/build -j 2 >log 2>&1 || { cat log; exit 1; }
done

fail() {
  echo "$*"
  exit 1
}

library=first/build/libdql.so
objects=$(find first -path '*/dql_objects.dir/*.o')
for file in $library first/build/libdql.a $objects; do
  cmp "$file" "${file/first/second/in/another/place}" || fail "$file depends on where it is built"
done

segments=$(readelf -lW $library) dynamic=$(readelf -dW $library)
grep -q 'GNU_STACK .* RW ' <<<"$segments" || fail "the stack is executable"
grep -q 'GNU_RELRO ' <<<"$segments" || fail "tables of pointers stay writable"
grep -q 'BIND_NOW\|FLAGS.* NOW' <<<"$dynamic" || fail "the table of functions of other libraries stays writable"
! grep -q 'TEXTREL' <<<"$dynamic" || fail "code has relocations"

# .data.rel.ro is read-only once the library is loaded.
variables=$(objdump -t $objects | awk '
  $3 == "O" && $4 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $4 !~ /^\.data\.rel\.ro/ {print $NF}' | sort | xargs)
[ "$variables" = "forced known_cache known_features picked" ] || fail "variables: $variables"

names=$(nm --defined-only --extern-only --format=posix $library $objects | awk 'NF > 1 && $1 !~ /^dql_/ {print $1}')
[ -z "$names" ] || fail "names that are not dql's: $names"
echo "libdql.so and its $(wc -w <<<"$objects") objects are the same in two folders, and clean"
