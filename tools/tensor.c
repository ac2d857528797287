#include "tensor.h"

#include "output.h"
#include <dql/dql.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The field of TensorProto that holds a type's elements if raw_data does not. */
typedef enum { NO_FIELD, FLOAT_DATA, INT32_DATA } typed_field;

/* By TensorProto.DataType. No field: not decoded, as DequantizeLinear has no such type. */
static const struct {
    const char *name;
    unsigned bits;
    typed_field field;
} types[] = {
    [0] = {"undefined", 0, NO_FIELD},
    [1] = {"float32", 32, FLOAT_DATA},
    [2] = {"uint8", 8, INT32_DATA},
    [3] = {"int8", 8, INT32_DATA},
    [4] = {"uint16", 16, INT32_DATA},
    [5] = {"int16", 16, INT32_DATA},
    [6] = {"int32", 32, INT32_DATA},
    [7] = {"int64", 0, NO_FIELD},
    [8] = {"string", 0, NO_FIELD},
    [9] = {"bool", 0, NO_FIELD},
    [10] = {"float16", 16, INT32_DATA},
    [11] = {"double", 0, NO_FIELD},
    [12] = {"uint32", 0, NO_FIELD},
    [13] = {"uint64", 0, NO_FIELD},
    [14] = {"complex64", 0, NO_FIELD},
    [15] = {"complex128", 0, NO_FIELD},
    [16] = {"bfloat16", 16, INT32_DATA},
    [17] = {"float8e4m3fn", 8, INT32_DATA},
    [18] = {"float8e4m3fnuz", 8, INT32_DATA},
    [19] = {"float8e5m2", 8, INT32_DATA},
    [20] = {"float8e5m2fnuz", 8, INT32_DATA},
    [21] = {"uint4", 4, INT32_DATA},
    [22] = {"int4", 4, INT32_DATA},
    [23] = {"float4e2m1", 4, INT32_DATA},
    [24] = {"float8e8m0", 8, INT32_DATA},
    [25] = {"uint2", 2, INT32_DATA},
    [26] = {"int2", 2, INT32_DATA},
    [27] = {"float6e2m3", 6, INT32_DATA},
    [28] = {"float6e3m2", 6, INT32_DATA},
};

static bool is_known(int32_t type) {
    return type >= 0 && (size_t)type < sizeof types / sizeof types[0];
}

unsigned type_bits(int32_t type) {
    return is_known(type) ? types[type].bits : 0;
}

size_t bytes_of_elements(int32_t type, size_t count) {
    const unsigned bits = type_bits(type);
    return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

/* Both cut what is too long, and return the length; `size` has room for one more dim and the end. */
static size_t print_type(char *text, size_t size, int32_t type) {
    const int length =
        is_known(type) ? snprintf(text, size, "%s", types[type].name) : snprintf(text, size, "type %" PRId32, type);
    return (size_t)length;
}

static size_t print_shape(char *text, size_t size, size_t rank, const int64_t *dims) {
    const size_t end = size - sizeof "-9223372036854775808,...]";
    size_t length = (size_t)snprintf(text, size, "["), i = 0;
    for (; i < rank && length < end; i++)
        if (dims[i] == UNKNOWN_DIM)
            length += (size_t)snprintf(text + length, size - length, "%s?", i > 0 ? "," : "");
        else
            length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, i > 0 ? "," : "", dims[i]);
    return length + (size_t)snprintf(text + length, size - length, i < rank ? ",...]" : "]");
}

label type_label(int32_t type) {
    label l;
    print_type(l.text, sizeof l.text, type);
    return l;
}

label shape_label(size_t rank, const int64_t *dims) {
    label l;
    print_shape(l.text, sizeof l.text, rank, dims);
    return l;
}

label tensor_label(int32_t type, size_t rank, const int64_t *dims) {
    label l;
    const size_t length = print_type(l.text, sizeof l.text, type);
    print_shape(l.text + length, sizeof l.text - length, rank, dims);
    return l;
}

bool count_elements(size_t *count, size_t rank, const int64_t *dims) {
    bool empty = false, fits = true;
    *count = 1;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        empty |= dims[i] == 0;
        fits &= dims[i] == 0 || (uint64_t)dims[i] <= SIZE_MAX / *count;
        *count = empty || !fits ? 1 : *count * (size_t)dims[i];
    }
    if (empty)
        *count = 0;
    return fits || empty;
}

