#!/usr/bin/env bash
# The man page is sound, and has a section for each command that `dql --help` names and no other.
# usage: man.sh PAGE DQL
set -euo pipefail
page=$1 dql=$2

said=$("$dql" --help | sed -n 's/^\(usage:\|      \) dql \([a-z]*\).*/\2/p' | sort)
[ -n "$said" ]
diff <(echo "$said" | grep .) <(sed -n 's/^\.SS \([a-z]*\).*/\1/p' "$page" | sort)

if ! command -v mandoc >/dev/null; then
  echo "skipped: man: no mandoc (Debian: mandoc)"
  exit 77
fi
mandoc -T lint -W warning "$page"
