# Sourced by the other scripts: where the project is, what it needs, how it is built; and what they say for --help, which
# is the comment that each begins with.
set -euo pipefail

script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
explain() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"; }

# wrong_usage: for arguments that a script doesn't take.
wrong_usage() {
  explain >&2
  exit 2
}

case "${1:-}" in
-h | --help)
  explain
  exit
  ;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "$0: $*" >&2
  exit 1
}

packages=(gcc g++ libc6-dev cmake ninja-build pkg-config python3
  libcpuinfo-dev libcmocka-dev libprotobuf-c-dev protobuf-c-compiler libonnx-dev)

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# needs_root COMMAND...: that as_root will work; asks for a password now, if sudo wants one.
needs_root() {
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null || fail "this takes root or sudo, and here is neither: $*"
  sudo true || fail "this takes root, and sudo doesn't give it: $*"
}

is_installed() {
  dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@"
}

# three_times COMMAND...: until it succeeds, since a mirror may be in the middle of a sync.
three_times() {
  local try
  for try in 1 2 3; do
    "$@" && return
    [ $try = 3 ] || sleep $((try * 5))
  done
  return 1
}

# install_packages [-o OPTION]... PACKAGE...: what is missing of them, from the distribution.
install_packages() {
  local options=() missing=()
  while [ "$1" = -o ]; do
    options+=(-o "$2")
    shift 2
  done
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here: assuming that what matches these Debian packages is there: $*"
    return
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  needs_root apt-get install "${missing[@]}"
  say "Installing ${missing[*]}"
  # One list of one architecture may be broken for days, and every package still be installed from the others.
  three_times apt_get update || say "Not all package lists could be updated: going on with those that are here"
  three_times apt_get "${options[@]}" install -y --no-install-recommends "${missing[@]}"
}

# python_environment NAME PACKAGE...: build/python/NAME, a virtual environment of the distribution's Python with these
# packages from PyPI.
python_environment() {
  local folder=build/python/$1 python=python3
  shift
  install_packages python3 python3-venv
  [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
  [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# add_architectures NAME...: whose packages can then be installed beside the machine's own.
add_architectures() {
  local name
  command -v dpkg >/dev/null || return 0
  for name; do
    if ! dpkg --print-foreign-architectures | grep -qx "$name"; then
      needs_root dpkg --add-architecture "$name"
      as_root dpkg --add-architecture "$name"
    fi
  done
}

# commit: which one the sources are, for what is measured of them.
commit() { git describe --always --dirty 2>/dev/null || echo "none: not a git checkout"; }

# build PRESET [OPTION...]: configure and build in build/PRESET.
build() {
  build_target "$1" all "${@:2}"
}

# build_target PRESET TARGET [OPTION...]: the same for one target.
build_target() {
  local preset=$1 target=$2
  shift 2
  say "Building build/$preset"
  cmake --preset "$preset" "$@" >"build/$preset.log" 2>&1 || { cat "build/$preset.log" >&2; return 1; }
  # The preset's compiler has changed: CMake then drops its flags, and a sanitizer with them.
  if grep -q 'require your cache to be deleted' "build/$preset.log"; then
    rm -rf "build/${preset:?}"
    build_target "$preset" "$target" "$@"
    return
  fi
  grep -E 'ISA .* is left out' "build/$preset.log" || true
  cmake --build "build/$preset" --target "$target"
}
mkdir -p build