const char *shape_fault(size_t rank, const int64_t *dims) {
    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 0 && dims[i] != UNKNOWN_DIM)
            return "a negative dim";
    return "too many elements";
}

/* `name` is for messages. */
static bool measure(tensor *t, const char *name, const char *file, problem *why) {
    const unsigned bits = type_bits(t->type);
    if (bits == 0)
        return unsupported(why, file, "%s has elements of a type that dql doesn't read", name);
    if (!count_elements(&t->count, t->rank, t->dims) || (bits > 8 && t->count > SIZE_MAX / (bits / 8)))
        return fail(why, file, "%s has %s", name, shape_fault(t->rank, t->dims));
    t->size = bytes_of_elements(t->type, t->count);
    return true;
}

static bool allocate(tensor *t, const char *file, problem *why) {
    t->data = malloc(t->size > 0 ? t->size : 1);
    return t->data != NULL || fail(why, file, "no memory for %zu bytes", t->size);
}

bool tensor_create(tensor *t, int32_t type, size_t rank, const int64_t *dims, const char *file, problem *why) {
    *t = (tensor){.type = type, .rank = rank, .dims = dims};
    return measure(t, "y", file, why) && allocate(t, file, why);
}

void tensor_free(tensor *t) {
    if (t->in.data != NULL && !t->borrowed)
        window_close(&t->in);
    else if (t->in.data == NULL && !t->borrowed)
        free(t->data);
    *t = (tensor){0};
}

static bool has_own_order(int32_t type) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1 || type_bits(type) <= 8;
}

void swap_little_endian(int32_t type, uint8_t *data, size_t size) {
    const size_t element = type_bits(type) / 8;
    if (has_own_order(type))
        return;
    for (size_t i = 0; i < size; i += element)
        for (size_t low = i, high = i + element - 1; low < high; low++, high--) {
            const uint8_t byte = data[low];
            data[low] = data[high];
            data[high] = byte;
        }
}

/* `tensor "x" (int8[2,3])`, for messages. */
typedef struct {
    char text[256];
} tensor_name;

static tensor_name name_of(const Onnx__TensorProto *proto) {
    tensor_name n;
    snprintf(n.text, sizeof n.text, "tensor \"%.100s\" (%s)", string_or_empty(proto->name),
             tensor_label(proto->data_type, proto->n_dims, proto->dims).text);
    return n;
}

/* ---- whether a tensor can be decoded ---- */

/* The fields that hold elements, of which only one may. */
static size_t fields_in_use(const Onnx__TensorProto *p, const char **one) {
    const struct {
        const char *name;
        size_t count;
    } fields[] = {{"raw_data", p->raw_data.len},     {"float_data", p->n_float_data}, {"int32_data", p->n_int32_data},
                  {"string_data", p->n_string_data}, {"int64_data", p->n_int64_data}, {"double_data", p->n_double_data},
                  {"uint64_data", p->n_uint64_data}};
    size_t used = 0;
    *one = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].count > 0) {
            used++;
            *one = fields[i].name;
        }
    return used;
}

