# Toolchain file: cross-compiles for DQL_CROSS with Debian's <DQL_CROSS>-linux-gnu-gcc, or the clang DQL_CROSS_CLANG, against
# its multiarch libraries, and runs programs under qemu (set QEMU_CPU in the environment to choose a CPU).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${DQL_CROSS})
set(CMAKE_LIBRARY_ARCHITECTURE ${DQL_CROSS}-linux-gnu)
if(DQL_CROSS_CLANG)
  set(CMAKE_C_COMPILER ${DQL_CROSS_CLANG})
  set(CMAKE_C_COMPILER_TARGET ${DQL_CROSS}-linux-gnu)
else()
  set(CMAKE_C_COMPILER ${DQL_CROSS}-linux-gnu-gcc)
endif()
string(REPLACE powerpc ppc qemu qemu-${DQL_CROSS})
set(CMAKE_CROSSCOMPILING_EMULATOR timeout 600 ${qemu})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DQL_CROSS DQL_CROSS_CLANG)
