# DQL_VERSION: what the header says.
set(header ${CMAKE_CURRENT_LIST_DIR}/../include/dql/dql.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(READ ${header} text)
string(REGEX MATCH "#define DQL_VERSION_MAJOR ([0-9]+)[^\n]*\n#define DQL_VERSION_MINOR ([0-9]+)[^\n]*\n#define DQL_VERSION_PATCH ([0-9]+)"
  found "${text}")
set(DQL_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