bool is_external(const Onnx__TensorProto *proto) {
    return proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static bool has_zero_dim(const Onnx__TensorProto *p) {
    for (size_t i = 0; i < p->n_dims; i++)
        if (p->dims[i] == 0)
            return true;
    return false;
}

/* What is missing comes before what is too much. */
static bool check_fields(tensor_source s, problem *why) {
    const Onnx__TensorProto *p = s.proto;
    const char *field;
    const size_t used = fields_in_use(p, &field);
    if (p->segment != NULL)
        return fail(why, s.file, "%s is a segment of a tensor", name_of(p).text);
    if (!is_external(p) && p->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT)
        return fail(why, s.file, "%s has its data at an unknown location (%d)", name_of(p).text, (int)p->data_location);
    if (is_external(p) ? used > 0 : used > 1)
        return fail(why, s.file, "%s has its data in more than one place", name_of(p).text);
    return is_external(p) || used > 0 || has_zero_dim(p) || fail(why, s.file, "%s has no data", name_of(p).text);
}

/* Whether an element may begin in one byte and end in the next. */
static bool straddles_bytes(int32_t type) {
    return type_bits(type) < 8 && 8 % type_bits(type) != 0;
}

/* Bytes that a number of int32_data stands for: an element, or several packed ones. */
static size_t bytes_each(int32_t type) {
    return type_bits(type) > 8 ? type_bits(type) / 8 : 1;
}

/* Elements that straddle bytes are not packed there. */
static size_t numbers_in_int32(const tensor *t) {
    return straddles_bytes(t->type) ? t->count : t->size / bytes_each(t->type);
}

static bool check_codes(tensor_source s, unsigned bits, problem *why) {
    for (size_t i = 0; i < s.proto->n_int32_data; i++) {
        const int32_t value = s.proto->int32_data[i];
        if (value < 0 || value >> bits != 0)
            return fail(why, s.file, "%s has %" PRId32 " in int32_data, which is no code of %u bits",
                        name_of(s.proto).text, value, bits);
    }
    return true;
}

/* Some writers extend the sign, some do not, whatever the type; but ONNX has only codes of what straddles bytes. */
static bool check_int32(const tensor *t, tensor_source s, problem *why) {
    const size_t each = bytes_each(t->type);
    if (straddles_bytes(t->type))
        return check_codes(s, type_bits(t->type), why);
    for (size_t i = 0; each < 4 && i < s.proto->n_int32_data; i++) {
        const int32_t value = s.proto->int32_data[i];
        if (value < (each == 1 ? INT8_MIN : INT16_MIN) || value > (each == 1 ? UINT8_MAX : UINT16_MAX))
            return fail(why, s.file, "%s has %" PRId32 " in int32_data, which has no place in %zu byte%s",
                        name_of(s.proto).text, value, each, each > 1 ? "s" : "");
    }
    return true;
}

static bool check_count(size_t got, size_t expected, const char *what, const char *field, tensor_source s,
                        problem *why) {
    return got == expected || fail(why, s.file, "%s has %zu %s%s %s, not %zu", name_of(s.proto).text, got, what,
                                   got == 1 ? "" : "s", field, expected);
}

static bool check_inside(const tensor *t, tensor_source s, problem *why) {
    const bool floats = types[t->type].field == FLOAT_DATA;
    const char *own = floats ? "float_data" : "int32_data", *used;
    if (fields_in_use(s.proto, &used) > 0 && strcmp(used, "raw_data") != 0 && strcmp(used, own) != 0)
        return fail(why, s.file, "%s has its numbers in %s, where those of %s can't be, but in raw_data or %s",
                    name_of(s.proto).text, used, type_label(t->type).text, own);
    if (s.proto->raw_data.len > 0)
        return check_count(s.proto->raw_data.len, t->size, "byte", "of raw_data", s, why);
    if (floats)
        return check_count(s.proto->n_float_data, t->count, "number", "in float_data", s, why);
    return check_count(s.proto->n_int32_data, numbers_in_int32(t), "number", "in int32_data", s, why) &&
           check_int32(t, s, why);
}

/* A decimal number of external_data. */
static bool parse_number(uint64_t *value, const char *text) {
    *value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || *value > (UINT64_MAX - 9) / 10)
            return false;
        *value = *value * 10 + (uint64_t)(*c - '0');
    }
    return text[0] != '\0';
}

const char *external_value(const Onnx__TensorProto *proto, const char *key) {
    for (size_t i = 0; i < proto->n_external_data; i++)
        if (strcmp(string_or_empty(proto->external_data[i]->key), key) == 0)
            return string_or_empty(proto->external_data[i]->value);
    return NULL;
}

/* ONNX knows five, and other writers add few. More would be looked through again for every node that uses a tensor. */
enum { MOST_ENTRIES = 64 };

typedef struct {
    const char *location;
    uint64_t offset, length; /* no length: that of the tensor */
} place;

