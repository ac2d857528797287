/* NEON of AArch64, as Armv8.0 has it: 16 lanes in four registers, so that elements of 8 bits fill one. NEON has no byte
 * masks: partial vectors are loaded and stored in pieces. */
#ifndef DQL_ARM_NEON_H
#define DQL_ARM_NEON_H

#include "arm/bfloat16_bytes.h"
#include "arm/intrinsics.h"
#include "bytes.h"

#include <string.h>

/* Raw lanes of integers are as narrow as in memory, or bytes: they fill a alone, a and b, or all four. */
typedef struct vf32 {
    float32x4_t a, b, c, d;
} vf32;
#define LANES ((size_t)16)

DQL_INLINE vf32 splat(float f) {
    const float32x4_t v = vdupq_n_f32(f);
    return (vf32){v, v, v, v};
}

/* 16 lanes of 16 bits, and of 32. */
typedef struct u16x16 {
    uint16x8_t a, b;
} u16x16;

typedef struct s32x16 {
    int32x4_t a, b, c, d;
} s32x16;

/* ---- partial reads and writes ----
 *
 * They are rare, but every loop may end with them: called instead of inlined, they make the library 75 KiB smaller, and
 * calls that end with them up to a tenth more instructions. */

#define OUT_OF_LINE static __attribute__((noinline))

DQL_INLINE uint8x16_t bytes_of(uint64_t low, uint64_t high) {
    return vcombine_u8(vcreate_u8(low), vcreate_u8(high));
}

OUT_OF_LINE uint8x16_t load_part_8(const char *p, size_t n) {
    return n <= 8 ? bytes_of(read_bytes(p, n), 0) : bytes_of(read_64(p), read_64(p + n - 8) >> (16 - n) * 8);
}

OUT_OF_LINE uint64_t read_part_2(dql_at at, size_t n) {
    return read_codes(DQL_UINT2, at, n);
}

OUT_OF_LINE uint64_t read_part_4(dql_at at, size_t n) {
    return read_codes(DQL_UINT4, at, n);
}

/* 1 to 64 bytes, in pieces that overlap. */
OUT_OF_LINE void copy_bytes(char *to, const char *from, size_t n) {
    uint8_t *t = (uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;
    if (n > 32) {
        const uint8x16_t a = vld1q_u8(f), b = vld1q_u8(f + 16), c = vld1q_u8(f + n - 32), d = vld1q_u8(f + n - 16);
        vst1q_u8(t, a);
        vst1q_u8(t + 16, b);
        vst1q_u8(t + n - 32, c);
        vst1q_u8(t + n - 16, d);
    } else if (n >= 16) {
        const uint8x16_t a = vld1q_u8(f), b = vld1q_u8(f + n - 16);
        vst1q_u8(t, a);
        vst1q_u8(t + n - 16, b);
    } else if (n >= 8) {
        const uint8x8_t a = vld1_u8(f), b = vld1_u8(f + n - 8);
        vst1_u8(t, a);
        vst1_u8(t + n - 8, b);
    } else if (n >= 4) {
        const uint32_t a = read_32(from), b = read_32(from + n - 4);
        memcpy(to, &a, sizeof a);
        memcpy(to + n - 4, &b, sizeof b);
    } else {
        const char a = from[0], b = from[n / 2], c = from[n - 1];
        to[0] = a;
        to[n / 2] = b;
        to[n - 1] = c;
    }
}

/* ---- elements to lanes ---- */

DQL_INLINE u16x16 load_16(const char *p, size_t n) {
    _Alignas(16) char whole[2 * LANES] = {0};
    if (n < LANES) {
        copy_bytes(whole, p, 2 * n);
        p = whole;
    }
    return (u16x16){vreinterpretq_u16_u8(vld1q_u8((const uint8_t *)p)),
                    vreinterpretq_u16_u8(vld1q_u8((const uint8_t *)p + 16))};
}

DQL_INLINE vf32 load_32(const char *p, size_t n) {
    _Alignas(16) char whole[4 * LANES] = {0};
    if (n < LANES) {
        copy_bytes(whole, p, 4 * n);
        p = whole;
    }
    const uint8_t *b = (const uint8_t *)p;
    return (vf32){vreinterpretq_f32_u8(vld1q_u8(b)), vreinterpretq_f32_u8(vld1q_u8(b + 16)),
                  vreinterpretq_f32_u8(vld1q_u8(b + 32)), vreinterpretq_f32_u8(vld1q_u8(b + 48))};
}

/* The codes of n elements of at most 4 bits, 64 bits of them at most, the first one in the lowest bits. */
DQL_INLINE uint64_t read_packed(dql_type type, dql_at at, size_t n) {
    if (n >= LANES)
        return read_codes(type, at, n);
    return dql_bits(type) == 2 ? read_part_2(at, n) : read_part_4(at, n);
}

/* The two nibbles of each byte, the low one first. */
DQL_INLINE uint8x16_t nibbles_of(uint64_t bytes) {
    const uint8x16_t v = bytes_of(bytes, 0);
    return vzip1q_u8(vandq_u8(v, vdupq_n_u8(0x0f)), vshrq_n_u8(v, 4));
}

/* 16 codes of 6 bits, the first one in the lowest bits. Those that start within a pack are in 13 bytes. */
DQL_INLINE uint8x16_t load_stream(dql_type type, dql_at at, size_t n) {
    if (n == LANES && at.skip == 0)
        return vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(bytes_of(read_64(at.byte), 0)),
                                               vreinterpretq_u64_u8(bytes_of(read_32(at.byte + 8), 0))));
    const bit_place first = place_of_bits(type, at);
    const uint8x16_t bytes = n == LANES ? bytes_of(read_64(first.byte), read_64(first.byte + 5) >> 24)
                                        : load_part_8(first.byte, (first.shift + n * dql_bits(type) + 7) / 8);
    const uint64x2_t here = vreinterpretq_u64_u8(bytes), next = vextq_u64(here, vdupq_n_u64(0), 1);
    return vreinterpretq_u8_u64(vorrq_u64(vshlq_u64(here, vdupq_n_s64(-(int64_t)first.shift)),
                                          vshlq_u64(next, vdupq_n_s64(64 - (int64_t)first.shift))));
}

