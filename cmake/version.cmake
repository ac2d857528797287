# DQL_VERSION: what the header says.
set(header ${CMAKE_CURRENT_LIST_DIR}/../include/dql/dql.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(STRINGS ${header} lines REGEX "^#define DQL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+$")
string(REGEX REPLACE "#define DQL_VERSION_[A-Z]+ +" "" lines "${lines}")
list(JOIN lines "." DQL_VERSION)
