/* Protobuf messages as bytes. */
#ifndef TOOLS_WIRE_H
#define TOOLS_WIRE_H

#include "file.h"
#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a message that somebody else owns. */
typedef struct {
    const uint8_t *data;
    size_t size;
} view;

/* protobuf-c trusts its input in three ways, so this makes sure of them: messages nest at most 100 deep (it recurses;
 * 100 is protobuf's own limit); unpacking takes no more memory than a file of that size can need; no field that may
 * appear once appears twice (it merges messages in quadratic time). Strings may be any bytes: it makes C strings of
 * them, so what may hold a NUL is read by wire_string instead. */
bool check_wire(const ProtobufCMessageDescriptor *type, view message, const char *file, problem *why);

/* The same for a file, which it reads into its window. raw_data of LEAST_UNREAD bytes or more it leaves unread. */
bool check_wire_in(const ProtobufCMessageDescriptor *type, const window *in, problem *why);

/* The memory that a message of this size may take when it is unpacked. */
uint64_t wire_memory(size_t size);

/* A field of a message, as it stands there. */
typedef struct {
    unsigned number, wire_type;
    uint64_t value; /* of a varint, else 0 */
    view whole;     /* all of it */
    view tag;       /* its first bytes */
    view content;   /* its last bytes: what is after the tag and the length */
} wire_field;

/* Takes the first field off a message; false at the end, and at what check_wire would refuse. */
bool wire_next(view *message, wire_field *field);

/* The string that a field of a message holds, of no bytes if there is none. */
view wire_string(view message, unsigned number);

/* Sets *value to the number that a field of a message holds; false if there is none. */
bool wire_number(uint64_t *value, view message, unsigned number);

/* How many fields of this number a message has. */
size_t wire_count(view message, unsigned number);

bool view_equals(view v, const char *text);

/* A string for messages, used as quoted(...).text: its first 100 bytes, with '?' for NUL. */
typedef struct {
    char text[101];
} quotation;
quotation quoted(view v);

static inline void view_skip(view *v, size_t size) {
    v->data += size;
    v->size -= size;
}

#endif