/* Two codes of 6 bits come to the lowest bits of a word, the second one then to its upper byte. */
DQL_INLINE uint8x16_t codes_of_6_bits(uint8x16_t stream) {
    static const uint8_t order[] = {0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11};
    static const int16_t down[] = {0, -4, 0, -4, 0, -4, 0, -4};
    const uint16x8_t words = vreinterpretq_u16_u8(vqtbl1q_u8(stream, vld1q_u8(order)));
    const uint16x8_t two = vshlq_u16(words, vld1q_s16(down));
    const uint16x8_t spread = vbslq_u16(vdupq_n_u16(0x00ff), two, vshlq_n_u16(two, 2));
    return vandq_u8(vreinterpretq_u8_u16(spread), vdupq_n_u8(0x3f));
}

/* The codes of at most 16 elements, one a byte. A code of 2 bits may have the next element's above it. */
DQL_INLINE uint8x16_t load_codes(dql_type type, dql_at at, size_t n) {
    if (dql_bits(type) == 8)
        return n == LANES ? vld1q_u8((const uint8_t *)at.byte) : load_part_8(at.byte, n);
    if (dql_bits(type) == 6)
        return codes_of_6_bits(load_stream(type, at, n));
    const uint8x16_t nibbles = nibbles_of(read_packed(type, at, n));
    return dql_bits(type) == 4 ? nibbles : vzip1q_u8(nibbles, vshrq_n_u8(nibbles, 2));
}

DQL_INLINE u16x16 zip(uint8x16_t low, uint8x16_t high) {
    return (u16x16){vreinterpretq_u16_u8(vzip1q_u8(low, high)), vreinterpretq_u16_u8(vzip2q_u8(low, high))};
}

DQL_INLINE vf32 from_f16(u16x16 h) {
    return (vf32){f32_from_low_f16(h.a), f32_from_high_f16(h.a), f32_from_low_f16(h.b), f32_from_high_f16(h.b)};
}

DQL_INLINE vf32 from_bf16(u16x16 h) {
    const uint16x8_t zero = vdupq_n_u16(0);
    return (vf32){vreinterpretq_f32_u16(vzip1q_u16(zero, h.a)), vreinterpretq_f32_u16(vzip2q_u16(zero, h.a)),
                  vreinterpretq_f32_u16(vzip1q_u16(zero, h.b)), vreinterpretq_f32_u16(vzip2q_u16(zero, h.b))};
}

