#include "support/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const reference_type reference_x_types[REFERENCE_X_TYPES] = {
    {DQL_INT8, "int8", 8},
    {DQL_UINT8, "uint8", 8},
    {DQL_INT16, "int16", 16},
    {DQL_UINT16, "uint16", 16},
    {DQL_INT32, "int32", 32},
    {DQL_INT4, "int4", 4},
    {DQL_UINT4, "uint4", 4},
    {DQL_FLOAT8E4M3FN, "float8e4m3fn", 8},
    {DQL_FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8},
    {DQL_FLOAT8E5M2, "float8e5m2", 8},
    {DQL_FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8},
    {DQL_FLOAT4E2M1, "float4e2m1", 4},
    {DQL_INT2, "int2", 2},
    {DQL_UINT2, "uint2", 2},
    {DQL_FLOAT6E2M3, "float6e2m3", 6},
    {DQL_FLOAT6E3M2, "float6e3m2", 6},
};

const reference_type reference_scale_types[REFERENCE_SCALE_TYPES] = {
    {DQL_FLOAT32, "float32", 32},
    {DQL_FLOAT16, "float16", 16},
    {DQL_BFLOAT16, "bfloat16", 16},
    {DQL_FLOAT8E8M0, "float8e8m0", 8},
};

/* A binary floating-point format: sign, exponent, mantissa. */
typedef struct format {
    int exponent_bits, mantissa_bits, bias;
    enum { IEEE, ALL_ONES_IS_NAN, MINUS_ZERO_IS_NAN, FINITE } special;
} format;

static format format_of(dql_type type) {
    switch ((int)type) {
    case DQL_FLOAT32: return (format){8, 23, 127, IEEE};
    case DQL_FLOAT16: return (format){5, 10, 15, IEEE};
    case DQL_BFLOAT16: return (format){8, 7, 127, IEEE};
    case DQL_FLOAT8E4M3FN: return (format){4, 3, 7, ALL_ONES_IS_NAN};
    case DQL_FLOAT8E4M3FNUZ: return (format){4, 3, 8, MINUS_ZERO_IS_NAN};
    case DQL_FLOAT8E5M2: return (format){5, 2, 15, IEEE};
    case DQL_FLOAT8E5M2FNUZ: return (format){5, 2, 16, MINUS_ZERO_IS_NAN};
    case DQL_FLOAT4E2M1: return (format){2, 1, 1, FINITE};
    case DQL_FLOAT6E2M3: return (format){2, 3, 1, FINITE};
    case DQL_FLOAT6E3M2: return (format){3, 2, 3, FINITE};
    default: abort();
    }
}

static double decode_float(format f, uint32_t bits) {
    const uint32_t sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
    const uint32_t exponent = bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
    const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
    const bool top = exponent == (1u << f.exponent_bits) - 1;
    double magnitude;
    if (f.special == IEEE && top)
        magnitude = mantissa ? (double)NAN : (double)INFINITY;
    else if (f.special == ALL_ONES_IS_NAN && top && mantissa == (1u << f.mantissa_bits) - 1)
        magnitude = (double)NAN;
    else if (f.special == MINUS_ZERO_IS_NAN && sign && exponent == 0 && mantissa == 0)
        magnitude = (double)NAN;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
    else
        magnitude = ldexp(mantissa + ldexp(1, f.mantissa_bits), (int)exponent - f.bias - f.mantissa_bits);
    return sign ? -magnitude : magnitude;
}

uint32_t reference_encode(dql_type type, double v) {
    const format f = format_of(type);
    const int smallest = 1 - f.bias - f.mantissa_bits; /* exponent of the smallest subnormal */
    const uint32_t sign = signbit(v) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
    const uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    if (isnan(v))
        return infinity | 1u << (f.mantissa_bits - 1);
    if (v == 0)
        return sign;
    if (isinf(v))
        return sign | infinity;
    int exponent;
    frexp(v, &exponent);
    int unit = exponent - (f.mantissa_bits + 1); /* exponent of the last place */
    if (unit < smallest)
        unit = smallest;
    const double units = rint(ldexp(fabs(v), -unit)); /* a mantissa with its leading one, but for subnormals */
    const double code = units + ldexp(unit - smallest, f.mantissa_bits);
    return sign | (code < infinity ? (uint32_t)code : infinity);
}

bool reference_is_float(dql_type type) {
    switch ((int)type) {
    case DQL_INT8:
    case DQL_UINT8:
    case DQL_INT16:
    case DQL_UINT16:
    case DQL_INT32:
    case DQL_INT4:
    case DQL_UINT4:
    case DQL_INT2:
    case DQL_UINT2: return false;
    default: return true;
    }
}

