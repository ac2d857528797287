#!/usr/bin/env bash
# Every script of scripts/ explains itself, to the screen and with status 0, and refuses an option that it doesn't have, with
# status 2: at once, and without touching anything. One that has to install something says so where it can't.
# usage: scripts.sh SOURCE_DIR
set -euo pipefail
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*"
  cat "$scratch/out" "$scratch/err"
  exit 1
}

# expect STATUS COMMAND...: its output is in out and err.
expect() {
  local expected=$1 status=0
  shift
  timeout 120 "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [ $status = "$expected" ] || fail "$*: status $status instead of $expected"
}

for script in scripts/*; do
  [ -x "$script" ] || continue
  if head -n 1 "$script" | grep -q python && ! command -v python3 >/dev/null; then
    echo "skipped: $script: no python3"
    continue
  fi
  for help in --help -h; do
    expect 0 "$script" $help
    [ -s "$scratch/out" ] && ! [ -s "$scratch/err" ] || fail "$script $help: no help, or messages beside it"
  done
  expect 2 "$script" --nonsense
  [ -s "$scratch/err" ] && ! [ -s "$scratch/out" ] || fail "$script --nonsense: not explained on stderr"
done
# From elsewhere, too.
(cd / && expect 0 "$OLDPWD/scripts/run" --help) || exit 1

# Without root and sudo, on a machine that lacks a package; both are played. Nothing may be tried first.
mkdir "$scratch/bin"
for tool in bash env cat dirname basename sed mkdir grep id dpkg-query apt-get sudo; do
  ln -s "$(command -v $tool || command -v false)" "$scratch/bin/$tool"
done
play() {
  rm "$scratch/bin/$1"
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
play id 'echo 1000'
play dpkg-query 'exit 1'
play apt-get "echo called >$scratch/called"
play sudo 'exit 1'
for sudo in fails missing; do
  [ $sudo = fails ] || rm "$scratch/bin/sudo"
  expect 1 env PATH="$scratch/bin" bash scripts/run
  grep -q "this takes root.*apt-get install gcc g++" "$scratch/err" || fail "scripts/run without root, sudo $sudo: does not say so"
  ! [ -e "$scratch/called" ] || fail "scripts/run without root, sudo $sudo: tries apt-get"
done
