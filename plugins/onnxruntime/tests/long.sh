# Sourced by test.sh: what takes minutes, and downloads more.
# shellcheck shell=bash disable=SC2154

# shellcheck source=plugins/onnxruntime/tests/network.sh
source "$here/network.sh"
get_network
work=$root/build/onnxruntime
npm_library=$network_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1

for version in $newest $oldest; do
  check "the network, Python's onnxruntime $version" \
    "$(python_of $version)" "$here/test_plugin.py" module "$plugin" "$network_models"
done
check "npm's onnxruntime-node" /usr/bin/python3 "$here/test_plugin.py" "$npm_library" "$plugin" "$network_models"
check "the example in C, npm's onnxruntime-node" bash "$here/example.sh" c "$npm_library" "$work/c-npm" "$plugin"
check "libonnxruntime.so $oldest by its C API" /usr/bin/python3 "$here/test_plugin.py" "$(library_of $oldest)" "$plugin"

too_old=1.23.2
environment $too_old coloredlogs==15.0.1 humanfriendly==10.0 mpmath==1.3.0 sympy==1.14.0
check "onnxruntime $too_old is refused" /usr/bin/python3 "$here/refused.py" "$(library_of $too_old)" "$plugin"

# The sanitizer's runtime has to be in the process before anything else; what Python leaves behind is not our concern.
install_packages clang-19 libclang-rt-19-dev llvm-19
build_target asan-ubsan dql_onnxruntime -DDQL_ONNXRUNTIME=ON
sanitized=$root/build/asan-ubsan/plugins/onnxruntime/libdql_onnxruntime.so
check "AddressSanitizer" env ASAN_OPTIONS=detect_leaks=0 \
  LD_PRELOAD="$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so)" \
  "$(python_of $newest)" "$here/test_plugin.py" module "$sanitized"

windows=$network_modules/onnxruntime-node/bin/napi-v6/win32/x64
install_packages gcc-mingw-w64-x86-64-posix wine64
check "Windows: mingw-w64 and wine" bash "$here/windows.sh" "$windows" "$work/windows"
