#include "wire.h"

#include <inttypes.h>
#include <string.h>

enum { DEEPEST = 100 };

/* What a file may take unpacked: a fixed amount, and a multiple of its size. A list of small numbers, each with its
 * own tag, needs 20 times its size; a list of empty messages would take more than 100 times. */
enum { MEMORY_FIXED = 256 << 20, MEMORY_FACTOR = 24 };

/* About what protobuf-c and malloc take: for a field while its message is unpacked, for a field that it keeps unknown
 * or as a pointer, and around each allocation. */
enum { FIELD_BYTES = 32, ELEMENT_BYTES = 8, ALLOCATION_BYTES = 16 };

/* What is read of a file at least: more than a tag and a length. */
enum { READ_AT_ONCE = 256 << 10, LONGEST_HEAD = 20 };

typedef struct {
    uint64_t memory;       /* what may still be taken */
    const window *in;      /* NULL: all of the message has been read */
    const uint8_t *unread; /* where that begins, behind everything that has been checked */
    const char *file;
    problem *why;
} checker;

static bool read_varint(view *v, uint64_t *value, const char *file, problem *why) {
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (v->size == 0)
            return fail(why, file, "is cut off, or not an ONNX file");
        const uint8_t byte = *v->data;
        view_skip(v, 1);
        *value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return true;
    }
    return fail(why, file, "is not an ONNX file: a number of more than 10 bytes");
}

/* Takes the content off what follows a tag. */
static bool read_content(view *rest, wire_field *f, const char *file, problem *why) {
    uint64_t size = 0;
    const uint8_t *begin = rest->data;
    f->value = 0;
    switch (f->wire_type) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        if (!read_varint(rest, &f->value, file, why))
            return false;
        f->content = (view){begin, (size_t)(rest->data - begin)};
        return true;
    case PROTOBUF_C_WIRE_TYPE_64BIT: size = 8; break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        if (!read_varint(rest, &size, file, why))
            return false;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT: size = 4; break;
    default: return fail(why, file, "is not an ONNX file: wire type %u", f->wire_type);
    }
    if (size > rest->size)
        return fail(why, file, "is cut off, or not an ONNX file: %" PRIu64 " bytes expected, %zu there", size,
                    rest->size);
    f->content = (view){rest->data, (size_t)size};
    view_skip(rest, (size_t)size);
    return true;
}

static bool read_field(view *message, wire_field *f, const char *file, problem *why) {
    uint64_t tag = 0;
    const uint8_t *begin = message->data;
    *f = (wire_field){0};
    if (!read_varint(message, &tag, file, why))
        return false;
    if (tag >> 3 == 0 || tag > UINT32_MAX)
        return fail(why, file, "is not an ONNX file: field number %" PRIu64, tag >> 3);
    f->number = (unsigned)(tag >> 3);
    f->wire_type = tag & 7;
    f->tag = (view){begin, (size_t)(message->data - begin)};
    if (!read_content(message, f, file, why))
        return false;
    f->whole = (view){begin, (size_t)(message->data - begin)};
    return true;
}

bool wire_next(view *message, wire_field *field) {
    problem ignored;
    return message->size > 0 && read_field(message, field, "", &ignored);
}

view wire_string(view message, unsigned number) {
    wire_field f;
    while (wire_next(&message, &f))
        if (f.number == number && f.wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
            return f.content;
    return (view){(const uint8_t *)"", 0};
}

bool wire_number(uint64_t *value, view message, unsigned number) {
    wire_field f;
    while (wire_next(&message, &f))
        if (f.number == number && f.wire_type == PROTOBUF_C_WIRE_TYPE_VARINT) {
            *value = f.value;
            return true;
        }
    return false;
}

size_t wire_count(view message, unsigned number) {
    size_t count = 0;
    wire_field f;
    while (wire_next(&message, &f))
        count += f.number == number;
    return count;
}

bool view_equals(view v, const char *text) {
    return v.size == strlen(text) && (v.size == 0 || memcmp(v.data, text, v.size) == 0);
}

quotation quoted(view v) {
    quotation q;
    const size_t size = v.size < sizeof q.text ? v.size : sizeof q.text - 1;
    memset(q.text, 0, sizeof q.text);
    if (size > 0)
        memcpy(q.text, v.data, size);
    for (size_t i = 0; i < size; i++)
        if (q.text[i] == '\0')
            q.text[i] = '?';
    return q;
}

/* Only what takes more memory than it has bytes in the file needs care, and everything is counted. */
static uint64_t memory_of(const wire_field *f, const ProtobufCFieldDescriptor *known) {
    const uint64_t size = f->content.size;
    if (known == NULL)
        return FIELD_BYTES + sizeof(ProtobufCMessageUnknownField) + ALLOCATION_BYTES + size;
    switch (known->type) {
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessageDescriptor *type = known->descriptor;
        return FIELD_BYTES + ELEMENT_BYTES + ALLOCATION_BYTES + type->sizeof_message;
    }
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES: return FIELD_BYTES + sizeof(ProtobufCBinaryData) + ALLOCATION_BYTES + size;
    default: /* a number, or a packed list of them, at least a byte each */
        return FIELD_BYTES + ELEMENT_BYTES * (f->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED ? size : 1);
    }
}

