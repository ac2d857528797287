#!/usr/bin/env bash
# In a setuid program DQL_ISA is ignored: whoever starts it doesn't choose the code that runs with another's rights.
# usage: setuid.sh DQL
set -euo pipefail
dql=$1

skip() {
  echo "skipped: setuid: $1"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "only root can make a program that is another user's"
command -v setpriv >/dev/null || skip "setpriv is not there"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
[[ ,$(findmnt -n -o OPTIONS -T "$folder"), != *,nosuid,* ]] || skip "$folder is on a file system without setuid"
grep -q '^NoNewPrivs:[[:space:]]*0' /proc/self/status || skip "this process may start no setuid programs"

# active PROGRAM: the ISA that is active in it when nobody in particular starts it and wishes for scalar.
active() {
  setpriv --reuid 65534 --regid 65534 --clear-groups env DQL_ISA=scalar "$1" info | awk '$4 == "yes" {print $1}'
}

usual=$(env -u DQL_ISA "$dql" info | awk '$4 == "yes" {print $1}')
[ "$usual" != scalar ] || skip "scalar is the usual ISA here"
install -m 755 "$dql" "$folder/plain"
install -m 4755 "$dql" "$folder/setuid"
[ "$(active "$folder/plain")" = scalar ] || { echo "DQL_ISA does not count in an ordinary program"; exit 1; }
[ "$(active "$folder/setuid")" = "$usual" ] || { echo "DQL_ISA counts in a setuid program"; exit 1; }
