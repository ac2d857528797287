# The library of both kinds, where the platform has both: dql_static and dql_shared. dql is the one that BUILD_SHARED_LIBS asks
# for; inside another project that is the only one built.
get_property(has_shared GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
set(DQL_KINDS static)
if(has_shared)
  list(APPEND DQL_KINDS shared)
  target_compile_definitions(dql_objects PRIVATE DQL_SHARED)
endif()
set(dql_kind static)
if(BUILD_SHARED_LIBS AND has_shared)
  set(dql_kind shared)
endif()

foreach(kind IN LISTS DQL_KINDS)
  string(TOUPPER ${kind} upper)
  add_library(dql_${kind} ${upper} $<TARGET_OBJECTS:dql_objects>)
  target_include_directories(dql_${kind} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(dql_${kind} PRIVATE $<BUILD_INTERFACE:dql_cpuinfo>)
  # Before 1.0 a minor version may change the ABI.
  set_target_properties(dql_${kind} PROPERTIES OUTPUT_NAME dql EXPORT_NAME dql
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(NOT DQL_INSTALL AND NOT kind STREQUAL dql_kind)
    set_target_properties(dql_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
if(DQL_CPUINFO)
  target_link_libraries(dql_static PRIVATE $<INSTALL_INTERFACE:dql::cpuinfo>)
endif()
if(has_shared)
  target_compile_definitions(dql_shared INTERFACE DQL_SHARED)
  dql_link_options(dql_shared)
  if(UNIX AND NOT APPLE)
    # dlclose leaves it where it is: plans have its addresses, and cpuinfo, if it went too, would allocate anew each time.
    target_link_options(dql_shared PRIVATE LINKER:-z,nodelete)
  endif()
endif()

add_library(dql ALIAS dql_${dql_kind})
add_library(dql::dql ALIAS dql_${dql_kind})
