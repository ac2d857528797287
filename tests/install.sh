#!/usr/bin/env bash
# cmake --install, static and shared: the files are there, the README's example compiles and runs against them, and the
# shared library exports what the header declares and nothing else.
# usage: install.sh SOURCE_DIR BUILD_DIR GENERATOR C_COMPILER VERSION [CPUINFO_LIBRARY]
set -euo pipefail
source_dir=$1 build_dir=$2 generator=$3 compiler=$4 version=$5 cpuinfo=${6:-}
cd "$build_dir"

for kind in static shared; do
  rm -rf "install-$kind"
  cmake -S "$source_dir" -B "install-$kind/build" -G "$generator" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DDQL_TESTS=OFF -DDQL_TOOLS=OFF -DDQL_CPUINFO=$([ -n "$cpuinfo" ] && echo ON || echo OFF) -DBUILD_SHARED_LIBS=$([ $kind = shared ] && echo ON || echo OFF) \
    -DCMAKE_INSTALL_PREFIX="$PWD/install-$kind/prefix" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
  cmake --build "install-$kind/build" >/dev/null
  cmake --install "install-$kind/build" >/dev/null
  prefix=$PWD/install-$kind/prefix
  cmp "$source_dir/include/dql/dql.h" "$prefix/include/dql/dql.h"
  "$compiler" -std=c11 readme_example.c -I"$prefix/include" -L"$prefix/lib" -ldql $cpuinfo -o "install-$kind/example"
  LD_LIBRARY_PATH=$prefix/lib "install-$kind/example"
done

test -f install-static/prefix/lib/libdql.a
test -L install-shared/prefix/lib/libdql.so
test -f "install-shared/prefix/lib/libdql.so.$version"
diff <(grep -oE '\bdql_[a-z_]+\(' "$source_dir/include/dql/dql.h" | tr -d '(' | sort -u) \
  <(nm -D --defined-only install-shared/prefix/lib/libdql.so | awk '{print $3}' | sort -u)
