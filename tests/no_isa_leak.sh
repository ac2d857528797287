#!/usr/bin/env bash
# In the static library, or in a program that is linked with it, nothing that needs AVX, AVX-512, BMI, POPCNT or SVE is
# outside the files of the ISAs. And none of them uses FMA, which would round once where twice is right.
# usage: no_isa_leak.sh LIBRARY.a|PROGRAM [OBJDUMP]
set -euo pipefail
isas=$(sed -nE 's|^ISA\(.*/(\w+)\.c, (x86_64\|arm64),.*|\1|p' "$(dirname "${BASH_SOURCE[0]}")/../src/isas.def")

# The file of each function: in a library that of its member; in a program what the symbol table says of local functions.
{
  readelf -sW "$1"
  "${2:-objdump}" -d --no-show-raw-insn "$1"
} | awk -v isas="$isas" '
  BEGIN {split(isas, names); for (n in names) files[names[n]]}
  function is_isa(name) {sub(/\.c.*/, "", name); return name in files}
  $4 == "FILE" {source = $8; next}
  $4 == "FUNC" && $5 == "LOCAL" {sources[$2] = source; next}
  /^[^ ]+\.o: / {file = $1; kernels = is_isa(file); member = 1; next}
  /^[0-9a-f]+ </ {name = $2; if (!member) {file = sources[$1]; kernels = is_isa(file)}; next}
  /^ / && $1 ~ /^[0-9a-f]+:$/ && $2 !~ /:$/ && $4 !~ /^(FUNC|OBJECT|NOTYPE|SECTION|TLS|GNU_IFUNC)$/ {
    wide = $0 ~ /%[yz]mm|[ \t{]z[0-9]+\.[bhsdq]/
    other = $0 ~ /%k[0-7]|[ \t]p[0-9]+(\.[bhsd]|\/)/ || \
      $2 ~ /^(v[a-z]+.*|shlx|shrx|sarx|rorx|mulx|andn|bextr|blsi|blsr|blsmsk|pdep|pext|popcnt)$/ || \
      $0 !~ /%/ && $2 ~ /^(rdvl|addvl|cnt[bhwd]|inc[bhwd])$/
    if (!kernels && (wide || other)) {print "leak: " file " " name " " $0; bad = 1}
    if ($2 ~ /^(vfn?m(add|sub)|fn?m(la|ls|ad|sb|add|sub)$)/) {print "FMA: " file " " name " " $0; bad = 1}
    if (kernels) vectors += wide
  }
  END {
    if (!vectors) {print "no ISA in the library: nothing was tested"; exit 1}
    if (!bad) print vectors " instructions on wide registers, all in the files of the ISAs"
    exit bad
  }'
