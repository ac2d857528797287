/* A look at a protobuf message before protobuf-c unpacks it. */
#ifndef TOOLS_WIRE_H
#define TOOLS_WIRE_H

#include "file.h"
#include <protobuf-c/protobuf-c.h>

/* protobuf-c trusts its input in four ways, so this makes sure of them: messages nest at most 100 deep (it recurses;
 * 100 is protobuf's own limit); unpacking takes no more memory than a file of that size can need; no message that may
 * appear once appears twice (it merges them in quadratic time); strings are UTF-8 without NUL (it makes C strings of
 * them). */
bool check_wire(const ProtobufCMessageDescriptor *type, bytes message, const char *file, problem *why);

#endif