unsigned reference_bits(dql_type type) {
    for (size_t k = 0; k < REFERENCE_X_TYPES; k++)
        if (reference_x_types[k].type == type)
            return reference_x_types[k].bits;
    for (size_t k = 0; k < REFERENCE_SCALE_TYPES; k++)
        if (reference_scale_types[k].type == type)
            return reference_scale_types[k].bits;
    abort();
}

size_t reference_bytes(dql_type type, size_t elements) {
    return (elements * reference_bits(type) + 7) / 8;
}

uint32_t reference_read_code(const void *from, unsigned bits, size_t i) {
    const uint8_t *bytes = from;
    uint32_t code = 0;
    for (unsigned b = 0; b < bits; b++) {
        const size_t place = i * bits + b;
        code |= (uint32_t)(bytes[place / 8] >> place % 8 & 1) << b;
    }
    return code;
}

void reference_write_code(void *to, unsigned bits, size_t i, uint32_t code) {
    uint8_t *bytes = to;
    for (unsigned b = 0; b < bits; b++) {
        const size_t place = i * bits + b;
        const unsigned others = bytes[place / 8] & ~(1u << place % 8);
        bytes[place / 8] = (uint8_t)(others | (code >> b & 1) << place % 8);
    }
}

uint32_t reference_bits_of(dql_type type, const void *from, size_t i) {
    const unsigned bits = reference_bits(type);
    uint32_t u32;
    uint16_t u16;
    switch (bits) {
    case 32: memcpy(&u32, (const char *)from + 4 * i, sizeof u32); return u32;
    case 16: memcpy(&u16, (const char *)from + 2 * i, sizeof u16); return u16;
    default: return reference_read_code(from, bits, i);
    }
}

double reference_decode(dql_type type, const void *from, size_t i) {
    const uint32_t bits = reference_bits_of(type, from, i);
    switch ((int)type) {
    case DQL_UINT8:
    case DQL_UINT16:
    case DQL_UINT4:
    case DQL_UINT2: return bits;
    case DQL_INT8: return bits < 128 ? bits : bits - 256.0;
    case DQL_INT16: return bits < 32768 ? bits : bits - 65536.0;
    case DQL_INT32: return bits < 0x80000000 ? bits : bits - 4294967296.0;
    case DQL_INT4: return bits < 8 ? bits : bits - 16.0;
    case DQL_INT2: return bits < 2 ? bits : bits - 4.0;
    case DQL_FLOAT8E8M0: return bits < 255 ? ldexp(1, (int)bits - 127) : (double)NAN;
    default: return decode_float(format_of(type), bits);
    }
}

uint32_t reference_element(dql_type x_type, dql_type y_type, const void *x, size_t i, double scale, const void *zero,
                           size_t zero_i) {
    double difference = reference_decode(x_type, x, i);
    if (zero && !reference_is_float(x_type))
        difference -= reference_decode(x_type, zero, zero_i);
    /* In double the difference and the product of two float32 are exact. */
    const uint32_t f32_difference = reference_encode(DQL_FLOAT32, difference);
    const double exact_product = decode_float(format_of(DQL_FLOAT32), f32_difference) * scale;
    const uint32_t f32_product = reference_encode(DQL_FLOAT32, exact_product);
    return reference_encode(y_type, decode_float(format_of(DQL_FLOAT32), f32_product));
}

size_t reference_scale_number(const dql_spec *spec, size_t i) {
    bool one = spec->scale_rank <= (spec->rank ? spec->rank : 1);
    for (size_t d = 0; d < spec->scale_rank; d++)
        one &= spec->scale_shape[d] == 1;
    if (one)
        return 0;
    const size_t axis = (size_t)(spec->axis < 0 ? spec->axis + (int64_t)spec->rank : spec->axis);
    size_t index[64];
    for (size_t d = spec->rank; d-- > 0; i /= (size_t)spec->shape[d])
        index[d] = i % (size_t)spec->shape[d];
    if (spec->block_size == 0)
        return index[axis];
    index[axis] /= (size_t)spec->block_size;
    size_t number = 0;
    for (size_t d = 0; d < spec->rank; d++)
        number = number * (size_t)spec->scale_shape[d] + index[d];
    return number;
}

uint32_t reference_y(const dql_spec *spec, const void *x, const void *scale, const void *zero, size_t i) {
    const size_t s = reference_scale_number(spec, i);
    return reference_element((dql_type)spec->x_type, (dql_type)spec->y_type, x, i,
                             reference_decode((dql_type)spec->scale_type, scale, s), zero, s);
}

bool reference_equal(dql_type type, uint32_t a, uint32_t b) {
    return a == b || (isnan(decode_float(format_of(type), a)) && isnan(decode_float(format_of(type), b)));
}
