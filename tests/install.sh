#!/usr/bin/env bash
# Installs a build into a scratch prefix, and has programs compiled and run against it: by CMake against the shared and
# against the static library, in C++; by pkg-config, both kinds; and by CMake with the source in another project's tree.
# The shared library exports what the header declares, and nothing else.
# usage: install.sh SOURCE_DIR BUILD_DIR SCRATCH_DIR VERSION EXAMPLE.c
#        in the environment: CC, CXX, CFLAGS, GENERATOR; CPUINFO_INCLUDE_DIR and CPUINFO_LIBRARY, if it is used
set -euo pipefail
source=$1 build=$2 scratch=$3 version=$4 example=$5
prefix=$scratch/prefix
expected='-4 -3.5 -3 3 4 5 12 14 16 4 8 12 '

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

# quiet COMMAND...: its output only if it fails.
quiet() {
  "$@" >log 2>&1 || {
    cat log
    echo "failed: $*"
    exit 1
  }
}

same() {
  [ "$2" = "$3" ] || {
    printf '%s:\n%s\ninstead of:\n%s\n' "$1" "$2" "$3"
    exit 1
  }
}

quiet cmake --install "$build" --prefix "$prefix"
cmp "$source/include/dql/dql.h" "$prefix/include/dql/dql.h"
lib=$(dirname "$(find "$prefix" -name libdql.a)")
export LD_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig

abi=${version%.*}
same "SONAME" "$(objdump -p "$lib/libdql.so" | awk '$1 == "SONAME" {print $2}')" "libdql.so.$abi"
same "link to the SONAME" "$(readlink "$lib/libdql.so.$abi")" "libdql.so.$version"
same "exported symbols" "$(nm -D --defined-only "$lib/libdql.so" | awk '{print $NF}' | sort -u)" \
  "$(grep -oE '\bdql_[a-z_]+\(' "$source/include/dql/dql.h" | tr -d '(' | sort -u)"
same "symbols of the static library that are not dql_*" \
  "$(nm --extern-only --defined-only "$lib/libdql.a" | awk 'NF == 3 && $3 !~ /^(dql_|__odr_asan)/')" ""

# package KIND: a project that finds the installed package.
package() {
  quiet cmake -S "$source/tests/consumers/package" -B "package-$1" -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_FLAGS="$CFLAGS" -DCMAKE_PREFIX_PATH="$prefix" -DKIND="$1"
  quiet cmake --build "package-$1"
  quiet "package-$1/consumer"
}
package shared
package static
if cmake -S "$source/tests/consumers/package" -B package-none -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_PREFIX_PATH="$prefix" -DKIND=none >log 2>&1; then
  echo "find_package finds a library that is neither static nor shared"
  exit 1
fi

# For --static, pkg-config names the libraries of libdql.a too; it has to be asked for where both kinds are installed.
if command -v pkg-config >/dev/null; then
  same "pkg-config --modversion" "$(pkg-config --modversion dql)" "$version"
  $CC $CFLAGS "$example" $(pkg-config --cflags --libs dql) -o shared
  same "pkg-config, shared" "$(./shared)" "$expected"
  mkdir static-only
  cp "$lib/libdql.a" static-only
  $CC $CFLAGS "$example" -Lstatic-only $(pkg-config --static --cflags --libs dql) -o static
  same "pkg-config, static" "$(LD_LIBRARY_PATH='' ./static)" "$expected"
else
  echo "skipped: install: the part of pkg-config, which is missing"
fi

# In another project's tree, with the fewest ISAs. Where dql is built without cpuinfo, so it is here.
subdirectory=(cmake -S "$source/tests/consumers/subdirectory" -B subdirectory -G "$GENERATOR" -DCMAKE_C_COMPILER="$CC"
  -DCMAKE_C_FLAGS="$CFLAGS" -DDQL_SOURCE_DIR="$source" -DEXAMPLE="$example" -DDQL_CPUINFO="${CPUINFO_LIBRARY:+ON}"
  -DCPUINFO_LIBRARY="${CPUINFO_LIBRARY:-}" -DCPUINFO_INCLUDE_DIR="${CPUINFO_INCLUDE_DIR:-}")
for isa in AVX2 auto; do
  if "${subdirectory[@]}" -DDQL_ISAS=$isa >log 2>&1 || ! grep -q "there is no ISA $isa" log; then
    echo "DQL_ISAS=$isa is not refused"
    exit 1
  fi
done
quiet "${subdirectory[@]}" -DDQL_ISAS=scalar
quiet cmake --build subdirectory
same "add_subdirectory" "$(subdirectory/consumer)" "$expected"
same "what the engine's library exports of dql" "$(nm -D --defined-only subdirectory/libengine.so | grep dql_ || true)" ""