DQL_INLINE vf32 times(vf32 v, vf32 factor) {
    return (vf32){vmulq_f32(v.a, factor.a), vmulq_f32(v.b, factor.b), vmulq_f32(v.c, factor.c),
                  vmulq_f32(v.d, factor.d)};
}

/* The codes shifted right with their sign. */
#define SHIFT_SIGNED(codes, n) vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(codes), n))

/* e4m3 is float16 with an exponent bit and seven mantissa bits less and another bias. A NaN gets an exponent of all
 * ones: of e4m3fn the missing bit is enough for that. */
DQL_INLINE u16x16 f16_from_e4m3fn(uint8x16_t codes) {
    const uint8x16_t nan = vceqq_u8(vaddq_u8(codes, codes), vdupq_n_u8(0xfe));
    const uint8x16_t high = vbslq_u8(vdupq_n_u8(0x40), nan, SHIFT_SIGNED(codes, 1));
    return zip(vshlq_n_u8(codes, 7), high);
}

DQL_INLINE u16x16 f16_from_e4m3fnuz(uint8x16_t codes) {
    const uint8x16_t nan = vceqq_u8(codes, vdupq_n_u8(0x80));
    const uint8x16_t high = vandq_u8(SHIFT_SIGNED(codes, 1), vdupq_n_u8(0xbf));
    return zip(vshlq_n_u8(codes, 7), vorrq_u8(high, nan));
}

/* The upper byte of float16. */
DQL_INLINE u16x16 f16_from_e5m2(uint8x16_t codes) {
    return zip(vdupq_n_u8(0), codes);
}

DQL_INLINE uint8x16_t pick_from(const void *table, uint8x16_t index) {
    return vqtbl1q_u8(vld1q_u8(table), index);
}

/* float16's exponent 31 has no numbers. bfloat16 has three exponent bits more and another bias: the exponents are
 * rebased, to one too many. (A subnormal bfloat16 would do where that is wrong, but not if the program flushes these.)
 */
DQL_INLINE u16x16 bf16_from_e5m2fnuz(uint8x16_t codes) {
    const uint8x16_t number = vorrq_u8(vaddq_u8(codes, codes), vshrq_n_u8(codes, 7));
    const uint8x16_t shifted = vandq_u8(SHIFT_SIGNED(codes, 3), vdupq_n_u8(0x8f));
    const uint8x16_t rebased = vaddq_u8(shifted, vdupq_n_u8(0x38));
    return zip(veorq_u8(vshlq_n_u8(codes, 5), pick_from(e5m2fnuz_wrong_low, number)),
               veorq_u8(rebased, pick_from(e5m2fnuz_wrong_high, number)));
}

DQL_INLINE u16x16 bf16_from_e2m1(uint8x16_t codes) {
    return zip(pick_from(e2m1_low, codes), pick_from(e2m1_high, codes));
}

/* The two bytes of halves, of each code of 6 bits. Loops hold them: gcc loads constant ones anew after each store. */
typedef struct table64 {
    uint8x16x4_t low, high;
} table64;

DQL_INLINE table64 bf16_of_float6(dql_type type) {
    return (table64){vld1q_u8_x4(type == DQL_FLOAT6E2M3 ? e2m3_low : e3m2_low),
                     vld1q_u8_x4(type == DQL_FLOAT6E2M3 ? e2m3_high : e3m2_high)};
}

DQL_INLINE u16x16 pick_from_64(const table64 *t, uint8x16_t codes) {
    return zip(vqtbl4q_u8(t->low, codes), vqtbl4q_u8(t->high, codes));
}

DQL_INLINE vf32 from_float6(dql_type type, uint8x16_t codes) {
    const table64 t = bf16_of_float6(type);
    return from_bf16(pick_from_64(&t, codes));
}

/* The exponent of bfloat16. The least is a subnormal, the greatest NaN. */
DQL_INLINE u16x16 bf16_from_e8m0(uint8x16_t codes) {
    const uint8x16_t next = vandq_u8(vaddq_u8(codes, vdupq_n_u8(1)), vdupq_n_u8(0xfe));
    const uint8x16_t ends = vandq_u8(vceqq_u8(next, vdupq_n_u8(0)), vdupq_n_u8(0x40));
    return zip(vorrq_u8(vshlq_n_u8(codes, 7), ends), vshrq_n_u8(codes, 1));
}

