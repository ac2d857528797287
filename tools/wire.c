#include "wire.h"

#include <inttypes.h>

enum { DEEPEST = 100 };

/* What a file may take unpacked: a fixed amount, and a multiple of its size. A list of small numbers, each with its
 * own tag, needs 20 times its size; a list of empty messages would take more than 100 times. */
enum { MEMORY_FIXED = 256 << 20, MEMORY_FACTOR = 24 };

/* About what protobuf-c and malloc take: for a field while its message is unpacked, for a field that it keeps unknown
 * or as a pointer, and around each allocation. */
enum { FIELD_BYTES = 32, ELEMENT_BYTES = 8, ALLOCATION_BYTES = 16 };

/* What is left of the message that is being read. */
typedef struct {
    const uint8_t *at, *end;
} cursor;

typedef struct {
    uint64_t memory; /* what may still be taken */
    const char *file;
    problem *why;
} checker;

typedef struct {
    unsigned wire_type;
    const ProtobufCFieldDescriptor *field; /* NULL if unknown */
    cursor content;
} entry;

static size_t left(cursor c) {
    return (size_t)(c.end - c.at);
}

static bool read_varint(cursor *c, uint64_t *value, const checker *check) {
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (c->at == c->end)
            return fail(check->why, check->file, "is cut off, or not an ONNX file");
        const uint8_t byte = *c->at++;
        *value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return true;
    }
    return fail(check->why, check->file, "is not an ONNX file: a number of more than 10 bytes");
}

/* Sets *size to the bytes that a field's content takes. */
static bool read_size(cursor *c, unsigned wire_type, uint64_t *size, const checker *check) {
    cursor varint = *c;
    uint64_t value = 0;
    switch (wire_type) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        if (!read_varint(&varint, &value, check))
            return false;
        *size = (uint64_t)(varint.at - c->at);
        return true;
    case PROTOBUF_C_WIRE_TYPE_64BIT: *size = 8; return true;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED: return read_varint(c, size, check);
    case PROTOBUF_C_WIRE_TYPE_32BIT: *size = 4; return true;
    default: return fail(check->why, check->file, "is not an ONNX file: wire type %u", wire_type);
    }
}

static bool read_entry(cursor *c, entry *e, const ProtobufCMessageDescriptor *type, const checker *check) {
    uint64_t tag = 0, size = 0;
    if (!read_varint(c, &tag, check))
        return false;
    if (tag >> 3 == 0 || tag > UINT32_MAX)
        return fail(check->why, check->file, "is not an ONNX file: field number %" PRIu64 " in %s", tag >> 3,
                    type->short_name);
    e->wire_type = tag & 7;
    e->field = protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
    if (!read_size(c, e->wire_type, &size, check))
        return false;
    if (size > left(*c))
        return fail(check->why, check->file, "is cut off, or not an ONNX file: %" PRIu64 " bytes expected, %zu there",
                    size, left(*c));
    e->content = (cursor){c->at, c->at + size};
    c->at += size;
    return true;
}

/* Only what takes more memory than it has bytes in the file needs care, and everything is counted. */
static uint64_t memory_of(const entry *e) {
    const uint64_t size = left(e->content);
    if (e->field == NULL)
        return FIELD_BYTES + sizeof(ProtobufCMessageUnknownField) + ALLOCATION_BYTES + size;
    switch (e->field->type) {
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessageDescriptor *type = e->field->descriptor;
        return FIELD_BYTES + ELEMENT_BYTES + ALLOCATION_BYTES + type->sizeof_message;
    }
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES: return FIELD_BYTES + sizeof(ProtobufCBinaryData) + ALLOCATION_BYTES + size;
    default: /* a number, or a packed list of them, at least a byte each */
        return FIELD_BYTES + ELEMENT_BYTES * (e->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED ? size : 1);
    }
}

static bool take_memory(checker *check, const entry *e) {
    const uint64_t taken = memory_of(e);
    if (taken > check->memory)
        return fail(check->why, check->file, "would take too much memory for its size");
    check->memory -= taken;
    return true;
}

/* `seen` has a bit for each field of a message. */
static bool check_once(uint64_t *seen, const entry *e, const ProtobufCMessageDescriptor *type, const checker *check) {
    const size_t index = (size_t)(e->field - type->fields);
    if (e->field->label == PROTOBUF_C_LABEL_REPEATED || index >= 64)
        return true;
    if (*seen >> index & 1)
        return fail(check->why, check->file, "field %s appears twice in a %s", e->field->name, type->short_name);
    *seen |= (uint64_t)1 << index;
    return true;
}

/* The bytes of one character of UTF-8, 0 if these are not one, or are a NUL. Table 3-7 of the Unicode standard. */
static size_t character_size(const uint8_t *at, size_t size) {
    const uint8_t lead = at[0];
    if (lead < 0x80)
        return lead != 0;
    const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || length > size)
        return 0;
    const uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80; /* no longer form of a shorter one */
    const uint8_t most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;  /* no surrogates, nothing past U+10FFFF */
    if (at[1] < least || at[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    return length;
}

static bool is_utf8(cursor c) {
    while (c.at < c.end) {
        const size_t length = character_size(c.at, left(c));
        if (length == 0)
            return false;
        c.at += length;
    }
    return true;
}

static bool check_message(checker *check, const ProtobufCMessageDescriptor *type, cursor message, unsigned depth);

static bool check_entry(checker *check, const entry *e, const ProtobufCMessageDescriptor *type, unsigned depth) {
    if (e->field->type != PROTOBUF_C_TYPE_MESSAGE && e->field->type != PROTOBUF_C_TYPE_STRING)
        return true;
    if (e->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return fail(check->why, check->file, "field %s of a %s has wire type %u", e->field->name, type->short_name,
                    e->wire_type);
    if (e->field->type == PROTOBUF_C_TYPE_MESSAGE)
        return check_message(check, e->field->descriptor, e->content, depth + 1);
    return is_utf8(e->content) ||
           fail(check->why, check->file, "field %s of a %s is not UTF-8", e->field->name, type->short_name);
}

static bool check_message(checker *check, const ProtobufCMessageDescriptor *type, cursor message, unsigned depth) {
    uint64_t seen = 0;
    if (depth > DEEPEST)
        return fail(check->why, check->file, "messages nest more than %d deep", DEEPEST);
    while (message.at < message.end) {
        entry e = {0};
        if (!read_entry(&message, &e, type, check) || !take_memory(check, &e))
            return false;
        if (e.field != NULL && !(check_once(&seen, &e, type, check) && check_entry(check, &e, type, depth)))
            return false;
    }
    return true;
}

bool check_wire(const ProtobufCMessageDescriptor *type, bytes message, const char *file, problem *why) {
    checker check = {MEMORY_FIXED + MEMORY_FACTOR * (uint64_t)message.size, file, why};
    return check_message(&check, type, (cursor){message.data, message.data + message.size}, 0);
}
