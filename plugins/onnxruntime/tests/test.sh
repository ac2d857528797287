#!/usr/bin/env bash
# The plug-in in real ONNX Runtimes. `scripts/test --onnxruntime` runs this, and `scripts/test --all` its shorter form:
#
#   test.sh --short   the newest onnxruntime from PyPI and a 1.24, each in an environment of its own, by Python and by C
#   test.sh           also onnxruntime-node from npm (110 MB, for C programs), the detection network of tests/models,
#                     AddressSanitizer, and the library for Windows

# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/setup.sh"

case "$*" in
"" | --short) ;;
*) wrong_usage ;;
esac

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

install_packages "${packages[@]}" python3 binutils
build_target release dql_onnxruntime -DDQL_ONNXRUNTIME=ON
environment $newest
environment $oldest mpmath==1.3.0 sympy==1.14.0

for version in $newest $oldest; do
  check "Python's onnxruntime $version" "$(python_of $version)" "$here/test_plugin.py" module "$plugin"
  check "the example in Python, $version" bash "$here/example.sh" python "$(python_of $version)" \
    "$root/build/onnxruntime/python-$version" "$plugin"
done
check "libonnxruntime.so $newest by its C API" /usr/bin/python3 "$here/test_plugin.py" "$(library_of $newest)" "$plugin"
check "the example in C, $newest" bash "$here/example.sh" c "$(library_of $newest)" \
  "$root/build/onnxruntime/c-$newest" "$plugin"

if [ "${1:-}" != --short ]; then
  # shellcheck source=plugins/onnxruntime/tests/long.sh
  source "$here/long.sh"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
