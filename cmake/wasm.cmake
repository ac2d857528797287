# Toolchain file: WebAssembly with 128-bit vectors, by Debian's clang and wasi-libc; programs run in node.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
# GNU's don't know the symbols of WebAssembly; of LLVM's, any version will do.
find_program(CMAKE_AR NAMES llvm-ar-14 llvm-ar-19 llvm-ar)
find_program(CMAKE_RANLIB NAMES llvm-ranlib-14 llvm-ranlib-19 llvm-ranlib)
# (It has no floating-point exceptions to be strict about, and clang says so.)
set(CMAKE_C_FLAGS_INIT "-msimd128 -Wno-unsupported-floating-point-opt")
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set(CMAKE_CROSSCOMPILING_EMULATOR timeout 600 node --no-warnings ${CMAKE_CURRENT_LIST_DIR}/wasm.mjs)
