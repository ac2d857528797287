#!/usr/bin/env bash
# Without /proc, without /sys, or with an empty /proc/cpuinfo, as in some containers, dql sees the same CPU features,
# picks the same ISA, and says nothing on stderr.
# usage: hidden_proc.sh DQL, which may have an emulator before it
set -euo pipefail
dql=("$@")

if ! unshare --mount true 2>/dev/null; then
  echo "skipped: hidden_proc: unshare --mount is not permitted"
  exit 77
fi

info() {
  unshare --mount bash -c "$1; exec \"\$@\"" hidden "${dql[@]}" info 2>&1 | grep -v '^cpu '
}

expected=$(info :)
empty=$(mktemp)
trap 'rm -f "$empty"' EXIT
for hide in "mount --bind '$empty' /proc/cpuinfo" 'mount -t tmpfs none /proc' 'mount -t tmpfs none /sys' \
  'mount -t tmpfs none /sys; mount -t tmpfs none /proc'; do
  if ! got=$(info "$hide") || [ "$got" != "$expected" ]; then
    printf 'after %s:\n%s\n\nexpected:\n%s\n' "$hide" "$got" "$expected"
    exit 1
  fi
done