/* What float8 numbers are to be multiplied by where their bits were moved to a wider type of another bias. */
DQL_INLINE float unbias(dql_type type) {
    switch ((int)type) {
    case DQL_FLOAT8E4M3FN: return 0x1p8f;
    case DQL_FLOAT8E4M3FNUZ: return 0x1p7f;
    case DQL_FLOAT8E5M2FNUZ: return 0.5f;
    default: return 1;
    }
}

/* 16 of these numbers, wrong by that. */
DQL_INLINE vf32 biased(dql_type type, uint8x16_t codes) {
    switch ((int)type) {
    case DQL_FLOAT8E4M3FN: return from_f16(f16_from_e4m3fn(codes));
    case DQL_FLOAT8E4M3FNUZ: return from_f16(f16_from_e4m3fnuz(codes));
    case DQL_FLOAT8E5M2: return from_f16(f16_from_e5m2(codes));
    case DQL_FLOAT8E5M2FNUZ: return from_bf16(bf16_from_e5m2fnuz(codes));
    default: return splat(0); /* not reached */
    }
}

/* ---- raw lanes ---- */

DQL_INLINE vf32 raw_8(uint8x16_t v) {
    return (vf32){vreinterpretq_f32_u8(v), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
}

DQL_INLINE vf32 raw_16(u16x16 v) {
    return (vf32){vreinterpretq_f32_u16(v.a), vreinterpretq_f32_u16(v.b), vdupq_n_f32(0), vdupq_n_f32(0)};
}

DQL_INLINE u16x16 u16_from_raw(vf32 raw) {
    return (u16x16){vreinterpretq_u16_f32(raw.a), vreinterpretq_u16_f32(raw.b)};
}

DQL_INLINE vf32 raw_32(s32x16 v) {
    return (vf32){vreinterpretq_f32_s32(v.a), vreinterpretq_f32_s32(v.b), vreinterpretq_f32_s32(v.c),
                  vreinterpretq_f32_s32(v.d)};
}

/* 16 codes, as load_codes gives them. The tables of 2 bits have each code's value for whatever is above it. */
DQL_INLINE vf32 raw_from_codes(dql_type type, uint8x16_t codes) {
    static const int8_t int4[] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
    static const int8_t int2[] = {0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1};
    static const int8_t uint2[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    switch ((int)type) {
    case DQL_INT4: return raw_8(pick_from(int4, codes));
    case DQL_INT2: return raw_8(pick_from(int2, codes));
    case DQL_UINT2: return raw_8(pick_from(uint2, codes));
    case DQL_FLOAT4E2M1: return from_bf16(bf16_from_e2m1(codes));
    case DQL_FLOAT6E2M3:
    case DQL_FLOAT6E3M2: return from_float6(type, codes);
    case DQL_FLOAT8E5M2: return biased(type, codes);
    case DQL_FLOAT8E4M3FN:
    case DQL_FLOAT8E4M3FNUZ:
    case DQL_FLOAT8E5M2FNUZ: return times(biased(type, codes), splat(unbias(type)));
    case DQL_FLOAT8E8M0: return from_bf16(bf16_from_e8m0(codes));
    default: return raw_8(codes);
    }
}

DQL_INLINE vf32 load(dql_type type, dql_at at, size_t n) {
    if (dql_bits(type) <= 8)
        return raw_from_codes(type, load_codes(type, at, n));
    if (dql_bits(type) == 32)
        return load_32(at.byte, n);
    const u16x16 v = load_16(at.byte, n);
    return type == DQL_FLOAT16 ? from_f16(v) : type == DQL_BFLOAT16 ? from_bf16(v) : raw_16(v);
}

DQL_INLINE s32x16 minus_s8(int8x16_t v, int8x16_t zero) {
    const int16x8_t low = minus_low_s8(v, zero), high = minus_high_s8(v, zero), none = vdupq_n_s16(0);
    /* an instruction that subtracts 0 is as good as one that only widens */
    return (s32x16){minus_low_s16(low, none), minus_high_s16(low, none), minus_low_s16(high, none),
                    minus_high_s16(high, none)};
}

DQL_INLINE s32x16 minus_u8(uint8x16_t v, uint8x16_t zero) {
    const int16x8_t low = vreinterpretq_s16_u16(minus_low_u8(v, zero)),
                    high = vreinterpretq_s16_u16(minus_high_u8(v, zero)), none = vdupq_n_s16(0);
    return (s32x16){minus_low_s16(low, none), minus_high_s16(low, none), minus_low_s16(high, none),
                    minus_high_s16(high, none)};
}

DQL_INLINE s32x16 minus_s16(u16x16 v, u16x16 zero) {
    const int16x8_t a = vreinterpretq_s16_u16(v.a), zero_a = vreinterpretq_s16_u16(zero.a),
                    b = vreinterpretq_s16_u16(v.b), zero_b = vreinterpretq_s16_u16(zero.b);
    return (s32x16){minus_low_s16(a, zero_a), minus_high_s16(a, zero_a), minus_low_s16(b, zero_b),
                    minus_high_s16(b, zero_b)};
}

DQL_INLINE s32x16 minus_u16(u16x16 v, u16x16 zero) {
    return (s32x16){
        vreinterpretq_s32_u32(minus_low_u16(v.a, zero.a)), vreinterpretq_s32_u32(minus_high_u16(v.a, zero.a)),
        vreinterpretq_s32_u32(minus_low_u16(v.b, zero.b)), vreinterpretq_s32_u32(minus_high_u16(v.b, zero.b))};
}

/* Integers are subtracted as they are widened; of int32 the zero point is 0. */
DQL_INLINE s32x16 difference(dql_type type, vf32 raw, vf32 zero) {
    switch ((int)type) {
    case DQL_INT8:
    case DQL_INT4:
    case DQL_INT2: return minus_s8(vreinterpretq_s8_f32(raw.a), vreinterpretq_s8_f32(zero.a));
    case DQL_UINT8:
    case DQL_UINT4:
    case DQL_UINT2: return minus_u8(vreinterpretq_u8_f32(raw.a), vreinterpretq_u8_f32(zero.a));
    case DQL_INT16: return minus_s16(u16_from_raw(raw), u16_from_raw(zero));
    case DQL_UINT16: return minus_u16(u16_from_raw(raw), u16_from_raw(zero));
    default:
        return (s32x16){vreinterpretq_s32_f32(raw.a), vreinterpretq_s32_f32(raw.b), vreinterpretq_s32_f32(raw.c),
                        vreinterpretq_s32_f32(raw.d)};
    }
}

DQL_INLINE float32x4_t one_nan(float32x4_t v) {
    return vbslq_f32(vceqq_f32(v, v), v, vreinterpretq_f32_u32(vdupq_n_u32(0x7fc00000)));
}

/* Zero points in int32. */
DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    if (dql_is_scale(type))
        return (vf32){one_nan(raw.a), one_nan(raw.b), one_nan(raw.c), one_nan(raw.d)};
    return raw_32(difference(type, raw, splat(0)));
}

/* Zero points as narrow as raw lanes are. */
DQL_INLINE vf32 zero_vector(dql_type type, vf32 words) {
    const u16x16 v = {vuzp1q_u16(vreinterpretq_u16_f32(words.a), vreinterpretq_u16_f32(words.b)),
                      vuzp1q_u16(vreinterpretq_u16_f32(words.c), vreinterpretq_u16_f32(words.d))};
    if (dql_bits(type) == 16)
        return raw_16(v);
    return raw_8(vuzp1q_u8(vreinterpretq_u8_u16(v.a), vreinterpretq_u8_u16(v.b)));
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t word) {
    if (dql_bits(type) == 16)
        return raw_16((u16x16){vdupq_n_u16((uint16_t)word), vdupq_n_u16((uint16_t)word)});
    return raw_8(vdupq_n_u8((uint8_t)word));
}

DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    if (!dql_is_integer(type))
        return times(raw, scale);
    const s32x16 v = difference(type, raw, zero);
    return times((vf32){vcvtq_f32_s32(v.a), vcvtq_f32_s32(v.b), vcvtq_f32_s32(v.c), vcvtq_f32_s32(v.d)}, scale);
}

