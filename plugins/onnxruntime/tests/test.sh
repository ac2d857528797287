#!/usr/bin/env bash
# The plug-in in real ONNX Runtimes. `scripts/test --onnxruntime` runs this, and `scripts/test --all` its shorter form:
#
#   test.sh --short   the newest onnxruntime from PyPI and a 1.24, each in an environment of its own, by Python and by C
#   test.sh           also onnxruntime-node from npm (110 MB, for C programs), the detection network of tests/models,
#                     AddressSanitizer, and the library for Windows
# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/setup.sh"

here=$root/plugins/onnxruntime/tests
plugin=$root/build/release/plugins/onnxruntime/libdql_onnxruntime.so
newest=1.32.0 oldest=1.24.4
# What pip would choose depends on the day.
numpy=numpy==2.4.6 common=(flatbuffers==25.12.19 packaging==26.4 protobuf==7.36.2)
passed=0 failed=0

# check NAME COMMAND...: counts whether it succeeds.
check() {
  local name=$1
  shift
  say "Testing: $name"
  if timeout 900 "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name" >&2
  fi
}

# environment VERSION PACKAGE...: onnxruntime of that version, in build/python/onnxruntime-VERSION.
environment() {
  say "Getting onnxruntime $1 from PyPI"
  python_environment "onnxruntime-$1" --no-deps "onnxruntime==$1" "$numpy" "${common[@]}" "${@:2}"
}

# library_of VERSION: its libonnxruntime.so.
library_of() {
  echo "$root/build/python/onnxruntime-$1/lib"/python3*/site-packages/onnxruntime/capi/"libonnxruntime.so.$1"
}

# python_of VERSION
python_of() {
  echo "$root/build/python/onnxruntime-$1/bin/python"
}

# block LANGUAGE NUMBER: the NUMBERth block of code in a language that docs/onnxruntime.md has.
block() {
  awk -v start="\`\`\`$1" -v number="$2" '
    $0 == start {found++; inside = found == number; next}
    $0 == "```" {inside = 0}
    inside' "$root/docs/onnxruntime.md"
}

# python_example VERSION: the document's, as it stands there.
python_example() {
  local folder=$root/build/onnxruntime/python-$1
  mkdir -p "$folder"
  "$(python_of "$newest")" "$here/example_model.py" "$folder/model.onnx"
  block python 1 >"$folder/example.py"
  (cd "$folder" && "$(python_of "$1")" example.py "$plugin" model.onnx) | tee "$folder/out"
  grep -q 'DqlExecutionProvider.*DequantizeLinear' "$folder/out"
}

# c_example LIBRARY: the document's, as it stands there. The header of ONNX Runtime is in none of its packages here, so
# a stand-in declares what the example uses.
c_example() {
  local folder=$root/build/onnxruntime/c
  mkdir -p "$folder"
  ln -sf "$1" "$folder/libonnxruntime.so"
  ln -sf "$1" "$folder/$(objdump -p "$1" | awk '$1 == "SONAME" {print $2}')"
  /usr/bin/python3 "$here/example_model.py" "$folder/model.onnx"
  block c 1 >"$folder/example.c"
  cc -std=c11 -Wall -Wextra -Werror -I"$here/stand_in" "$folder/example.c" -o "$folder/example" -L"$folder" -lonnxruntime
  LD_LIBRARY_PATH=$folder "$folder/example" "$plugin" "$folder/model.onnx" | tee "$folder/out"
  grep -q 'dql' "$folder/out"
}

# An older runtime says in its status what it lacks, and is not disturbed.
old_runtime() {
  /usr/bin/python3 "$here/old_runtime.py" "$1" "$plugin"
}

install_packages "${packages[@]}" python3 binutils
[ -e "$plugin" ] || build release -DDQL_ONNXRUNTIME=ON
build_target release dql_onnxruntime -DDQL_ONNXRUNTIME=ON
environment $newest
environment $oldest mpmath==1.3.0 sympy==1.14.0

for version in $newest $oldest; do
  check "Python's onnxruntime $version" "$(python_of $version)" "$here/test_plugin.py" module "$plugin"
  check "the example in Python, $version" python_example $version
done
check "libonnxruntime.so $newest by its C API" /usr/bin/python3 "$here/test_plugin.py" "$(library_of $newest)" "$plugin"
check "the example in C, $newest" c_example "$(library_of $newest)"

if [ "${1:-}" != --short ]; then
  # shellcheck source=plugins/onnxruntime/tests/long.sh
  source "$here/long.sh"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
