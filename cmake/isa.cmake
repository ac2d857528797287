# dql_add_isa(NAME SOURCE FLAGS): adds an ISA's file, compiled with its flags, and tells dispatch that it is there.
# No flag of an ISA reaches any other file.
include(CheckCCompilerFlag)

function(dql_add_isa name source flags)
  string(TOUPPER ${name} upper)
  if(flags)
    string(REPLACE ";" " " joined "${flags}")
    check_c_compiler_flag("${joined}" DQL_COMPILER_HAS_${upper})
    if(NOT DQL_COMPILER_HAS_${upper})
      message(STATUS "ISA ${name} is left out: the compiler does not take ${joined}")
      return()
    endif()
  endif()
  # Vectors are written by hand, link-time optimisation would mix the flags of files, and the vendor's intrinsics are macros
  # with conversions of their own where nothing is optimised.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
    "${flags};-fno-tree-vectorize;-fno-lto;-falign-loops=64;-Wno-sign-conversion")
  target_sources(dql_objects PRIVATE ${source})
  target_compile_definitions(dql_objects PRIVATE DQL_HAVE_${upper})
endfunction()
