/* The meaning of every type, one element at a time. Whatever else computes them must give these bits. */
#ifndef DQL_SCALAR_ELEMENT_H
#define DQL_SCALAR_ELEMENT_H

#include "float6_magnitudes.h"
#include "kernel.h"
#include "scalar/float8_tables.h"

#include <string.h>

/* Elements may be at any address, so they are copied, not dereferenced. */
#define DQL_DEFINE_READ(type, name)                                                                                    \
    DQL_INLINE type name(const void *from, size_t i) {                                                                 \
        type value;                                                                                                    \
        memcpy(&value, (const char *)from + i * sizeof value, sizeof value);                                           \
        return value;                                                                                                  \
    }
DQL_DEFINE_READ(int8_t, read_i8)
DQL_DEFINE_READ(uint8_t, read_u8)
DQL_DEFINE_READ(int16_t, read_i16)
DQL_DEFINE_READ(uint16_t, read_u16)
DQL_DEFINE_READ(int32_t, read_i32)
DQL_DEFINE_READ(float, read_f32)
#undef DQL_DEFINE_READ

DQL_INLINE uint32_t f32_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

DQL_INLINE float f32_from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The code of a packed type. A pack is a stream of bits, the first code in the lowest ones; a code may begin in one
 * byte and end in the next. */
DQL_INLINE unsigned read_code(dql_type type, const void *from, size_t i) {
    const unsigned bits = dql_x_bits(type);
    const dql_at at = dql_at_element(type, from, i);
    const size_t bit = at.skip * bits, byte = bit / 8, shift = bit % 8;
    unsigned code = read_u8(at.byte, byte);
    if (8 % bits != 0 && shift + bits > 8)
        code |= (unsigned)read_u8(at.byte, byte + 1) << 8;
    return code >> shift & ((1u << bits) - 1);
}

static const float float4e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

DQL_INLINE float f32_from_float6(dql_type type, unsigned code) {
    return f32_from_bits(f32_bits(dql_float6_magnitudes(type)[code & 0x1f]) | (code & 0x20) << 26);
}

DQL_INLINE float f32_from_f16(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00) /* infinity and NaN */
        return f32_from_bits(sign | 0x7f800000 | magnitude << 13);
    if (magnitude >= 0x0400)
        return f32_from_bits(sign | ((magnitude << 13) + ((127 - 15) << 23)));
    return f32_from_bits(sign | f32_bits((float)magnitude * 0x1p-24f)); /* subnormal and zero: in units of 2^-24 */
}

DQL_INLINE float f32_from_bf16(uint16_t b) {
    return f32_from_bits((uint32_t)b << 16);
}

/* 2^(code - 127): the exponent of a float32. The least is a subnormal, the greatest NaN. */
DQL_INLINE float f32_from_e8m0(uint8_t code) {
    return f32_from_bits((uint32_t)code << 23 | (code == 0 || code == 0xff ? 0x400000 : 0));
}

/* value / 2^shift to the nearest integer, ties to even; shift is 1 to 31. */
DQL_INLINE uint32_t shift_right_even(uint32_t value, uint32_t shift) {
    const uint32_t below_half = (1u << (shift - 1)) - 1;
    return (value + below_half + (value >> shift & 1)) >> shift;
}

DQL_INLINE uint16_t f16_from_f32(float f) {
    const uint32_t bits = f32_bits(f), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    uint32_t h;
    /* first what nearly all numbers are: from 2^-14, the smallest normal, to below 2^16; a carry moves on, up to
     * infinity */
    if (magnitude - 0x38800000 < 0x47800000 - 0x38800000)
        h = shift_right_even(magnitude - ((127 - 15) << 23), 13);
    else if (magnitude > 0x7f800000) /* NaN, quiet */
        h = 0x7e00 | (magnitude >> 13 & 0x1ff);
    else if (magnitude >= 0x47800000)
        h = 0x7c00;
    else if (magnitude >= 0x33000000) /* from 2^-25, half the smallest subnormal, on: in units of 2^-24 */
        h = shift_right_even((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23));
    else
        h = 0;
    return (uint16_t)(sign | h);
}

DQL_INLINE uint16_t bf16_from_f32(float f) {
    const uint32_t bits = f32_bits(f);
    if ((bits & 0x7fffffff) > 0x7f800000) /* rounding could turn a NaN into an infinity */
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)shift_right_even(bits, 16);
}

/* Element i as float32: exact, but for int32 beyond 2^24, which is rounded. */
DQL_INLINE float load_element(dql_type type, const void *from, size_t i) {
    switch ((int)type) {
    case DQL_INT8: return read_i8(from, i);
    case DQL_UINT8: return read_u8(from, i);
    case DQL_INT16: return read_i16(from, i);
    case DQL_UINT16: return read_u16(from, i);
    case DQL_INT32: return (float)read_i32(from, i);
    case DQL_INT4: return (float)((int)(read_code(DQL_INT4, from, i) ^ 8) - 8);
    case DQL_UINT4: return (float)read_code(DQL_UINT4, from, i);
    case DQL_FLOAT8E4M3FN: return dql_float8e4m3fn[read_u8(from, i)];
    case DQL_FLOAT8E4M3FNUZ: return dql_float8e4m3fnuz[read_u8(from, i)];
    case DQL_FLOAT8E5M2: return dql_float8e5m2[read_u8(from, i)];
    case DQL_FLOAT8E5M2FNUZ: return dql_float8e5m2fnuz[read_u8(from, i)];
    case DQL_FLOAT4E2M1: return float4e2m1[read_code(DQL_FLOAT4E2M1, from, i)];
    case DQL_FLOAT6E2M3: return f32_from_float6(DQL_FLOAT6E2M3, read_code(DQL_FLOAT6E2M3, from, i));
    case DQL_FLOAT6E3M2: return f32_from_float6(DQL_FLOAT6E3M2, read_code(DQL_FLOAT6E3M2, from, i));
    case DQL_INT2: return (float)((int)(read_code(DQL_INT2, from, i) ^ 2) - 2);
    case DQL_UINT2: return (float)read_code(DQL_UINT2, from, i);
    case DQL_FLOAT32: return read_f32(from, i);
    case DQL_FLOAT16: return f32_from_f16(read_u16(from, i));
    case DQL_BFLOAT16: return f32_from_bf16(read_u16(from, i));
    case DQL_FLOAT8E8M0: return f32_from_e8m0(read_u8(from, i));
    default: return 0; /* not reached: the table has no function for other types */
    }
}

/* Element i = value, rounded to nearest, ties to even. */
DQL_INLINE void store_element(dql_type type, void *to, size_t i, float value) {
    uint16_t half;
    switch ((int)type) {
    case DQL_FLOAT32: memcpy((char *)to + i * sizeof value, &value, sizeof value); return;
    case DQL_FLOAT16: half = f16_from_f32(value); break;
    case DQL_BFLOAT16: half = bf16_from_f32(value); break;
    default: return;
    }
    memcpy((char *)to + i * sizeof half, &half, sizeof half);
}

#endif
