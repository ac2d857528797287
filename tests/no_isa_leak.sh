#!/usr/bin/env bash
# In the static library, nothing that needs AVX, AVX-512, BMI, POPCNT or SVE is outside the files of the ISAs. And none of them
# uses FMA, which would round once where twice is right.
# usage: no_isa_leak.sh OBJDUMP LIBRARY.a
set -euo pipefail

"$1" -d --no-show-raw-insn "$2" | awk '
  /^[^ ]+\.o: / {file = $1; kernels = file ~ /^(avx|sve|neon)/; next}
  /^[0-9a-f]+ </ {name = $2; next}
  /^ / {
    wide = $0 ~ /%[yz]mm|[ \t{]z[0-9]+\.[bhsdq]/
    other = $0 ~ /%k[0-7]|[ \t]p[0-9]+(\.[bhsd]|\/)/ || \
      $2 ~ /^(v[a-z]+.*|shlx|shrx|sarx|rorx|mulx|andn|bextr|blsi|blsr|blsmsk|pdep|pext|popcnt|rdvl|addvl|cnt[bhwd]|inc[bhwd])$/
    if (!kernels && (wide || other)) {print "leak: " file " " name " " $0; bad = 1}
    if ($2 ~ /^(vfn?m(add|sub)|fn?m(la|ls|ad|sb|add|sub)$)/) {print "FMA: " file " " name " " $0; bad = 1}
    if (kernels) vectors += wide
  }
  END {
    if (!vectors) {print "no ISA in the library: nothing was tested"; exit 1}
    if (!bad) print vectors " instructions on wide registers, all in the files of the ISAs"
    exit bad
  }'
