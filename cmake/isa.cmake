# The ISAs of this build: the rows of src/isas.def that are wanted, that the machine may have, and that the compiler can build.
set(DQL_ISAS all CACHE STRING
  "ISAs to build beside scalar, such as avx2;neon (those of other architectures are ignored), or all that the compiler can")

set(dql_isas_def ${PROJECT_SOURCE_DIR}/src/isas.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dql_isas_def})
file(STRINGS ${dql_isas_def} dql_rows)
list(JOIN dql_rows " " dql_rows)
string(REGEX MATCHALL "ISA\\([A-Z0-9]+, [^)]*\\)" dql_rows "${dql_rows}")

# dql_read_isa(ROW): sets isa_id, isa_name, isa_source, isa_family, isa_needs (a list), isa_fallback and isa_instruction.
macro(dql_read_isa row)
  string(REGEX MATCH "^ISA\\(([A-Z0-9]+), ([a-z0-9]+), ([^,]+), ([a-z0-9_]+), +([^,]+), ([a-z0-9]+), +\"(.*)\"\\)$" match "${row}")
  if(NOT match)
    message(FATAL_ERROR "src/isas.def: this is no row: ${row}")
  endif()
  set(isa_id ${CMAKE_MATCH_1})
  set(isa_name ${CMAKE_MATCH_2})
  set(isa_source src/${CMAKE_MATCH_3})
  set(isa_family ${CMAKE_MATCH_4})
  set(isa_needs ${CMAKE_MATCH_5})
  set(isa_fallback ${CMAKE_MATCH_6})
  set(isa_instruction "${CMAKE_MATCH_7}")
  string(REGEX MATCHALL "[A-Z0-9]+" isa_needs "${isa_needs}")
endmacro()

# ---- what is wanted ----

set(dql_isa_names)
set(dql_fallbacks)
foreach(row IN LISTS dql_rows)
  dql_read_isa("${row}")
  list(APPEND dql_isa_names ${isa_name})
  if(isa_name IN_LIST DQL_ISAS AND NOT isa_fallback STREQUAL "none")
    list(APPEND dql_fallbacks ${isa_fallback})
  endif()
endforeach()
if(NOT DQL_ISAS STREQUAL "all")
  foreach(isa IN LISTS DQL_ISAS)
    if(NOT isa IN_LIST dql_isa_names)
      list(JOIN dql_isa_names ", " known)
      message(FATAL_ERROR "DQL_ISAS: there is no ISA ${isa}; there are ${known}")
    endif()
  endforeach()
endif()
set(dql_wanted_isas scalar ${DQL_ISAS} ${dql_fallbacks})

# ---- what is possible ----

set(dql_families any)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND dql_families x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$" AND CMAKE_C_BYTE_ORDER STREQUAL LITTLE_ENDIAN)
  list(APPEND dql_families arm64)
endif()
if(DQL_SIMDE)
  list(APPEND dql_families simde)
endif()

# dql_isa_flags(VARIABLE): those that give the compiler what the ISA that was read needs.
function(dql_isa_flags variable)
  set(flags)
  string(TOLOWER "${isa_needs}" needs)
  if(isa_family STREQUAL "x86_64")
    list(TRANSFORM needs PREPEND -m OUTPUT_VARIABLE flags)
  elseif(isa_family STREQUAL "arm64")
    list(REMOVE_ITEM needs neon) # every AArch64 has it
    list(TRANSFORM needs PREPEND +)
    list(JOIN needs "" extensions)
    set(flags ${extensions})
    list(TRANSFORM flags PREPEND -march=armv8-a)
  elseif(isa_family STREQUAL "simde")
    set(flags -isystem ${CMAKE_CURRENT_BINARY_DIR}/simde -Wno-pass-failed)
  endif()
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

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

# dql_add_isa(): adds the file of the ISA that was read, compiled with its flags, and tells dispatch that it is there; unless the
# compiler does not take the flags, or its assembler the instruction. No flag of an ISA reaches any other file.
include(CheckCSourceCompiles)

function(dql_add_isa)
  dql_isa_flags(flags)
  if(isa_instruction)
    list(JOIN flags " " joined)
    set(CMAKE_REQUIRED_FLAGS ${joined})
    check_c_source_compiles("int main(void) {__asm__ volatile(\"${isa_instruction}\"); return 0;}" DQL_COMPILER_HAS_${isa_id})
    set(problem "the compiler or its assembler does not take ${joined}")
    if(NOT DQL_COMPILER_HAS_${isa_id} AND NOT DQL_ISAS STREQUAL "all")
      message(FATAL_ERROR "DQL_ISAS: ${problem}, which ${isa_name} needs")
    elseif(NOT DQL_COMPILER_HAS_${isa_id})
      message(STATUS "ISA ${isa_name} is left out: ${problem}")
      return()
    endif()
  endif()
  # All code of an ISA is inlined into its kernels: without optimisation that takes minutes and gigabytes to compile.
  # Vectors are written by hand, link-time optimisation would mix the flags of files, and the vendor's intrinsics are macros
  # with conversions of their own where nothing is optimised. With -fexpensive-optimizations gcc puts VZEROUPPER where it
  # belongs at -O1 too.
  set_source_files_properties(${isa_source} PROPERTIES COMPILE_OPTIONS
    "${flags};${dql_moves};${dql_least_optimisation};$<$<C_COMPILER_ID:GNU>:-fexpensive-optimizations>;-fno-tree-vectorize;-fno-lto;-falign-loops=64;-Wno-sign-conversion")
  target_sources(dql_objects PRIVATE ${isa_source})
  target_compile_definitions(dql_objects PRIVATE DQL_HAVE_${isa_id})
  set(dql_flags_of_${isa_name} ${flags} PARENT_SCOPE)
  list(APPEND dql_built_isas ${isa_name})
  set(dql_built_isas ${dql_built_isas} PARENT_SCOPE)
endfunction()

set(dql_built_isas)
foreach(row IN LISTS dql_rows)
  dql_read_isa("${row}")
  if(isa_family IN_LIST dql_families AND (DQL_ISAS STREQUAL "all" OR isa_name IN_LIST dql_wanted_isas))
    dql_add_isa()
  endif()
endforeach()
