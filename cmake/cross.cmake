# Toolchain file: cross-compiles for DQL_CROSS with Debian's <DQL_CROSS>-linux-gnu-gcc against its multiarch libraries, and
# runs programs under qemu (set QEMU_CPU in the environment to choose a CPU).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${DQL_CROSS})
set(CMAKE_LIBRARY_ARCHITECTURE ${DQL_CROSS}-linux-gnu)
set(CMAKE_C_COMPILER ${DQL_CROSS}-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR timeout 600 qemu-${DQL_CROSS})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DQL_CROSS)
