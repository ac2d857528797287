/* AVX2 and F16C: 16 lanes in two registers, so that elements of 16 bits fill one. AVX2 has no masks of bytes: partial
 * vectors are read and written in pieces. */
#ifndef DQL_X86_AVX2_H
#define DQL_X86_AVX2_H

#include "bytes.h"

#include <immintrin.h>
#include <string.h>

typedef struct vf32 {
    __m256 a, b;
} vf32;
#define LANES ((size_t)16)

/* Raw lanes of integers are int32. */
DQL_INLINE vf32 raw_ints(__m256i a, __m256i b) {
    return (vf32){_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)};
}

DQL_INLINE vf32 splat(float f) {
    return (vf32){_mm256_set1_ps(f), _mm256_set1_ps(f)};
}

/* v in both halves. */
DQL_INLINE __m256i repeat(__m128i v) {
    return _mm256_broadcastsi128_si256(v);
}

/* ---- partial reads and writes ---- */

DQL_INLINE __m128i load_part(const char *p, size_t n) {
    if (n == 16)
        return _mm_loadu_si128((const __m128i *)p);
    if (n <= 8)
        return _mm_cvtsi64_si128((long long)read_bytes(p, n));
    return _mm_set_epi64x((long long)(read_64(p + n - 8) >> (16 - n) * 8), (long long)read_64(p));
}

/* 1 to 16 bytes, zeros above. */
DQL_INLINE __m128i load_bytes(const char *p, size_t n) {
    return n == 16 ? _mm_loadu_si128((const __m128i *)p) : load_part(p, n);
}

/* Not by VMASKMOV: QEMU 7.2 reads what is masked off. */
DQL_INLINE __m256i load_part_of_32(const char *p, size_t n) {
    if (n >= 8)
        return _mm256_loadu_si256((const __m256i *)p);
    if (n >= 4) { /* the first 4 and the last 4, of which some may be the same */
        const __m256i v = _mm256_set_m128i(load_bytes(p + 4 * n - 16, 16), load_bytes(p, 16));
        const __m256i back = _mm256_set_m128i(_mm_set1_epi32((int)(8 - n)), _mm_setzero_si128());
        return _mm256_permutevar8x32_epi32(v, _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), back));
    }
    const __m128i last = _mm_cvtsi32_si128((int)read_32(p + 4 * n - 4));
    if (n == 1)
        return _mm256_zextsi128_si256(last);
    const __m128i first = _mm_loadl_epi64((const __m128i *)p);
    return _mm256_zextsi128_si256(n == 2 ? first : _mm_unpacklo_epi64(first, last));
}

/* 1 to 8 elements of 32 bits, or the first 8 of more. */
DQL_INLINE __m256i load_8_of_32(const void *from, size_t n) {
    return n >= 8 ? _mm256_loadu_si256((const __m256i *)from) : load_part_of_32(from, n);
}

/* The lower n bytes, an even number less than 16. */
DQL_INLINE void store_bytes(char *p, size_t n, __m128i v) {
    if (n & 8) {
        _mm_storel_epi64((__m128i *)p, v);
        v = _mm_unpackhi_epi64(v, v);
        p += 8;
    }
    uint64_t rest = (uint64_t)_mm_cvtsi128_si64(v);
    if (n & 4) {
        memcpy(p, &rest, 4);
        rest >>= 32;
        p += 4;
    }
    if (n & 2)
        memcpy(p, &rest, 2);
}

/* The lower n bytes, an even number less than 32. */
DQL_INLINE void store_bytes_256(char *p, size_t n, __m256i v) {
    if (n & 16) {
        _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(v));
        v = _mm256_permute4x64_epi64(v, 0xee);
        p += 16;
    }
    store_bytes(p, n, _mm256_castsi256_si128(v));
}

/* ---- elements to lanes ---- */

/* 16 lanes of 16 bits. */
typedef struct u16x16 {
    __m128i a, b;
} u16x16;

DQL_INLINE u16x16 load_16(const char *p, size_t n) {
    if (n == LANES)
        return (u16x16){_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)(p + 16))};
    if (n <= 8)
        return (u16x16){load_bytes(p, 2 * n), _mm_setzero_si128()};
    return (u16x16){load_bytes(p, 16), load_bytes(p + 16, 2 * n - 16)};
}

DQL_INLINE vf32 load_32(const char *p, size_t n) {
    if (n <= 8)
        return raw_ints(load_8_of_32(p, n), _mm256_setzero_si256());
    return raw_ints(load_8_of_32(p, 8), load_8_of_32(p + 32, n - 8));
}

