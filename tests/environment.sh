#!/usr/bin/env bash
# DQL_ISA: names an available ISA, which is then active; or is ignored.
# usage: environment.sh DQL
set -euo pipefail
dql=$1

# active [VARIABLE=VALUE]...: the ISA that `dql info` says is active.
active() {
  env -u DQL_ISA "$@" "$dql" info | awk '$4 == "yes" {print $1}'
}

usual=$(active)
[ -n "$usual" ]
$dql info | awk '/^isa/ {table = 1; next} table {print $1, $3}' | while read -r isa available; do
  expected=$([ "$available" = yes ] && echo "$isa" || echo "$usual")
  [ "$(active DQL_ISA="$isa")" = "$expected" ] || { echo "DQL_ISA=$isa: not $expected"; exit 1; }
done
for nonsense in '' auto SCALAR 'scalar ' avx1024; do
  [ "$(active DQL_ISA="$nonsense")" = "$usual" ] || { echo "DQL_ISA='$nonsense' is not ignored"; exit 1; }
done