static bool read_place(place *p, const tensor *t, tensor_source s, problem *why) {
    *p = (place){.length = t->size};
    if (s.proto->n_external_data > MOST_ENTRIES)
        return fail(why, s.file, "%s has %zu entries of external data, more than %d", name_of(s.proto).text,
                    s.proto->n_external_data, MOST_ENTRIES);
    const char *offset = external_value(s.proto, "offset"), *length = external_value(s.proto, "length");
    p->location = external_value(s.proto, "location");
    if (p->location == NULL)
        return fail(why, s.file, "%s has external data without a location", name_of(s.proto).text);
    if ((offset != NULL && !parse_number(&p->offset, offset)) || (length != NULL && !parse_number(&p->length, length)))
        return fail(why, s.file, "%s has external data with an offset or length that is no number",
                    name_of(s.proto).text);
    return p->length == t->size || fail(why, s.file, "%s has %" PRIu64 " bytes of external data, not %zu",
                                        name_of(s.proto).text, p->length, t->size);
}

static bool check_external(const tensor *t, tensor_source s, problem *why) {
    place p;
    if (!read_place(&p, t, s, why))
        return false;
    if (find_external(s.file, p.location, p.offset, t->size, why))
        return true;
    if (strcmp(why->file, s.file) == 0)
        about(why, "tensor", string_or_empty(s.proto->name));
    return false;
}

/* Sets the head of a tensor. */
static bool read_head(tensor *t, tensor_source s, problem *why) {
    *t = (tensor){.type = s.proto->data_type, .rank = s.proto->n_dims, .dims = s.proto->dims};
    if (t->type == 0)
        return fail(why, s.file, "tensor \"%.100s\" has no type", string_or_empty(s.proto->name));
    if (t->rank > MOST_DIMS)
        return unsupported(why, s.file, "tensor \"%.100s\" has %zu dims, more than %d", string_or_empty(s.proto->name),
                           t->rank, MOST_DIMS);
    return check_fields(s, why) && measure(t, name_of(s.proto).text, s.file, why);
}

static bool check(tensor_source s, problem *why) {
    tensor t;
    return read_head(&t, s, why) && (is_external(s.proto) ? check_external(&t, s, why) : check_inside(&t, s, why));
}

bool tensor_check(tensor_source s, problem *why) {
    judgement *found = s.found;
    if (found == NULL)
        return check(s, why);
    if (!found->is_checked) {
        found->is_checked = true;
        found->is_wrong = !check(s, why);
        if (found->is_wrong)
            keep_problem(&found->fault, why);
    }
    return !found->is_wrong || recall_problem(&found->fault, why);
}

/* ---- decoding what has been checked ---- */

static bool decode_raw(tensor *t, tensor_source s, problem *why) {
    if (s.in != NULL && t->size >= LEAST_UNREAD && !window_read(s.in, s.proto->raw_data.data, t->size, why))
        return false;
    t->borrowed = has_own_order(t->type);
    if (t->borrowed) {
        t->data = s.proto->raw_data.data;
        return true;
    }
    if (!allocate(t, s.file, why))
        return false;
    memcpy(t->data, s.proto->raw_data.data, t->size);
    swap_little_endian(t->type, t->data, t->size);
    return true;
}

/* Packs the codes of elements that straddle bytes. */
static void pack_codes(tensor *t, const int32_t *codes) {
    const unsigned bits = type_bits(t->type);
    unsigned held = 0, held_bits = 0;
    uint8_t *to = t->data;
    if (to == NULL) /* not after allocate(), which clang-tidy doesn't see here */
        return;
    for (size_t i = 0; i < t->count; i++) {
        held |= (unsigned)codes[i] << held_bits;
        for (held_bits += bits; held_bits >= 8; held_bits -= 8, held >>= 8)
            *to++ = (uint8_t)held;
    }
    if (held_bits > 0)
        *to = (uint8_t)held;
}

/* One int32 an element, or a byte of packed elements. */
static void store_int32(tensor *t, size_t i, int32_t value) {
    const uint8_t byte = (uint8_t)value;
    const uint16_t half = (uint16_t)value;
    switch (bytes_each(t->type)) {
    case 1: memcpy(t->data + i, &byte, 1); break;
    case 2: memcpy(t->data + 2 * i, &half, 2); break;
    default: memcpy(t->data + 4 * i, &value, 4);
    }
}