DQL_INLINE uint32_t read_16(const char *p) {
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* 8 codes of at most 4 bits from the start of a pack on. */
DQL_INLINE uint32_t read_8_codes(dql_type type, const char *p) {
    return dql_x_bits(type) == 4 ? read_32(p) : read_16(p);
}

/* Lane k: code k of 8, in its highest bits. */
DQL_INLINE __m256i spread_8(dql_type type, uint32_t codes) {
    const int bits = (int)dql_x_bits(type), top = 32 - bits;
    const __m256i shifts = _mm256_setr_epi32(top, top - bits, top - 2 * bits, top - 3 * bits, top - 4 * bits,
                                             top - 5 * bits, top - 6 * bits, top - 7 * bits);
    return _mm256_sllv_epi32(_mm256_set1_epi32((int)codes), shifts);
}

DQL_INLINE __m256 float4_from_upper_bits(__m256i codes) {
    const __m256 magnitudes = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6), sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_permutevar8x32_ps(magnitudes, _mm256_srli_epi32(codes, 28)),
                        _mm256_and_ps(_mm256_castsi256_ps(codes), sign));
}

DQL_INLINE __m256 raw_8(dql_type type, uint32_t codes) {
    const __m256i upper = spread_8(type, codes);
    const int below = 32 - (int)dql_x_bits(type);
    switch ((int)type) {
    case DQL_INT2:
    case DQL_INT4: return _mm256_castsi256_ps(_mm256_srai_epi32(upper, below));
    case DQL_UINT2:
    case DQL_UINT4: return _mm256_castsi256_ps(_mm256_srli_epi32(upper, below));
    case DQL_FLOAT4E2M1: return float4_from_upper_bits(upper);
    default: return _mm256_setzero_ps(); /* not reached */
    }
}

/* Codes of at most 4 bits go to lanes by shifts of the word that they are in: three instructions for 8 integers, where
 * a code a byte would take five. */
DQL_INLINE vf32 load_shifted(dql_type type, dql_at at, size_t n) {
    const unsigned bits = dql_x_bits(type); /* 8 codes are as many bytes */
    if (n == LANES && at.skip == 0)
        return (vf32){raw_8(type, read_8_codes(type, at.byte)), raw_8(type, read_8_codes(type, at.byte + bits))};
    const uint64_t codes = read_codes(type, at, n);
    return (vf32){raw_8(type, (uint32_t)codes), raw_8(type, (uint32_t)(codes >> 8 * bits))};
}

/* Lane k of 16 bits: code k of 6 bits of 16, in its highest bits, others below. They begin at byte `first` of `stream`,
 * a constant: 0 or 4. */
DQL_INLINE __m256i spread_6_bits(__m128i stream, int first) {
    const __m256i order = _mm256_setr_epi8(0, 1, 0, 1, 1, 2, 2, 2, 3, 4, 3, 4, 4, 5, 5, 5, /* next lane */
                                           6, 7, 6, 7, 7, 8, 8, 8, 9, 10, 9, 10, 10, 11, 11, 11);
    const __m256i from = _mm256_add_epi8(order, _mm256_set1_epi8((char)first));
    const __m256i to_top = _mm256_set1_epi64x(0x0100004000100400); /* by 10, 4, 6 and 8 bits */
    return _mm256_mullo_epi16(_mm256_shuffle_epi8(repeat(stream), from), to_top);
}

/* 16 codes of 6 bits, the first one in the lowest bits. Of whole vectors four bytes are read by themselves. */
DQL_INLINE __m128i load_stream(dql_type type, dql_at at, size_t n) {
    if (n == LANES && at.skip == 0)
        return _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)at.byte), (int)read_32(at.byte + 8), 2);
    const bit_place first = place_of_bits(type, at);
    const __m128i here = load_bytes(first.byte, (first.shift + n * dql_x_bits(type) + 7) / 8);
    const __m128i shift = _mm_cvtsi32_si128((int)first.shift), back = _mm_cvtsi32_si128(64 - (int)first.shift);
    return _mm_or_si128(_mm_srl_epi64(here, shift), _mm_sll_epi64(_mm_srli_si128(here, 8), back));
}

