#!/usr/bin/env bash
# Runs an example of docs/onnxruntime.md as it stands there, on a model that only the plug-in can run.
#
#   example.sh python PYTHON FOLDER PLUGIN                 PYTHON: one that has onnxruntime
#   example.sh c LIBONNXRUNTIME.so FOLDER PLUGIN           FOLDER: where to work
set -euo pipefail
language=$1 runtime=$2 folder=$3 plugin=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

mkdir -p "$folder"
python3 "$here/example_model.py" "$folder/model.onnx"
cd "$folder"

# The first block of code in that language.
awk -v start="\`\`\`$language" '
  !found && $0 == start {found = inside = 1; next}
  $0 == "```" {inside = 0}
  inside' "$here/../../../docs/onnxruntime.md" >"example.$([ "$language" = c ] && echo c || echo py)"

case $language in
python)
  "$runtime" example.py "$plugin" model.onnx | tee out
  grep -q 'DqlExecutionProvider.*DequantizeLinear weights' out
  ;;
c)
  # ONNX Runtime's header is in none of its packages for Python and node: a stand-in declares what the example uses.
  ln -sf "$runtime" libonnxruntime.so
  ln -sf "$runtime" "$(objdump -p "$runtime" | awk '$1 == "SONAME" {print $2}')"
  cc -std=c11 -Wall -Wextra -Werror -I"$here/stand_in" example.c -o example -L. -lonnxruntime
  LD_LIBRARY_PATH=. ./example "$plugin" model.onnx >out 2>&1 || { cat out >&2; exit 1; }
  grep -o 'dql [0-9.]* (.*' out
  grep '^y begins with' out
  ;;
esac
