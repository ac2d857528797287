#!/usr/bin/env bash
# Measures inferences in ONNX Runtime with the plug-in and without. `scripts/bench --onnxruntime` runs this:
#
#   bench.sh [--quick] [--docs]   --quick: few runs of each; --docs: puts the table and the picture into docs/onnxruntime.md

# shellcheck source=scripts/setup.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"
# shellcheck source=plugins/onnxruntime/tests/network.sh
source plugins/onnxruntime/tests/network.sh

quick='' docs=''
for option; do
  case $option in
  --quick) quick=--quick ;;
  --docs) docs=yes ;;
  *) wrong_usage ;;
  esac
done
version=1.32.0 out=build/onnxruntime/bench

install_packages "${packages[@]}" python3-matplotlib
build_target release dql_onnxruntime -DDQL_ONNXRUNTIME=ON
python_environment "onnxruntime-$version" "onnxruntime==$version"
get_network

load=$(cut -d ' ' -f 1 /proc/loadavg)
# Of Debian's Python, for its matplotlib.
/usr/bin/python3 plugins/onnxruntime/bench.py \
  "$(echo build/python/"onnxruntime-$version"/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so."$version")" \
  build/release/plugins/onnxruntime/libdql_onnxruntime.so "$network_models" "$out" $quick
say "Results: $out"

if [ -n "$docs" ]; then
  mkdir -p docs/onnxruntime
  cp "$out/onnxruntime.svg" docs/onnxruntime/inferences.svg
  cpu=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p')
  {
    printf '%s, %s cores, load before the run %s, ONNX Runtime %s, dql %s, %s, `scripts/bench --onnxruntime --docs`.\n' \
      "$cpu" "$(nproc)" "$load" "$version" "$(git describe --always --dirty)" "$(date -u +%F)"
    cat "$out/results.md"
  } >"$out/docs.md"
  # Between the two marks.
  sed -i -e "/^<!-- results of scripts.bench/,/^<!-- end of results /{/^<!-- results of /{p;r $out/docs.md
    };/^<!-- end of results /!d}" docs/onnxruntime.md
  say "docs/onnxruntime.md has them"
fi
