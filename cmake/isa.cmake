set(DQL_ISAS all CACHE STRING
  "ISAs to build beside scalar, such as avx2;neon (those of other architectures are ignored), or all that the compiler can")

file(READ ${CMAKE_CURRENT_LIST_DIR}/../include/dql/dql.h header)
if(NOT DQL_ISAS STREQUAL "all")
  foreach(isa IN LISTS DQL_ISAS)
    string(TOUPPER "${isa}" upper)
    if(NOT isa MATCHES "^[a-z0-9]+$" OR isa STREQUAL "auto" OR NOT header MATCHES " DQL_ISA_${upper}[, \n]")
      message(FATAL_ERROR "DQL_ISAS: there is no ISA ${isa}")
    endif()
  endforeach()
endif()

# What avx512bf16 lacks is avx512vbmi's.
if("avx512bf16" IN_LIST DQL_ISAS)
  list(APPEND DQL_ISAS avx512vbmi)
endif()

# gcc for Windows aligns the stack to 16 bytes, and yet, unless its distributor has mended that, takes vectors on it for aligned
# (https://gcc.gnu.org/PR54412). The assembler can make their moves unaligned ones, which cost nothing.
include(CheckCCompilerFlag)
set(dql_moves "")
if(WIN32 AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  check_c_compiler_flag(-Wa,-muse-unaligned-vector-move DQL_ASSEMBLER_HAS_UNALIGNED_MOVES)
  if(DQL_ASSEMBLER_HAS_UNALIGNED_MOVES)
    set(dql_moves -Wa,-muse-unaligned-vector-move)
  endif()
endif()

# dql_add_isa(NAME SOURCE FLAGS [INSTRUCTION]): adds an ISA's file, compiled with its flags, and tells dispatch that it is
# there; unless the compiler does not take the flags, or its assembler the instruction. No flag of an ISA reaches any other
# file.
include(CheckCSourceCompiles)

function(dql_add_isa name source flags)
  string(TOUPPER ${name} upper)
  if(NOT name STREQUAL "scalar" AND NOT DQL_ISAS STREQUAL "all" AND NOT name IN_LIST DQL_ISAS)
    return()
  endif()
  if(flags)
    string(REPLACE ";" " " joined "${flags}")
    set(CMAKE_REQUIRED_FLAGS ${joined})
    check_c_source_compiles("int main(void) {__asm__ volatile(\"${ARGN}\"); return 0;}" DQL_COMPILER_HAS_${upper})
    set(problem "the compiler or its assembler does not take ${joined}")
    if(NOT DQL_COMPILER_HAS_${upper} AND NOT DQL_ISAS STREQUAL "all")
      message(FATAL_ERROR "DQL_ISAS: ${problem}, which ${name} needs")
    elseif(NOT DQL_COMPILER_HAS_${upper})
      message(STATUS "ISA ${name} is left out: ${problem}")
      return()
    endif()
  endif()
  # All code of an ISA is inlined into its kernels: without optimisation that takes minutes and gigabytes to compile.
  # Vectors are written by hand, link-time optimisation would mix the flags of files, and the vendor's intrinsics are macros
  # with conversions of their own where nothing is optimised. With -fexpensive-optimizations gcc puts VZEROUPPER where it
  # belongs at -O1 too.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
    "${flags};${dql_moves};${dql_least_optimisation};$<$<C_COMPILER_ID:GNU>:-fexpensive-optimizations>;-fno-tree-vectorize;-fno-lto;-falign-loops=64;-Wno-sign-conversion")
  target_sources(dql_objects PRIVATE ${source})
  target_compile_definitions(dql_objects PRIVATE DQL_HAVE_${upper})
endfunction()
