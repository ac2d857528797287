#!/usr/bin/env bash
# A cpuinfo of another version, as an engine in the same process may bring it, makes no difference that could crash: one
# whose every bit says yes, on a CPU without AVX.
# usage: other_cpuinfo.sh DQL COMPILER
set -euo pipefail
dql=$1 compiler=$2

if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: other_cpuinfo: no qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$compiler" -shared -fPIC -x c - -o "$scratch/cpuinfo.so" <<'END'
#include <stdint.h>
#include <string.h>
char cpuinfo_isa[4096];
_Bool cpuinfo_initialize(void) {
    memset(cpuinfo_isa, 1, sizeof cpuinfo_isa);
    return 1;
}
uint32_t cpuinfo_get_l3_caches_count(void) { return 0; }
uint32_t cpuinfo_get_l2_caches_count(void) { return 0; }
uint32_t cpuinfo_get_packages_count(void) { return 0; }
END
features() {
  timeout 60 qemu-x86_64 -cpu Nehalem -E LD_PRELOAD="$1" "$dql" info 2>/dev/null | grep -E '^features|yes$'
}
[ "$(features "$scratch/cpuinfo.so")" = "$(features '')" ] || {
  echo "with another cpuinfo: $(features "$scratch/cpuinfo.so")"
  exit 1
}