/* (in_group + lane) / group_length by a multiplication, which is exact for numbers this small. No lane is past 8
 * scales: where group_length is 2, a factor of LANES, in_group is 0. */
DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t in_group) {
    static const int16_t lanes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const int16x8_t inverse = vdupq_n_s16((int16_t)(0x7fff / group_length + 1)), start = vdupq_n_s16((int16_t)in_group);
    const int16x8_t a = vqdmulhq_s16(vaddq_s16(vld1q_s16(lanes), start), inverse);
    const int16x8_t b = vqdmulhq_s16(vaddq_s16(vld1q_s16(lanes + 8), start), inverse);
    /* the first byte of each float, the first two, all four */
    const uint8x16_t bytes = vshlq_n_u8(vuzp1q_u8(vreinterpretq_u8_s16(a), vreinterpretq_u8_s16(b)), 2);
    const u16x16 two = zip(bytes, vorrq_u8(bytes, vdupq_n_u8(1)));
    const uint16x8_t next_a = vorrq_u16(two.a, vdupq_n_u16(0x0202)), next_b = vorrq_u16(two.b, vdupq_n_u16(0x0202));
    uint8_t few[32] = {0};
    if (n < 8) {
        copy_bytes((char *)few, from, 4 * n);
        from = few;
    }
    const uint8x16x2_t scales = {{vld1q_u8(from), vld1q_u8((const uint8_t *)from + 16)}};
    return (vf32){vreinterpretq_f32_u8(vqtbl2q_u8(scales, vreinterpretq_u8_u16(vzip1q_u16(two.a, next_a)))),
                  vreinterpretq_f32_u8(vqtbl2q_u8(scales, vreinterpretq_u8_u16(vzip2q_u16(two.a, next_a)))),
                  vreinterpretq_f32_u8(vqtbl2q_u8(scales, vreinterpretq_u8_u16(vzip1q_u16(two.b, next_b)))),
                  vreinterpretq_f32_u8(vqtbl2q_u8(scales, vreinterpretq_u8_u16(vzip2q_u16(two.b, next_b))))};
}

