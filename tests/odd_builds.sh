#!/usr/bin/env bash
# dql built with the flags, compilers and for the machines of others, each time with a program that uses it
# (tests/odd_builds, tests/test_consumer.c) and runs it on every ISA.
# usage: odd_builds.sh [NAME...]: all that have what they need here, or these
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/build/odd_builds
mkdir -p "$folder"
wanted=("$@")

quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}

# build NAME OPTION...: in its folder, from scratch.
build() {
  local name=$1
  shift
  rm -rf "${folder:?}/$name"
  quietly "$folder/$name.log" cmake -S "$root/tests/odd_builds" -B "$folder/$name" -G Ninja -DCMAKE_BUILD_TYPE=None "$@"
  quietly "$folder/$name.log" cmake --build "$folder/$name" -j 2
}

# consumer NAME [COMMAND...]: runs it, behind COMMAND. What it says on stderr (emulators do) only matters if it fails.
consumer() {
  local program=$folder/$1/consumer
  [ -e "$program" ] || program+=.exe
  shift
  timeout 120 "$@" "$program" ${expect:-keeps} 2>"$folder/$name.stderr" || { cat "$folder/$name.stderr" >&2; return 1; }
}

# needs COMMAND...: false, saying so, if one is not here.
needs() {
  local command
  for command; do
    if ! command -v "$command" >/dev/null; then
      echo "skipped: $name: no $command"
      return 1
    fi
  done
}

no_leak() {
  bash "$root/tests/no_isa_leak.sh" "$folder/$1/consumer"
}

on_nehalem() {
  needs qemu-x86_64 || return 0
  consumer "$1" qemu-x86_64 -cpu Nehalem | tee "$folder/$name.isas"
  grep -q '^scalar (active)' "$folder/$name.isas"
}

# ---- link-time optimisation ----

gcc_lto() {
  needs gcc || return 0
  build $name -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="-O2 -flto=auto"
  consumer $name
  no_leak $name
  on_nehalem $name
}

clang_thin_lto() {
  needs clang ld.lld || return 0
  build $name -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="-O2 -flto=thin" -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld
  consumer $name
  no_leak $name
  on_nehalem $name
}

# CMake's own switch, and one source for many.
gcc_ipo_unity() {
  needs gcc || return 0
  build $name -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS=-O3 -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_UNITY_BUILD=ON
  consumer $name
  no_leak $name
  on_nehalem $name
}

# ---- flags ----

# Code for this machine everywhere, and arithmetic that is nobody's: dql's stays right, and only the program's own start-up
# code makes subnormals 0.
gcc_fast_math() {
  needs gcc || return 0
  build $name -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="-O3 -march=native -ffast-math -fsigned-char"
  expect=flushes consumer $name
}

# The same without the program's wish to flush: what is compiled for an older ISA may use this machine's instructions, but
# must not give other bits for it. Nor must another optimisation than dql's own.
gcc_native() {
  needs gcc || return 0
  build $name -DDQL_OPTIMISATION= -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="-O3 -march=native"
  consumer $name
}

clang_fast_math() {
  needs clang || return 0
  build $name -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="-O3 -march=native -ffast-math -ffp-contract=fast -funsigned-char"
  expect=flushes consumer $name
}

# A shared library that is built so doesn't flush in the programs of others.
gcc_fast_shared() {
  needs gcc || return 0
  build $name -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="-Ofast -ffast-math -funsafe-math-optimizations" \
    -DBUILD_SHARED_LIBS=ON -DCONSUMER_LINK_OPTIONS="-fno-fast-math;-fno-unsafe-math-optimizations;-O2"
  consumer $name
}

gcc_small() {
  needs gcc || return 0
  build $name -DDQL_OPTIMISATION= -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="-Os -fshort-enums -funsigned-char -fstack-protector-strong"
  consumer $name
}

clang_19_small() {
  needs clang-19 || return 0
  build $name -DDQL_OPTIMISATION= -DCMAKE_C_COMPILER=clang-19 -DCMAKE_C_FLAGS="-Os -fshort-enums -funsigned-char"
  consumer $name
}

cxx20() {
  needs gcc g++ || return 0
  build $name -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCONSUMER_LANGUAGE=CXX -DCMAKE_C_FLAGS=-O2 \
    -DCMAKE_CXX_FLAGS="-O2 -Wall -Wextra -Wpedantic -Werror"
  consumer $name
}

# ---- less of it ----

