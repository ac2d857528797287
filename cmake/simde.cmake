# SIMDe compiles the kernels of NEON for other CPUs: for those that have none of their own, and, in tests, natively.
option(DQL_SIMDE "Build NEON's kernels through SIMDe" OFF)

if(DQL_SIMDE)
  find_path(DQL_SIMDE_INCLUDE_DIR simde/arm/neon.h)
  if(NOT DQL_SIMDE_INCLUDE_DIR)
    message(STATUS "ISA simde is left out: SIMDe is missing (Debian: libsimde-dev)")
    set(DQL_SIMDE OFF)
  endif()
endif()
