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
};

static bool is_known(int32_t type) {
    return type >= 0 && (size_t)type < sizeof types / sizeof types[0];
}

unsigned type_bits(int32_t type) {
    return is_known(type) ? types[type].bits : 0;
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

static bool measure(tensor *t, const char *file, problem *why) {
    const unsigned bits = type_bits(t->type);
    if (bits == 0)
        return unsupported(why, file, "elements of %s", type_label(t->type).text);
    if (!count_elements(&t->count, t->rank, t->dims) || (bits > 8 && t->count > SIZE_MAX / (bits / 8)))
        return fail(why, file, "shape %s has a negative dim or too many elements", shape_label(t->rank, t->dims).text);
    if (bits >= 8)
        t->size = t->count * (bits / 8);
    else
        t->size = t->count / (8 / bits) + (t->count % (8 / bits) != 0);
    return true;
}

static bool allocate(tensor *t, const char *file, problem *why) {
    t->data = malloc(t->size > 0 ? t->size : 1);
    return t->data != NULL || fail(why, file, "no memory for %zu bytes", t->size);
}

bool tensor_create(tensor *t, int32_t type, size_t rank, const int64_t *dims, const char *file, problem *why) {
    *t = (tensor){.type = type, .rank = rank, .dims = dims};
    return measure(t, file, why) && allocate(t, file, why);
}

void tensor_free(tensor *t) {
    if (!t->borrowed)
        free(t->data);
    t->data = NULL;
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

static bool decode_raw(tensor *t, tensor_source s, problem *why) {
    if (s.proto->raw_data.len != t->size)
        return fail(why, s.file, "%s has %zu bytes of raw_data, not %zu", name_of(s.proto).text, s.proto->raw_data.len,
                    t->size);
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

static bool decode_float_data(tensor *t, tensor_source s, problem *why) {
    if (s.proto->n_float_data != t->count)
        return fail(why, s.file, "%s has %zu elements in float_data, not %zu", name_of(s.proto).text,
                    s.proto->n_float_data, t->count);
    if (!allocate(t, s.file, why))
        return false;
    if (t->size > 0)
        memcpy(t->data, s.proto->float_data, t->size);
    return true;
}

/* One int32 an element, or a byte of packed elements. Some writers extend the sign, some do not, whatever the type. */
static bool store_int32(tensor *t, size_t bytes_each, size_t i, int32_t value) {
    const uint8_t byte = (uint8_t)value;
    const uint16_t half = (uint16_t)value;
    switch (bytes_each) {
    case 1: memcpy(t->data + i, &byte, 1); return value >= INT8_MIN && value <= UINT8_MAX;
    case 2: memcpy(t->data + 2 * i, &half, 2); return value >= INT16_MIN && value <= UINT16_MAX;
    default: memcpy(t->data + 4 * i, &value, 4); return true;
    }
}

static bool decode_int32_data(tensor *t, tensor_source s, problem *why) {
    const size_t bytes_each = type_bits(t->type) > 8 ? type_bits(t->type) / 8 : 1, count = t->size / bytes_each;
    if (s.proto->n_int32_data != count)
        return fail(why, s.file, "%s has %zu numbers in int32_data, not %zu", name_of(s.proto).text,
                    s.proto->n_int32_data, count);
    if (!allocate(t, s.file, why))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!store_int32(t, bytes_each, i, s.proto->int32_data[i]))
            return fail(why, s.file, "%s has %" PRId32 " in int32_data, which has no place in %zu byte%s",
                        name_of(s.proto).text, s.proto->int32_data[i], bytes_each, bytes_each > 1 ? "s" : "");
    return true;
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

static bool decode_external(tensor *t, tensor_source s, problem *why) {
    const char *location = external_value(s.proto, "location");
    const char *offset_text = external_value(s.proto, "offset"), *length_text = external_value(s.proto, "length");
    uint64_t offset = 0, length = t->size;
    bytes content;
    if (location == NULL)
        return fail(why, s.file, "%s has external data without a location", name_of(s.proto).text);
    if ((offset_text != NULL && !parse_number(&offset, offset_text)) ||
        (length_text != NULL && !parse_number(&length, length_text)))
        return fail(why, s.file, "%s has external data with an offset or length that is no number",
                    name_of(s.proto).text);
    if (length != t->size)
        return fail(why, s.file, "%s has %" PRIu64 " bytes of external data, not %zu", name_of(s.proto).text, length,
                    t->size);
    if (!read_external(&content, s.file, location, offset, t->size, why))
        return false;
    t->data = content.data;
    swap_little_endian(t->type, t->data, t->size);
    return true;
}

/* The fields that hold elements, of which only one may. */
static int fields_in_use(const Onnx__TensorProto *p) {
    return (p->raw_data.len > 0) + (p->n_float_data > 0) + (p->n_int32_data > 0) + (p->n_string_data > 0) +
           (p->n_int64_data > 0) + (p->n_double_data > 0) + (p->n_uint64_data > 0);
}

bool is_external(const Onnx__TensorProto *proto) {
    return proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static bool check_fields(tensor_source s, problem *why) {
    const Onnx__TensorProto *p = s.proto;
    if (p->segment != NULL)
        return fail(why, s.file, "%s is a segment of a tensor", name_of(p).text);
    if (!is_external(p) && p->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT)
        return fail(why, s.file, "%s has its data at an unknown location (%d)", name_of(p).text, (int)p->data_location);
    if (fields_in_use(p) > (is_external(p) ? 0 : 1))
        return fail(why, s.file, "%s has its data in more than one place", name_of(p).text);
    return true;
}

static bool decode_fields(tensor *t, tensor_source s, problem *why) {
    if (t->size > 0 && fields_in_use(s.proto) == 0)
        return fail(why, s.file, "%s has no data", name_of(s.proto).text);
    if (s.proto->raw_data.len > 0)
        return decode_raw(t, s, why);
    return types[t->type].field == FLOAT_DATA ? decode_float_data(t, s, why) : decode_int32_data(t, s, why);
}

bool tensor_decode(tensor *t, tensor_source s, problem *why) {
    *t = (tensor){.type = s.proto->data_type, .rank = s.proto->n_dims, .dims = s.proto->dims};
    if (!check_fields(s, why) || !measure(t, s.file, why))
        return false;
    if (is_external(s.proto) ? decode_external(t, s, why) : decode_fields(t, s, why))
        return true;
    tensor_free(t);
    return false;
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
