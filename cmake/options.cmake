# What all C of this project is compiled with.

# dql_float_options(VARIABLE): floating point as IEEE 754 and C have it, whatever a parent project asks for: a product is
# rounded before it is added to, a NaN is not equal to itself, -0 is not 0.
function(dql_float_options variable)
  # -ffp-contract comes first, since clang 14 warns where it overrides.
  set(options -ffp-contract=off -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fno-associative-math
    -fno-reciprocal-math -fsigned-zeros)
  # Without this gcc takes -a * b for -(a * b), which other rounding modes than the default one tell apart. clang 14 warns of
  # the option where it can't follow it, and passes the tests of these modes without.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND options -frounding-math)
  endif()
  # The x87 unit has no float32 operations.
  if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|x86|i.86)$")
    list(APPEND options -msse2 -mfpmath=sse)
  endif()
  set(${variable} ${options} PARENT_SCOPE)
endfunction()

function(dql_options target)
  dql_float_options(float_options)
  # Unity builds would mix what files define for themselves.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
  target_compile_options(${target} PRIVATE ${float_options} -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${DQL_WERROR}>:-Werror>)
endfunction()

# ---- optimisation ----

set(DQL_OPTIMISATION -O2 CACHE STRING
  "How the library is optimised, whatever its project does, unless it is debugged or instrumented. Empty: as the project")

# dql_flags_of(VARIABLE CONFIGURATION): those of the project.
function(dql_flags_of variable configuration)
  string(TOUPPER "${configuration}" upper)
  get_directory_property(options COMPILE_OPTIONS)
  set(${variable} "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${upper}} ${options}" PARENT_SCOPE)
endfunction()

# dql_optimise(TARGET): what is shipped is what is measured, however the project is optimised. In configurations that are
# debugged, and with sanitizers or counters of coverage, the library is compiled as the project says, and has its asserts.
# Sets dql_least_optimisation to the options of files that can't be without: those of configurations that have none.
function(dql_optimise target)
  set(configurations ${CMAKE_CONFIGURATION_TYPES})
  if(NOT configurations)
    set(configurations "${CMAKE_BUILD_TYPE}")
  endif()
  set(least)
  foreach(configuration IN LISTS configurations)
    dql_flags_of(flags "${configuration}")
    set(only $<CONFIG:${configuration}>)
    if(DQL_OPTIMISATION AND NOT configuration STREQUAL "Debug" AND NOT flags MATCHES "-fsanitize|-coverage|-fprofile-arcs")
      target_compile_options(${target} PRIVATE $<${only}:${DQL_OPTIMISATION}> $<${only}:-DNDEBUG>)
    elseif(NOT flags MATCHES "-O([1-9gsz]|fast)")
      list(APPEND least $<${only}:-O1>)
    endif()
  endforeach()
  set(dql_least_optimisation ${least} PARENT_SCOPE)
endfunction()

# dql_link_options(TARGET): for the shared library.
function(dql_link_options target)
  # gcc 12 makes a library that is linked with -ffast-math or its like flush subnormals in every program that loads it.
  target_link_options(${target} PRIVATE -fno-fast-math -fno-unsafe-math-optimizations)
  dql_flags_of(flags "${CMAKE_BUILD_TYPE}")
  if(flags MATCHES "-Ofast")
    target_link_options(${target} PRIVATE -O3)
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux") # tables of pointers are read-only once it is loaded
    target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now)
  endif()
endfunction()