DQL_INLINE vf32 raw_16(dql_type type, u16x16 v) {
    return type == DQL_INT16 ? raw_ints(_mm256_cvtepi16_epi32(v.a), _mm256_cvtepi16_epi32(v.b))
                             : raw_ints(_mm256_cvtepu16_epi32(v.a), _mm256_cvtepu16_epi32(v.b));
}

DQL_INLINE vf32 from_bf16(u16x16 h) {
    const vf32 v = raw_16(DQL_UINT16, h);
    return raw_ints(_mm256_slli_epi32(_mm256_castps_si256(v.a), 16), _mm256_slli_epi32(_mm256_castps_si256(v.b), 16));
}

DQL_INLINE vf32 from_f16(u16x16 h) {
    return (vf32){_mm256_cvtph_ps(h.a), _mm256_cvtph_ps(h.b)};
}

DQL_INLINE u16x16 halves_of(__m256i v) {
    return (u16x16){_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)};
}

DQL_INLINE vf32 times(vf32 v, vf32 factor) {
    return (vf32){_mm256_mul_ps(v.a, factor.a), _mm256_mul_ps(v.b, factor.b)};
}

/* e4m3 is float16 with an exponent bit and seven mantissa bits less and another bias: 2^(15 - bias) times too small. A
 * NaN gets an exponent of all ones. */
DQL_INLINE vf32 from_e4m3(__m256i codes, float unbias, __m256i nan) {
    const __m256i h = _mm256_and_si256(_mm256_slli_epi16(codes, 7), _mm256_set1_epi16((short)0xbf80));
    const __m256i with_nan = _mm256_or_si256(h, _mm256_and_si256(nan, _mm256_set1_epi16(0x7e00)));
    return times(from_f16(halves_of(with_nan)), splat(unbias));
}

DQL_INLINE vf32 from_e4m3fn(__m128i codes) {
    const __m256i w = _mm256_cvtepi8_epi16(codes), sign = _mm256_set1_epi16((short)0xff80);
    return from_e4m3(w, 0x1p8f, _mm256_cmpeq_epi16(_mm256_or_si256(w, sign), _mm256_set1_epi16(-1)));
}

DQL_INLINE vf32 from_e4m3fnuz(__m128i codes) {
    const __m256i w = _mm256_cvtepi8_epi16(codes);
    return from_e4m3(w, 0x1p7f, _mm256_cmpeq_epi16(w, _mm256_set1_epi16((short)0xff80)));
}

/* float6, by its codes in the upper bits, is float16 with fewer bits of both kinds and another bias: 2^(15 - bias)
 * times too small. */
DQL_INLINE vf32 biased_float6(dql_type type, __m256i upper) {
    const bool is_e2m3 = type == DQL_FLOAT6E2M3;
    const __m256i h = is_e2m3 ? _mm256_and_si256(_mm256_srai_epi16(upper, 3), _mm256_set1_epi16((short)0x8f80))
                              : _mm256_and_si256(_mm256_srai_epi16(upper, 2), _mm256_set1_epi16((short)0x9f00));
    return from_f16(halves_of(h));
}

DQL_INLINE float unbias_of_float6(dql_type type) {
    return type == DQL_FLOAT6E2M3 ? 0x1p14f : 0x1p12f;
}

/* The upper byte of float16. */
DQL_INLINE vf32 from_e5m2(__m128i codes) {
    const __m128i zero = _mm_setzero_si128();
    return from_f16((u16x16){_mm_unpacklo_epi8(zero, codes), _mm_unpackhi_epi8(zero, codes)});
}

/* float16's exponent 31 has no numbers, so this one becomes bfloat16 by hand: exponents are rebased by adding, to the
 * four values of exponent 0 what makes them right, and to all others the same. */