# What an engine of 8- and 4-bit weights takes: no other types are built, plans of them are refused, and names that no type
# has are too.
few_types() {
  needs gcc size || return 0
  local option text
  build $name -DCMAKE_C_COMPILER=gcc -DDQL_ISAS=avx2 "-DDQL_X_TYPES=int8;uint8;int4;uint4" -DDQL_Y_TYPES=float32
  expect="keeps int8,uint8,int4,uint4 float32" consumer $name
  text=$(size "$folder/$name/dql/libdql.a" | awk 'NR > 1 {all += $1} END {print all}')
  echo "$((text / 1024)) KiB"
  if [ "$text" -gt $((100 * 1024)) ]; then
    echo "kernels of types that were left out are there" >&2
    return 1
  fi
  for option in "-DDQL_X_TYPES=int8;float32" "-DDQL_Y_TYPES=int8" -DDQL_ISAS=sve2; do
    if cmake "$option" "$folder/$name" >"$folder/$name.log" 2>&1 || ! grep -q "there is no" "$folder/$name.log"; then
      cat "$folder/$name.log" >&2
      echo "$option is not refused" >&2
      return 1
    fi
    cmake -DDQL_ISAS=avx2 -DDQL_X_TYPES=int8 -DDQL_Y_TYPES=float32 "$folder/$name" >"$folder/$name.log"
  done
}

# ---- compilers that lack an ISA ----

# Of a compiler that refuses AVX-512, and of one that can't assemble it, CMake says what is left out, and the rest is right.
refused_isa() {
  needs gcc || return 0
  local kind isa message refused
  refused=$(tr '\n' ' ' <"$root/src/isas.def" | grep -oE 'ISA\([^)]*\bAVX512F\b[^)]*\)' | cut -d, -f2)
  for kind in compiler assembler; do
    build $name -DCMAKE_C_COMPILER="$root/tests/odd_builds/old_$kind.sh" -DCMAKE_C_FLAGS=-O2
    cmake -S "$root/tests/odd_builds" -B "$folder/$name" >"$folder/$name.log"
    for isa in $refused; do
      message="ISA $isa is left out"
      grep -q -- "-- $message" "$folder/$name.log" || { echo "CMake doesn't say: $message"; cat "$folder/$name.log"; return 1; }
    done
    consumer $name | tee "$folder/$name.isas"
    if grep -q avx512 "$folder/$name.isas"; then
      echo "avx512 is there, though the $kind lacks it"
      return 1
    fi
  done
}

# ---- machines ----

# 32-bit x86. CMake takes SSE2 for arithmetic.
i386() {
  needs i686-linux-gnu-gcc qemu-i386 || return 0
  build $name -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=i686 -DCMAKE_C_COMPILER=i686-linux-gnu-gcc \
    -DCMAKE_C_FLAGS=-O2 -DDQL_CPUINFO=OFF
  consumer $name qemu-i386 -L /usr/i686-linux-gnu
}

armhf() {
  needs arm-linux-gnueabihf-gcc qemu-arm || return 0
  build $name -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=arm -DCMAKE_C_COMPILER=arm-linux-gnueabihf-gcc \
    -DCMAKE_C_FLAGS=-O2 -DDQL_CPUINFO=OFF
  consumer $name qemu-arm -L /usr/arm-linux-gnueabihf
}

# Windows: other callee-saved registers, another long, and DLLs.
windows() {
  needs x86_64-w64-mingw32-gcc-posix /usr/lib/wine/wine64 || return 0
  local shared
  export WINEPREFIX=$folder/wine_prefix WINEDEBUG=-all WINEPATH=$folder/$name/dql
  wine_prefix
  if ! timeout 120 /usr/lib/wine/wine64 cmd /c exit >"$folder/$name.stderr" 2>&1; then
    echo "skipped: $name: wine runs nothing here: $(tail -n 1 "$folder/$name.stderr")"
    return 0
  fi
  for shared in OFF ON; do
    build $name -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
      -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc-posix -DCMAKE_C_FLAGS=-O2 -DDQL_CPUINFO=OFF -DBUILD_SHARED_LIBS=$shared
    consumer $name /usr/lib/wine/wine64
  done
}

# Wine would fill its prefix with 700 MB of copies of its libraries; it takes the originals as well.
wine_prefix() {
  rm -rf "$WINEPREFIX"
  mkdir -p "$WINEPREFIX/dosdevices" "$WINEPREFIX/drive_c/windows"
  ln -s ../drive_c "$WINEPREFIX/dosdevices/c:"
  ln -s / "$WINEPREFIX/dosdevices/z:"
  ln -s /usr/lib/x86_64-linux-gnu/wine/x86_64-windows "$WINEPREFIX/drive_c/windows/system32"
  echo disable >"$WINEPREFIX/.update-timestamp"
}

all=(gcc_lto clang_thin_lto gcc_ipo_unity gcc_native gcc_fast_math clang_fast_math gcc_fast_shared gcc_small clang_19_small
  cxx20 few_types refused_isa i386 armhf windows)
[ ${#wanted[@]} != 0 ] || wanted=("${all[@]}")
if [ ${#wanted[@]} -gt 1 ]; then # two at a time: much of a build waits for one big file
  printf '%s\n' "${wanted[@]}" | xargs -P 2 -I NAME bash -c \
    "bash '$0' NAME >'$folder/NAME.out' 2>&1; status=\$?; cat '$folder/NAME.out'; exit \$status"
  exit
fi
name=${wanted[0]}
printf '\n-- %s\n' "$name"
$name
rm -rf "${folder:?}/$name"
