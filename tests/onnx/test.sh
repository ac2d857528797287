#!/usr/bin/env bash
# The official ONNX package as judge: see judge.py beside this. `scripts/test --onnx` runs it, as does `--all`.
# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

install_packages "${packages[@]}"
say "Getting the ONNX package from PyPI"
python_environment onnx onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0
build_target release dql_command

say "Asking the ONNX package"
build/python/onnx/bin/python tests/onnx/judge.py build/release/dql build/onnx "$@"