/* ---- lanes to elements ---- */

/* The upper halves, and 1 more where the lower ones are more than a half, or a half under an odd one: where less 1
 * under an even one they still have their upper bit. No NaN that gets here has a lower half that would carry. */
DQL_INLINE uint16x8_t bf16_from_f32(float32x4_t a, float32x4_t b) {
    const uint16x8_t low = vreinterpretq_u16_f32(a), high = vreinterpretq_u16_f32(b);
    const uint16x8_t upper = vuzp2q_u16(low, high), lower = vuzp1q_u16(low, high);
    const uint16x8_t even = vbicq_u16(vdupq_n_u16(1), upper);
    return vsraq_n_u16(upper, vqsubq_u16(lower, even), 15);
}

/* The lanes as float16 or bfloat16. */
DQL_INLINE u16x16 rounded(dql_type type, vf32 v) {
    if (type == DQL_FLOAT16)
        return (u16x16){f16_from_f32(v.a, v.b), f16_from_f32(v.c, v.d)};
    return (u16x16){bf16_from_f32(v.a, v.b), bf16_from_f32(v.c, v.d)};
}

DQL_INLINE void store_16(char *y, size_t n, u16x16 v) {
    _Alignas(16) char whole[2 * LANES];
    uint8_t *b = (uint8_t *)(n == LANES ? y : whole);
    vst1q_u8(b, vreinterpretq_u8_u16(v.a));
    vst1q_u8(b + 16, vreinterpretq_u8_u16(v.b));
    if (n < LANES)
        copy_bytes(y, whole, 2 * n);
}

DQL_INLINE void store_32(char *y, size_t n, vf32 v) {
    _Alignas(16) char whole[4 * LANES];
    uint8_t *b = (uint8_t *)(n == LANES ? y : whole);
    vst1q_u8(b, vreinterpretq_u8_f32(v.a));
    vst1q_u8(b + 16, vreinterpretq_u8_f32(v.b));
    vst1q_u8(b + 32, vreinterpretq_u8_f32(v.c));
    vst1q_u8(b + 48, vreinterpretq_u8_f32(v.d));
    if (n < LANES)
        copy_bytes(y, whole, 4 * n);
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    if (type == DQL_FLOAT32)
        store_32((char *)to + 4 * i, n, v);
    else
        store_16((char *)to + 2 * i, n, rounded(type, v));
}

/* Nothing here is faster than ordinary stores. */
enum { CAN_STREAM = false };

DQL_INLINE void store_past(dql_type type, void *to, size_t i, vf32 v) {
    store(type, to, i, LANES, v);
}

#endif