static bool decode_inside(tensor *t, tensor_source s, problem *why) {
    if (s.proto->raw_data.len > 0)
        return decode_raw(t, s, why);
    if (!allocate(t, s.file, why))
        return false;
    if (s.proto->n_float_data > 0)
        memcpy(t->data, s.proto->float_data, t->size);
    else if (straddles_bytes(t->type))
        pack_codes(t, s.proto->int32_data);
    else
        for (size_t i = 0; i < s.proto->n_int32_data; i++)
            store_int32(t, i, s.proto->int32_data[i]);
    return true;
}

static bool decode_external(tensor *t, tensor_source s, problem *why) {
    place p;
    bytes content;
    if (!read_place(&p, t, s, why) || !read_external(&content, s.file, p.location, p.offset, t->size, why))
        return false;
    t->data = content.data;
    swap_little_endian(t->type, t->data, t->size);
    return true;
}

static bool open_external(tensor *t, tensor_source s, problem *why) {
    place p;
    if (!read_place(&p, t, s, why) || !window_open_external(&t->in, s.file, p.location, p.offset, t->size, why))
        return false;
    t->data = t->in.data;
    return true;
}

bool tensor_decode(tensor *t, tensor_source s, problem *why) {
    if (tensor_check(s, why) && read_head(t, s, why) &&
        (is_external(s.proto) ? decode_external(t, s, why) : decode_inside(t, s, why)))
        return true;
    *t = (tensor){0};
    return false;
}

bool tensor_open(tensor *t, tensor_source s, problem *why) {
    *t = (tensor){0};
    if (!tensor_check(s, why) || !read_head(t, s, why))
        return false;
    if (t->size >= LEAST_UNREAD && is_external(s.proto))
        return open_external(t, s, why);
    if (t->size < LEAST_UNREAD || s.in == NULL || s.proto->raw_data.len == 0)
        return tensor_decode(t, s, why);
    t->in = *s.in;
    t->data = s.proto->raw_data.data;
    t->borrowed = true;
    return true;
}

static bool pack(bytes *content, const Onnx__TensorProto *proto, const char *file, problem *why) {
    content->size = onnx__tensor_proto__get_packed_size(proto);
    if (content->size > INT32_MAX)
        return fail(why, file, "would have more than the 2 GiB of a protobuf message");
    content->data = malloc(content->size);
    if (content->data == NULL)
        return fail(why, file, "no memory for %zu bytes", content->size);
    onnx__tensor_proto__pack(proto, content->data);
    return true;
}

bool tensor_write(tensor *t, const char *name, const char *file, const file_set *read, problem *why) {
    Onnx__TensorProto proto = ONNX__TENSOR_PROTO__INIT;
    bytes content = {NULL, 0};
    proto.n_dims = t->rank;
    proto.dims = (int64_t *)t->dims; /* protobuf-c has no const, but packing only reads */
    proto.has_data_type = true;
    proto.data_type = t->type;
    proto.name = (char *)name;
    proto.has_raw_data = true;
    proto.raw_data = (ProtobufCBinaryData){t->size, t->data};

    swap_little_endian(t->type, t->data, t->size);
    const bool ok = pack(&content, &proto, file, why) && output_write_all(file, content, read, why);
    swap_little_endian(t->type, t->data, t->size);
    free(content.data);
    return ok;
}

uint32_t tensor_bits(const tensor *t, size_t i) {
    const unsigned bits = type_bits(t->type);
    uint32_t word;
    uint16_t half;
    if (bits == 32) {
        memcpy(&word, t->data + 4 * i, 4);
        return word;
    }
    if (bits == 16) {
        memcpy(&half, t->data + 2 * i, 2);
        return half;
    }
    return t->data[i];
}

static uint32_t widen_float16(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0) {
        const float value = (float)fraction * 0x1p-24f;
        uint32_t magnitude;
        memcpy(&magnitude, &value, 4);
        return sign | magnitude;
    }
    return sign | (exponent == 31 ? 0xff : exponent + 112) << 23 | fraction << 13;
}

float float_value(int32_t type, uint32_t bits) {
    const uint32_t wide = type == DQL_FLOAT16 ? widen_float16(bits) : type == DQL_BFLOAT16 ? bits << 16 : bits;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}
