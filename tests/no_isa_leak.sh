#!/usr/bin/env bash
# In the static library, no instruction beyond the compiler's baseline is outside the files of the ISAs: neither a VEX or EVEX
# instruction nor a register of more than 128 bits. And none of them uses FMA, which would round once where twice is right.
# usage: no_isa_leak.sh LIBRARY.a
set -euo pipefail

objdump -d --no-show-raw-insn "$1" | awk '
  /^[^ ]+\.o: / {file = $1; kernels = file ~ /^(avx|sve|neon)/; next}
  /^[0-9a-f]+ </ {name = $2; next}
  /^ / {
    if (!kernels && ($0 ~ /%[yz]mm/ || $2 ~ /^v[a-z]/)) {print "leak: " file " " name " " $0; bad = 1}
    if ($2 ~ /^vf(n?m(add|sub))/) {print "FMA: " file " " name " " $0; bad = 1}
    if (kernels) vectors += $0 ~ /%[yz]mm/
  }
  END {
    if (!bad) print vectors + 0 " instructions on wide registers, all in the files of the ISAs"
    exit bad
  }'
