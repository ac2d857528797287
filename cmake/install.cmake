# What `cmake --install` puts where: headers, both libraries, and what find_package and pkg-config need.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dql)
foreach(kind IN LISTS DQL_KINDS)
  install(TARGETS dql_${kind} EXPORT dql-${kind}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT dql-${kind} NAMESPACE dql:: DESTINATION ${package_dir})
endforeach()
install(DIRECTORY include/dql TYPE INCLUDE)

configure_package_config_file(cmake/dql-config.cmake.in dql-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dql-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dql-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/dql-config-version.cmake
  DESTINATION ${package_dir})

# dql.pc finds the prefix from its own place, so that it may be installed anywhere.
set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH DQL_PC_PREFIX ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" DQL_PC_PREFIX ${DQL_PC_PREFIX})
file(RELATIVE_PATH DQL_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH DQL_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# Not Requires.private: pkg-config would then ask for cpuinfo's file even where the shared library needs none of it.
if(DQL_CPUINFO)
  set(DQL_PC_PRIVATE -lcpuinfo)
endif()
configure_file(cmake/dql.pc.in dql.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dql.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