DQL_INLINE vf32 from_e5m2fnuz(__m128i codes) {
    /* each code twice; in the order that unpacking within 128-bit lanes undoes */
    const __m256i order = _mm256_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 9, 9, 10, 10, 11, 11, /* next lane */
                                           4, 4, 5, 5, 6, 6, 7, 7, 12, 12, 13, 13, 14, 14, 15, 15);
    const __m256i w = _mm256_shuffle_epi8(repeat(codes), order);
    const __m256i magnitude = _mm256_and_si256(_mm256_srli_epi16(w, 3), _mm256_set1_epi16(0x0fe0));
    /* lower bytes for 0, 1, 2, 3, more; from place 8 on the upper ones */
    const __m256i rebase =
        repeat(_mm_setr_epi8(0, (char)0xe0, 0x40, 0x60, (char)0x80, 0, 0, 0, 0, 0x36, 0x37, 0x37, 0x37, 0, 0, 0));
    const __m256i least = _mm256_min_epu8(_mm256_and_si256(w, _mm256_set1_epi8(0x7f)), _mm256_set1_epi8(4));
    const __m256i place = _mm256_or_si256(least, _mm256_set1_epi16(0x0800));
    const __m256i number = _mm256_add_epi16(magnitude, _mm256_shuffle_epi8(rebase, place));
    const __m256i sign = _mm256_set1_epi16((short)0x8000),
                  with_sign = _mm256_or_si256(number, _mm256_and_si256(w, sign));
    const __m256i with_nan = _mm256_or_si256(with_sign, _mm256_cmpeq_epi16(with_sign, sign)); /* for -0 */
    const __m256i zero = _mm256_setzero_si256();
    return raw_ints(_mm256_unpacklo_epi16(zero, with_nan), _mm256_unpackhi_epi16(zero, with_nan));
}

DQL_INLINE vf32 widen_codes(dql_type type, __m128i a, __m128i b) {
    return type == DQL_INT8 ? raw_ints(_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(b))
                            : raw_ints(_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(b));
}

/* The exponent of float32; the least and the greatest code have a mantissa too. */
DQL_INLINE __m256 from_e8m0(__m256i codes) {
    const __m256i next = _mm256_and_si256(_mm256_add_epi32(codes, _mm256_set1_epi32(1)), _mm256_set1_epi32(0xfe));
    const __m256i ends = _mm256_cmpeq_epi32(next, _mm256_setzero_si256());
    return _mm256_castsi256_ps(
        _mm256_or_si256(_mm256_slli_epi32(codes, 23), _mm256_and_si256(ends, _mm256_set1_epi32(0x400000))));
}

DQL_INLINE vf32 from_e8m0_16(__m128i codes) {
    return (vf32){from_e8m0(_mm256_cvtepu8_epi32(codes)),
                  from_e8m0(_mm256_cvtepu8_epi32(_mm_unpackhi_epi64(codes, codes)))};
}

/* Integers become int32, other types float32. */
DQL_INLINE vf32 raw_from_codes(dql_type type, __m128i codes) {
    switch ((int)type) {
    case DQL_INT8:
    case DQL_UINT8: return widen_codes(type, codes, _mm_unpackhi_epi64(codes, codes));
    case DQL_FLOAT8E4M3FN: return from_e4m3fn(codes);
    case DQL_FLOAT8E4M3FNUZ: return from_e4m3fnuz(codes);
    case DQL_FLOAT8E5M2: return from_e5m2(codes);
    case DQL_FLOAT8E5M2FNUZ: return from_e5m2fnuz(codes);
    case DQL_FLOAT8E8M0: return from_e8m0_16(codes);
    default: return splat(0); /* not reached */
    }
}

/* Types of 8 bits, at most LANES codes. */
DQL_INLINE __m128i load_codes(dql_type type, dql_at at, size_t n) {
    (void)type;
    return load_bytes(at.byte, n);
}

DQL_INLINE vf32 load(dql_type type, dql_at at, size_t n) {
    const char *const p = at.byte;
    if (n == LANES && (type == DQL_INT8 || type == DQL_UINT8)) /* from memory, which costs no shuffle */
        return widen_codes(type, _mm_loadl_epi64((const __m128i *)p), _mm_loadl_epi64((const __m128i *)(p + 8)));
    if (dql_codes(type) <= 16)
        return load_shifted(type, at, n);
    if (dql_bits(type) == 6)
        return times(biased_float6(type, spread_6_bits(load_stream(type, at, n), 0)), splat(unbias_of_float6(type)));
    if (dql_bits(type) <= 8)
        return raw_from_codes(type, load_codes(type, at, n));
    switch ((int)type) {
    case DQL_INT16:
    case DQL_UINT16: return raw_16(type, load_16(p, n));
    case DQL_INT32:
    case DQL_FLOAT32: return load_32(p, n);
    case DQL_FLOAT16: return from_f16(load_16(p, n));
    case DQL_BFLOAT16: return from_bf16(load_16(p, n));
    default: return splat(0); /* not reached */
    }
}

DQL_INLINE __m256 one_nan(__m256 v) {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    return dql_is_scale(type) ? (vf32){one_nan(raw.a), one_nan(raw.b)} : raw;
}

