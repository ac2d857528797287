# cpuinfo tells dispatch what the CPU can do. It knows x86 and Arm; elsewhere, and without it, dispatch asks the compiler
# and the OS. (Debian's CMake package of cpuinfo names files that do not exist, hence find_library.)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|i.86|aarch64|arm64|arm.*)$")
  set(DQL_CPUINFO_DEFAULT ON)
else()
  set(DQL_CPUINFO_DEFAULT OFF)
endif()
option(DQL_CPUINFO "Ask cpuinfo for CPU features" ${DQL_CPUINFO_DEFAULT})

if(DQL_CPUINFO)
  find_path(DQL_CPUINFO_INCLUDE_DIR cpuinfo.h)
  find_library(DQL_CPUINFO_LIBRARY NAMES cpuinfo libcpuinfo.so.0)
  if(NOT DQL_CPUINFO_INCLUDE_DIR OR NOT DQL_CPUINFO_LIBRARY)
    message(FATAL_ERROR "cpuinfo is missing (Debian: libcpuinfo-dev). -DDQL_CPUINFO=OFF builds without it.")
  endif()
endif()

# dql_link_cpuinfo(TARGET SCOPE): links it, if it is used.
function(dql_link_cpuinfo target scope)
  if(DQL_CPUINFO)
    target_link_libraries(${target} ${scope} $<BUILD_INTERFACE:${DQL_CPUINFO_LIBRARY}>)
  endif()
endfunction()
