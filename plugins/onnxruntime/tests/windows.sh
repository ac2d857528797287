#!/usr/bin/env bash
# The plug-in for Windows, built with mingw-w64, in ONNX Runtime's library for Windows under wine: the example in C of
# docs/onnxruntime.md, whose paths are wide there.
# usage: windows.sh FOLDER_OF_ONNXRUNTIME.DLL SCRATCH_FOLDER
set -euo pipefail
runtime=$1 folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)

cmake -S "$root" -B "$folder/build" -G Ninja -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
  -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc-posix -DCMAKE_BUILD_TYPE=Release -DDQL_TESTS=OFF -DDQL_TOOLS=OFF \
  -DDQL_CPUINFO=OFF -DDQL_ONNXRUNTIME=ON -DDQL_WERROR=ON >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
cmake --build "$folder/build" --target dql_onnxruntime
cd "$folder"
cp build/plugins/onnxruntime/libdql_onnxruntime.dll .
ln -sf "$runtime"/*.dll .
python3 "$here/example_model.py" model.onnx
awk '!found && $0 == "```c" {found = inside = 1; next} $0 == "```" {inside = 0} inside' "$root/docs/onnxruntime.md" |
  sed -e 's/const char \*library/const ORTCHAR_T *library/' -e 's/int main(int argc, char/int wmain(int argc, ORTCHAR_T/' >example.c
x86_64-w64-mingw32-gcc-posix -std=c11 -municode -I"$here/stand_in" example.c -o example.exe onnxruntime.dll

# As in tests/odd_builds.sh: a prefix of links instead of 700 MB of copies.
export WINEPREFIX=$folder/wine_prefix WINEDEBUG=-all
rm -rf "$WINEPREFIX"
mkdir -p "$WINEPREFIX/dosdevices" "$WINEPREFIX/drive_c/windows"
ln -s ../drive_c "$WINEPREFIX/dosdevices/c:"
ln -s / "$WINEPREFIX/dosdevices/z:"
ln -s /usr/lib/x86_64-linux-gnu/wine/x86_64-windows "$WINEPREFIX/drive_c/windows/system32"
echo disable >"$WINEPREFIX/.update-timestamp"
timeout 300 /usr/lib/wine/wine64 example.exe "Z:${folder//\//\\}\\libdql_onnxruntime.dll" model.onnx >out 2>&1 ||
  { tail -n 20 out >&2; exit 1; }
grep -o 'dql [0-9.]* (.*' out
grep '^y begins with' out
