#!/usr/bin/env bash
# Doxygen makes the API reference without a warning, and it has every function of the header.
# usage: doxygen.sh SOURCE_DIR SCRATCH_DIR
set -euo pipefail
source=$1 scratch=$2

if ! command -v doxygen >/dev/null; then
  echo "skipped: doxygen: no doxygen (Debian: doxygen)"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$source"
status=0
warnings=$(cat Doxyfile <(echo "OUTPUT_DIRECTORY = $scratch") | doxygen - 2>&1) || status=$?
if [ -n "$warnings" ] || [ $status != 0 ]; then
  echo "$warnings"
  exit 1
fi
for function in $(grep -oE '\bdql_[a-z_]+\(' include/dql/dql.h | tr -d '(' | sort -u); do
  grep -q ">$function<" "$scratch/html/dql_8h.html" || { echo "no $function in the reference"; exit 1; }
done
