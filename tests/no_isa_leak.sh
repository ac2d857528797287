#!/usr/bin/env bash
# In the static library, nothing that needs AVX, AVX-512, BMI or POPCNT is outside the files of the ISAs. And none of them uses
# FMA, which would round once where twice is right.
# usage: no_isa_leak.sh LIBRARY.a
set -euo pipefail

objdump -d --no-show-raw-insn "$1" | awk '
  /^[^ ]+\.o: / {file = $1; kernels = file ~ /^(avx|sve|neon)/; next}
  /^[0-9a-f]+ </ {name = $2; next}
  /^ / {
    if (!kernels && ($0 ~ /%[yz]mm|%k[0-7]/ || $2 ~ /^(v[a-z]+.*|shlx|shrx|sarx|rorx|mulx|andn|bextr|blsi|blsr|blsmsk|pdep|pext|popcnt)$/)) {print "leak: " file " " name " " $0; bad = 1}
    if ($2 ~ /^vf(n?m(add|sub))/) {print "FMA: " file " " name " " $0; bad = 1}
    if (kernels) vectors += $0 ~ /%[yz]mm/
  }
  END {
    if (!vectors) {print "no ISA in the library: nothing was tested"; exit 1}
    if (!bad) print vectors " instructions on wide registers, all in the files of the ISAs"
    exit bad
  }'