DQL_INLINE vf32 zero_vector(dql_type type, vf32 v) {
    (void)type;
    return v;
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t word) {
    (void)type;
    return raw_ints(_mm256_set1_epi32(word), _mm256_set1_epi32(word));
}

/* Integers are subtracted as such, which leaves the float units to the rest. */
DQL_INLINE __m256 difference(dql_type type, __m256 raw, __m256 zero) {
    const __m256i v = _mm256_castps_si256(raw);
    return _mm256_cvtepi32_ps(dql_subtracts(type) ? _mm256_sub_epi32(v, _mm256_castps_si256(zero)) : v);
}

DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    if (dql_is_integer(type))
        raw = (vf32){difference(type, raw.a, zero.a), difference(type, raw.b, zero.b)};
    return times(raw, scale);
}

/* (in_group + lane) / group_length by a multiplication, which is exact for numbers this small. No lane is past 8
 * scales: where group is 2, a factor of LANES, in_group is 0. */
DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t in_group) {
    /* in_group is at most 14 */
    static const int32_t places[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                     15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(places + in_group));
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(places + in_group + 8));
    const __m256i inverse = _mm256_set1_epi32((int)(0x7fff / group_length + 1));
    const __m256 scales = _mm256_castsi256_ps(load_8_of_32(from, n));
    return (vf32){_mm256_permutevar8x32_ps(scales, _mm256_srli_epi32(_mm256_madd_epi16(a, inverse), 15)),
                  _mm256_permutevar8x32_ps(scales, _mm256_srli_epi32(_mm256_madd_epi16(b, inverse), 15))};
}

/* ---- lanes to elements ---- */

/* To bfloat16: lanes of a in even places, those of b in odd ones. Upper halves are rounded up where the lower ones are
 * more than a half, or a half under an odd one. No NaN that gets here has a lower half that would carry. */
DQL_INLINE __m256i bf16_interleaved(vf32 v) {
    const __m256i a = _mm256_castps_si256(v.a), b = _mm256_castps_si256(v.b);
    const __m256i upper = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
    const __m256i lower = _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
    const __m256i above_half = _mm256_xor_si256(lower, _mm256_set1_epi16((short)0x8000)); /* signed */
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi16(1));
    const __m256i up = _mm256_cmpgt_epi16(_mm256_adds_epi16(above_half, odd), _mm256_setzero_si256());
    return _mm256_sub_epi16(upper, up);
}

DQL_INLINE __m256i bf16_from_f32(vf32 v) {
    const __m256i order = repeat(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(bf16_interleaved(v), order), 0xd8);
}

DQL_INLINE __m256i f16_from_f32(vf32 v) {
    return _mm256_set_m128i(_mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT),
                            _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
}

DQL_INLINE void store_16(void *to, size_t i, size_t n, __m256i halves) {
    char *p = (char *)to + 2 * i;
    if (n == LANES)
        _mm256_storeu_si256((__m256i *)p, halves);
    else
        store_bytes_256(p, 2 * n, halves);
}

DQL_INLINE void store_32(void *to, size_t i, size_t n, vf32 v) {
    char *p = (char *)to + 4 * i;
    if (n >= 8) {
        _mm256_storeu_ps((float *)p, v.a);
        if (n == LANES)
            _mm256_storeu_ps((float *)(p + 32), v.b);
        else
            store_bytes_256(p + 32, 4 * n - 32, _mm256_castps_si256(v.b));
    } else {
        store_bytes_256(p, 4 * n, _mm256_castps_si256(v.a));
    }
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    switch ((int)type) {
    case DQL_FLOAT32: store_32(to, i, n, v); return;
    case DQL_FLOAT16: store_16(to, i, n, f16_from_f32(v)); return;
    case DQL_BFLOAT16: store_16(to, i, n, bf16_from_f32(v)); return;
    default: return; /* not reached */
    }
}

enum { CAN_STREAM = true };

/* A whole vector past the caches. */
DQL_INLINE void store_past(dql_type type, void *to, size_t i, vf32 v) {
    __m256i *const halves = (__m256i *)(void *)((char *)to + 2 * i);
    switch ((int)type) {
    case DQL_FLOAT32:
        _mm256_stream_ps((float *)to + i, v.a);
        _mm256_stream_ps((float *)to + i + 8, v.b);
        return;
    case DQL_FLOAT16: _mm256_stream_si256(halves, f16_from_f32(v)); return;
    case DQL_BFLOAT16: _mm256_stream_si256(halves, bf16_from_f32(v)); return;
    default: return; /* not reached */
    }
}

#endif
