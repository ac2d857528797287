#!/usr/bin/env bash
# The plug-in exports its two entry points and nothing else, needs no library but libc, and stays loaded.
# usage: library.sh LIBDQL_ONNXRUNTIME.so
set -euo pipefail
library=$1

same() {
  [ "$2" = "$3" ] || {
    printf '%s:\n%s\ninstead of:\n%s\n' "$1" "$2" "$3"
    exit 1
  }
}

same "exports" "$(nm -D --defined-only "$library" | awk '{print $NF}' | sort | xargs)" "CreateEpFactories ReleaseEpFactory"
same "needs" "$(objdump -p "$library" | awk '$1 == "NEEDED" {print $2}' | grep -vE '^(libc\.so|ld-linux)' || true)" ""
readelf -dW "$library" | grep -q 'FLAGS_1.*NODELETE' || {
  echo "it does not stay loaded"
  exit 1
}
