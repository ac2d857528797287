#!/usr/bin/env bash
# Installs a build into a scratch prefix, and has programs compiled and run against it: by CMake against the shared and
# against the static library, in C++; by pkg-config, both kinds; and by CMake with the source in another project's tree.
# The shared library exports what the header declares, and nothing else. What README.md says to type builds and installs it
# too, where there is no make, and a program that is static altogether is linked to that. docs/integration.md is right about
# compiling the sources by hand.
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

# package NAME EXPECTED OPTION...: a project that finds the installed package, and which library that is.
package() {
  local name=package-$1 expected=$2
  shift 2
  quiet cmake -S "$source/tests/consumers/package" -B "$name" -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_FLAGS="$CFLAGS" -DCMAKE_PREFIX_PATH="$prefix" -DEXPECTED="$expected" "$@"
  quiet cmake --build "$name"
  quiet "$name/consumer"
}
package shared SHARED -DKIND=shared
package static STATIC -DKIND=static
package default SHARED
package default-shared SHARED -DBUILD_SHARED_LIBS=ON
package default-static STATIC -DBUILD_SHARED_LIBS=OFF
if cmake -S "$source/tests/consumers/package" -B package-none -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_PREFIX_PATH="$prefix" -DKIND=none >log 2>&1; then
  echo "find_package finds a library that is neither static nor shared"
  exit 1
fi

# For --static, pkg-config names the libraries of libdql.a too, but -ldql is the shared one where both kinds are installed.
if command -v pkg-config >/dev/null; then
  same "pkg-config --modversion" "$(pkg-config --modversion dql)" "$version"
  $CC $CFLAGS "$example" $(pkg-config --cflags --libs dql) -o shared
  same "pkg-config, shared" "$(./shared)" "$expected"
  $CC $CFLAGS "$example" $(pkg-config --static --cflags --libs dql | sed 's/-ldql/-l:libdql.a/') -o static
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

# What docs/integration.md says to who has a build system of his own: all but the ISAs, by the compiler alone.
quiet env -C "$source" bash -c "$CC $CFLAGS -std=c11 -ffp-contract=off -Iinclude -Isrc src/*.c src/dispatch/*.c src/scalar/*.c \
  '$example' -o '$scratch/by_hand'"
same "a scalar library, compiled by hand" "$(./by_hand)" "$expected"

# README.md's line, on a machine with ninja and no make; with the fewest ISAs, and without cpuinfo, of which distributions have
# no archive. Its build folder is not the tree's.
line=$(sed -n 's/^    \(cmake -G Ninja -B .*\)/\1/p' "$source/README.md")
[ -n "$line" ] || {
  echo "README.md does not say how to build with CMake"
  exit 1
}
if command -v ninja >/dev/null; then
  mkdir tree bin
  ln -s "$source"/{CMakeLists.txt,cmake,include,src} tree
  printf '#!/bin/sh\nexit 1\n' >bin/make
  chmod +x bin/make
  few="-DDQL_TESTS=OFF -DDQL_CPUINFO=OFF -DDQL_ISAS=scalar '-DCMAKE_INSTALL_PREFIX=$scratch/no_cpuinfo'"
  quiet env -C tree CFLAGS="$CFLAGS" PATH="$scratch/bin:$PATH" bash -c "${line/-DDQL_TESTS=OFF/$few}"
  if ! $CC -static -x c - -o nothing <<<'int main(void) { return 0; }' 2>/dev/null; then
    echo "skipped: install: programs that are static altogether: there is no archive of the C library"
  else
    PKG_CONFIG_PATH=$(dirname "$(find no_cpuinfo -name dql.pc)")
    if command -v pkg-config >/dev/null; then
      $CC $CFLAGS -static "$example" $(pkg-config --static --cflags --libs dql) -o all_static
      same "a static program, pkg-config" "$(LD_LIBRARY_PATH='' ./all_static)" "$expected"
      same "libraries of a static program" "$(objdump -p all_static | grep NEEDED || true)" ""
    fi
    prefix=$scratch/no_cpuinfo
    package all-static STATIC -DKIND=static -DCMAKE_EXE_LINKER_FLAGS=-static
    same "libraries of a static program" "$(objdump -p package-all-static/consumer | grep NEEDED || true)" ""
  fi
else
  echo "skipped: install: README.md's line: no ninja"
fi