static bool take_memory(checker *check, uint64_t taken) {
    if (taken > check->memory)
        return fail(check->why, check->file, "would take too much memory for its size");
    check->memory -= taken;
    return true;
}

static bool need(checker *check, const uint8_t *begin, size_t size) {
    if (check->in == NULL || size == 0 || begin + size <= check->unread)
        return true;
    const uint8_t *from = begin > check->unread ? begin : check->unread;
    const size_t least = (size_t)(begin + size - from), left = (size_t)(check->in->data + check->in->size - from);
    const size_t next = least > READ_AT_ONCE ? least : left < READ_AT_ONCE ? left : READ_AT_ONCE;
    check->unread = from + next;
    return window_read(check->in, from, next, check->why);
}

/* Most of a model is raw_data, and little of it is ever wanted at once. Whoever uses it, reads it: tensor.c. */
static bool stays_unread(const wire_field *f, const ProtobufCFieldDescriptor *known) {
    return known != NULL && (known->type == PROTOBUF_C_TYPE_MESSAGE ||
                             (f->content.size >= LEAST_UNREAD && strcmp(known->name, "raw_data") == 0));
}

/* `seen` has a bit for each field of a message. */
static bool check_once(uint64_t *seen, const ProtobufCFieldDescriptor *field, const ProtobufCMessageDescriptor *type,
                       const checker *check) {
    const size_t index = (size_t)(field - type->fields);
    if (field->label == PROTOBUF_C_LABEL_REPEATED || index >= 64)
        return true;
    if (*seen >> index & 1)
        return fail(check->why, check->file, "field %s appears twice in a %s", field->name, type->short_name);
    *seen |= (uint64_t)1 << index;
    return true;
}

static bool check_message(checker *check, const ProtobufCMessageDescriptor *type, view message, unsigned depth);

static bool check_known(checker *check, const wire_field *f, const ProtobufCFieldDescriptor *known,
                        const ProtobufCMessageDescriptor *type, unsigned depth) {
    if (known->type != PROTOBUF_C_TYPE_MESSAGE && known->type != PROTOBUF_C_TYPE_STRING &&
        known->type != PROTOBUF_C_TYPE_BYTES)
        return true;
    if (f->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return fail(check->why, check->file, "field %s of a %s has wire type %u", known->name, type->short_name,
                    f->wire_type);
    return known->type != PROTOBUF_C_TYPE_MESSAGE || check_message(check, known->descriptor, f->content, depth + 1);
}

static bool check_message(checker *check, const ProtobufCMessageDescriptor *type, view message, unsigned depth) {
    uint64_t seen = 0;
    if (depth > DEEPEST)
        return fail(check->why, check->file, "messages nest more than %d deep", DEEPEST);
    while (message.size > 0) {
        wire_field f;
        if (!need(check, message.data, message.size < LONGEST_HEAD ? message.size : LONGEST_HEAD) ||
            !read_field(&message, &f, check->file, check->why))
            return false;
        const ProtobufCFieldDescriptor *known = protobuf_c_message_descriptor_get_field(type, f.number);
        if (!stays_unread(&f, known) && !need(check, f.content.data, f.content.size))
            return false;
        if (!take_memory(check, memory_of(&f, known)))
            return false;
        if (known != NULL && !(check_once(&seen, known, type, check) && check_known(check, &f, known, type, depth)))
            return false;
    }
    return true;
}

uint64_t wire_memory(size_t size) {
    return MEMORY_FIXED + MEMORY_FACTOR * (uint64_t)size;
}

bool check_wire(const ProtobufCMessageDescriptor *type, view message, const char *file, problem *why) {
    checker check = {.memory = wire_memory(message.size), .file = file, .why = why};
    return check_message(&check, type, message, 0);
}

bool check_wire_in(const ProtobufCMessageDescriptor *type, const window *in, problem *why) {
    checker check = {.memory = wire_memory(in->size), .in = in, .unread = in->data, .file = in->file, .why = why};
    return check_message(&check, type, (view){in->data, in->size}, 0);
}
