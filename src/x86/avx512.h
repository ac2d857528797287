/* AVX-512 F, BW, DQ, VL: 16 lanes, masks for what is less. Included by the files of the ISAs that are made of it. */
#ifndef DQL_X86_AVX512_H
#define DQL_X86_AVX512_H

#include "bytes.h"
#include "float6_magnitudes.h"

#include <immintrin.h>
#include <string.h>

typedef __m512 vf32; /* raw lanes of integers are int32, but those of at most 16 codes float32 */
#define LANES ((size_t)16)

/* f in every lane, for one use: it becomes a part of the instruction that uses it. */
DQL_INLINE vf32 splat_once(float f) {
    return _mm512_set1_ps(f);
}

/* From memory VPBROADCASTD leaves the shuffle unit alone, VBROADCASTSS does not (Zen 4). */
DQL_INLINE vf32 splat(float f) {
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return _mm512_castsi512_ps(_mm512_set1_epi32(bits));
}

/* The lanes below n. Where n is the constant LANES, there is no mask in the code. */
DQL_INLINE __mmask16 below(size_t n) {
    return (__mmask16)(0xffffu >> (LANES - n));
}

DQL_INLINE __m128i load_8(const char *p, size_t n) {
    return n == LANES ? _mm_loadu_si128((const __m128i *)p) : _mm_maskz_loadu_epi8(below(n), p);
}

DQL_INLINE __m256i load_16(const char *p, size_t n) {
    return n == LANES ? _mm256_loadu_si256((const __m256i *)p) : _mm256_maskz_loadu_epi16(below(n), p);
}

DQL_INLINE __m512i load_32(const char *p, size_t n) {
    return n == LANES ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi32(below(n), p);
}

/* Codes as they are packed, at most 120 bits of them, or 32 of 4 bits, the first one in the lowest bits. */
DQL_INLINE __m128i load_stream(dql_type type, dql_at at, size_t n) {
    const unsigned bits = dql_x_bits(type);
    const size_t bytes = ((at.skip + n) * bits + 7) / 8;
    if (bits != 4) {
        const bit_place first = place_of_bits(type, at);
        const size_t skipped = (size_t)(first.byte - at.byte);
        const __m128i here = _mm_maskz_loadu_epi8((__mmask16)(0xffffu >> (16 - (bytes - skipped))), first.byte);
        const __m128i shift = _mm_cvtsi32_si128((int)first.shift), back = _mm_cvtsi32_si128(64 - (int)first.shift);
        return _mm_or_si128(_mm_srl_epi64(here, shift), _mm_sll_epi64(_mm_srli_si128(here, 8), back));
    }
    const __m128i here = _mm_maskz_loadu_epi8((__mmask16)(0xffffu >> (bytes < 16 ? 16 - bytes : 0)), at.byte);
    if (at.skip == 0)
        return here;
    const __m128i next = bytes > 16 ? _mm_loadu_si128((const __m128i *)(at.byte + 1)) : _mm_srli_si128(here, 1);
    return _mm_ternarylogic_epi64(_mm_set1_epi8(0x0f), _mm_srli_epi16(here, 4), _mm_slli_epi16(next, 4),
                                  0xca /* a ? b : c */);
}

/* Lane k: code k in its lowest bits, others above. */
DQL_INLINE __m512i spread_16_of_2_bits(__m512i all) {
    return _mm512_srlv_epi32(all, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
}

#ifdef __AVX512VBMI__
DQL_INLINE __m512i spread_16_of_4_bits(__m512i all) {
    const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    return _mm512_multishift_epi64_epi8(places, all);
}
#else
/* Lanes have the half of the codes that theirs is in. */
DQL_INLINE __m512i spread_16_of_4_bits(__m512i halves) {
    return _mm512_srlv_epi32(halves, _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28));
}
#endif

DQL_INLINE __m512i spread_16(dql_type type, __m128i codes) {
    if (dql_x_bits(type) == 2)
        return spread_16_of_2_bits(_mm512_broadcastd_epi32(codes));
#ifdef __AVX512VBMI__
    return spread_16_of_4_bits(_mm512_broadcastq_epi64(codes));
#else
    const __m512i half = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    return spread_16_of_4_bits(_mm512_permutexvar_epi32(half, _mm512_castsi128_si512(codes)));
#endif
}

/* Spreads 16 codes from the start of a pack on: each part comes from memory to its lanes in one instruction. */
DQL_INLINE __m512i spread_whole_16(dql_type type, const char *p) {
    if (dql_x_bits(type) == 2)
        return spread_16_of_2_bits(_mm512_set1_epi32((int)read_32(p)));
#ifdef __AVX512VBMI__
    return spread_16_of_4_bits(_mm512_set1_epi64((long long)read_64(p)));
#else
    return spread_16_of_4_bits(_mm512_mask_set1_epi32(_mm512_set1_epi32((int)read_32(p)), 0xff00, (int)read_32(p + 4)));
#endif
}

/* Codes of at most 4 bits go from their stream to lanes at once: by way of bytes it would take an instruction more. */
DQL_INLINE __m512i load_spread(dql_type type, dql_at at, size_t n) {
    if (n == LANES && at.skip == 0)
        return spread_whole_16(type, at.byte);
    return spread_16(type, load_stream(type, at, n));
}

/* Lane k: code k of 6 bits in its lowest bits, others above. */
DQL_INLINE __m512i spread_16_of_6_bits(__m128i stream) {
    const __m512i order = _mm512_setr_epi32(0x0100, 0x0100, 0x0201, 0x0302, 0x0403, 0x0403, 0x0504, 0x0605, 0x0706,
                                            0x0706, 0x0807, 0x0908, 0x0a09, 0x0a09, 0x0b0a, 0x0c0b);
    const __m512i bytes = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(stream), order);
    return _mm512_srlv_epi32(bytes, _mm512_setr4_epi32(0, 6, 4, 2));
}

/* By their codes in the lowest bits. */
DQL_INLINE vf32 from_float6(dql_type type, __m512i codes) {
    const float *const magnitudes = dql_float6_magnitudes(type);
    const __m512 low = _mm512_loadu_ps(magnitudes), high = _mm512_loadu_ps(magnitudes + LANES);
    const __m512i magnitude = _mm512_castps_si512(_mm512_permutex2var_ps(low, codes, high));
    const __m512i sign = _mm512_set1_epi32((int)0x80000000);
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(magnitude, _mm512_slli_epi32(codes, 26), sign, 0xf8 /* a | (b & c) */));
}

/* Types of 8 bits, at most LANES codes. */
DQL_INLINE __m128i load_codes(dql_type type, dql_at at, size_t n) {
    (void)type;
    return load_8(at.byte, n);
}

/* The values of the 16 codes; of the 4 codes of 2 bits, four times. */
DQL_INLINE vf32 values16(dql_type type) {
    switch ((int)type) {
    case DQL_INT4: return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
    case DQL_UINT4: return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    case DQL_FLOAT4E2M1: return _mm512_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6);
    case DQL_INT2: return _mm512_setr4_ps(0, 1, -2, -1);
    case DQL_UINT2: return _mm512_setr4_ps(0, 1, 2, 3);
    default: return _mm512_setzero_ps(); /* not reached */
    }
}

DQL_INLINE vf32 with_nan(vf32 v, __mmask16 nan) {
    return _mm512_mask_mov_ps(v, nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
}

/* e4m3 is float16 with an exponent bit and seven mantissa bits less and another bias: 2^(15 - bias) times too small. */
DQL_INLINE vf32 from_e4m3(__m128i codes, float unbias, __mmask16 nan) {
    const __m256i w = _mm256_slli_epi16(_mm256_cvtepi8_epi16(codes), 7);
    const __m256i h = _mm256_and_si256(w, _mm256_set1_epi16((short)0xbf80));
    return with_nan(_mm512_mul_ps(_mm512_cvtph_ps(h), splat(unbias)), nan);
}

DQL_INLINE vf32 from_e4m3fn(__m128i codes) {
    const __m128i sign = _mm_set1_epi8((char)0x80);
    return from_e4m3(codes, 0x1p8f, _mm_cmpeq_epi8_mask(_mm_or_si128(codes, sign), _mm_set1_epi8((char)0xff)));
}

DQL_INLINE vf32 from_e4m3fnuz(__m128i codes) {
    return from_e4m3(codes, 0x1p7f, _mm_cmpeq_epi8_mask(codes, _mm_set1_epi8((char)0x80)));
}

/* The upper byte of float16. */
DQL_INLINE vf32 from_e5m2(__m128i codes) {
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(codes), 8));
}

/* float16's exponent 31 has no numbers, so this one goes to float32 by hand: exponents are rebased, the four values of
 * exponent 0 come from a table. */
DQL_INLINE vf32 from_e5m2fnuz(__m128i codes) {
    const __m512i w = _mm512_cvtepi8_epi32(codes), shifted = _mm512_slli_epi32(w, 21);
    const __m512i magnitude = _mm512_and_si512(shifted, _mm512_set1_epi32(0x0fe00000));
    const __m512i rebased = _mm512_add_epi32(magnitude, _mm512_set1_epi32((127 - 16) << 23));
    const __m512i small = _mm512_castps_si512(_mm512_setr4_ps(0, 0x1p-17f, 0x2p-17f, 0x3p-17f));
    const __mmask16 is_small = _mm_testn_epi8_mask(codes, _mm_set1_epi8(0x7c));
    const __m512i number = _mm512_mask_permutexvar_epi32(rebased, is_small, w, small);
    const __m512i sign = _mm512_set1_epi32((int)0x80000000);
    return with_nan(_mm512_castsi512_ps(_mm512_ternarylogic_epi32(number, shifted, sign, 0xf8 /* a | (b & c) */)),
                    _mm_cmpeq_epi8_mask(codes, _mm_set1_epi8((char)0x80)));
}

/* The exponent of float32; the least and the greatest code have a mantissa too. */
DQL_INLINE vf32 from_e8m0(__m128i codes) {
    const __m512i exponents = _mm512_slli_epi32(_mm512_cvtepu8_epi32(codes), 23);
    const __mmask16 ends = _mm_testn_epi8_mask(_mm_add_epi8(codes, _mm_set1_epi8(1)), _mm_set1_epi8((char)0xfe));
    return _mm512_castsi512_ps(_mm512_mask_or_epi32(exponents, ends, exponents, _mm512_set1_epi32(0x400000)));
}

/* Integers become int32, other types float32. */
DQL_INLINE vf32 raw_from_codes(dql_type type, __m128i codes) {
    switch ((int)type) {
    case DQL_INT8: return _mm512_castsi512_ps(_mm512_cvtepi8_epi32(codes));
    case DQL_UINT8: return _mm512_castsi512_ps(_mm512_cvtepu8_epi32(codes));
    case DQL_FLOAT8E4M3FN: return from_e4m3fn(codes);
    case DQL_FLOAT8E4M3FNUZ: return from_e4m3fnuz(codes);
    case DQL_FLOAT8E5M2: return from_e5m2(codes);
    case DQL_FLOAT8E5M2FNUZ: return from_e5m2fnuz(codes);
    case DQL_FLOAT8E8M0: return from_e8m0(codes);
    default: return _mm512_setzero_ps(); /* not reached */
    }
}

DQL_INLINE vf32 load(dql_type type, dql_at at, size_t n) {
    const char *const p = at.byte;
    if (dql_codes(type) <= 16)
        return _mm512_permutexvar_ps(load_spread(type, at, n), values16(type));
    if (dql_bits(type) == 6)
        return from_float6(type, spread_16_of_6_bits(load_stream(type, at, n)));
    if (dql_bits(type) <= 8)
        return raw_from_codes(type, load_codes(type, at, n));
    switch ((int)type) {
    case DQL_INT16: return _mm512_castsi512_ps(_mm512_cvtepi16_epi32(load_16(p, n)));
    case DQL_UINT16: return _mm512_castsi512_ps(_mm512_cvtepu16_epi32(load_16(p, n)));
    case DQL_INT32: return _mm512_castsi512_ps(load_32(p, n));
    case DQL_FLOAT32: return _mm512_castsi512_ps(load_32(p, n));
    case DQL_FLOAT16: return _mm512_cvtph_ps(load_16(p, n));
    case DQL_BFLOAT16: return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_16(p, n)), 16));
    default: return _mm512_setzero_ps(); /* not reached */
    }
}

DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    return dql_is_scale(type) ? with_nan(raw, _mm512_cmp_ps_mask(raw, raw, _CMP_UNORD_Q)) : raw;
}

DQL_INLINE vf32 zero_vector(dql_type type, vf32 words) {
    (void)type;
    return words;
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t word) {
    (void)type;
    return _mm512_castsi512_ps(_mm512_set1_epi32(word));
}

DQL_INLINE vf32 affine(vf32 v, vf32 scale, vf32 zero) {
    return _mm512_mul_ps(_mm512_sub_ps(v, zero), scale);
}

/* Raw integers are subtracted as such, which leaves the float units to the rest. */
DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    if (!dql_is_integer(type))
        return _mm512_mul_ps(raw, scale);
    if (dql_codes(type) <= 16)
        return affine(raw, scale, zero);
    __m512i difference = _mm512_castps_si512(raw);
    if (dql_subtracts(type))
        difference = _mm512_sub_epi32(difference, _mm512_castps_si512(zero));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(difference), scale);
}

/* (in_group + lane) / group_length by a multiplication, which is exact for numbers this small. */
DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t in_group) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i place = _mm512_add_epi32(lane, _mm512_set1_epi32((int)in_group));
    const __m512i inverse = _mm512_set1_epi32((int)(0x7fff / group_length + 1));
    const __m512i index = _mm512_srli_epi32(_mm512_madd_epi16(place, inverse), 15);
    return _mm512_permutexvar_ps(index, _mm512_maskz_loadu_ps(below(n), from));
}

/* Rounds the upper half up by adding a half, less one if that is even: ties to even. No NaN that gets here has a lower
 * half that would carry. */
DQL_INLINE __m512i round_upper(vf32 v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    const __m512i below_half = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(below_half, odd, bits, _mm512_set1_epi32(0x8000));
}

/* The places of upper halves. */
DQL_INLINE __m512i uppers(void) {
    return _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25, 23, 21, 19,
                            17, 15, 13, 11, 9, 7, 5, 3, 1);
}

DQL_INLINE __m256i bf16_from_f32(vf32 v) {
#ifdef ROUNDS_BY_INSTRUCTION /* which makes subnormals 0: its ISA sees to that there are none */
    return (__m256i)_mm512_cvtneps_pbh(v);
#else
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(uppers(), round_upper(v)));
#endif
}

DQL_INLINE __m512i bf16_from_two(vf32 a, vf32 b) {
#ifdef ROUNDS_BY_INSTRUCTION
    return (__m512i)_mm512_cvtne2ps_pbh(b, a);
#else
    const __m512i a_bits = _mm512_castps_si512(a), b_bits = _mm512_castps_si512(b), one = _mm512_set1_epi16(1);
    const __m512i lowers = _mm512_sub_epi16(uppers(), one);
    const __m512i upper = _mm512_permutex2var_epi16(a_bits, uppers(), b_bits);
    const __m512i lower = _mm512_permutex2var_epi16(a_bits, lowers, b_bits);
    const __m512i sticky = _mm512_ternarylogic_epi32(lower, upper, one, 0xf8 /* a | (b & c) */);
    const __mmask32 up = _mm512_cmpgt_epu16_mask(sticky, _mm512_set1_epi16((short)0x8000));
    return _mm512_mask_add_epi16(upper, up, upper, one);
#endif
}

DQL_INLINE void store_16(void *to, size_t i, size_t n, __m256i halves) {
    char *p = (char *)to + 2 * i;
    if (n == LANES)
        _mm256_storeu_si256((__m256i *)p, halves);
    else
        _mm256_mask_storeu_epi16(p, below(n), halves);
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    char *p = (char *)to + 4 * i;
    switch ((int)type) {
    case DQL_FLOAT32:
        if (n == LANES)
            _mm512_storeu_ps(p, v);
        else
            _mm512_mask_storeu_ps(p, below(n), v);
        return;
    case DQL_FLOAT16: store_16(to, i, n, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); return;
    case DQL_BFLOAT16: store_16(to, i, n, bf16_from_f32(v)); return;
    default: return; /* not reached */
    }
}

DQL_INLINE __m512i halves_of_two(dql_type type, vf32 a, vf32 b) {
    if (type == DQL_BFLOAT16)
        return bf16_from_two(a, b);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)),
                              _mm512_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT), 1);
}

enum { CAN_STREAM = true };

/* A whole vector past the caches. */
DQL_INLINE void store_past(dql_type type, void *to, size_t i, vf32 v) {
    __m256i *const halves = (__m256i *)(void *)((char *)to + 2 * i);
    switch ((int)type) {
    case DQL_FLOAT32: _mm512_stream_ps((float *)to + i, v); return;
    case DQL_FLOAT16: _mm256_stream_si256(halves, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); return;
    case DQL_BFLOAT16: _mm256_stream_si256(halves, bf16_from_f32(v)); return;
    default: return; /* not reached */
    }
}

/* Elements [i, i + 2 * LANES). To bfloat16 this takes an instruction less than each vector by itself. */
DQL_INLINE void store_two(dql_type type, void *to, size_t i, vf32 a, vf32 b) {
    if (type == DQL_BFLOAT16) {
        _mm512_storeu_si512((char *)to + 2 * i, bf16_from_two(a, b));
        return;
    }
    store(type, to, i, LANES, a);
    store(type, to, i + LANES, LANES, b);
}

#include "kernel_tail.h"

DQL_INLINE void dequantize_two(dql_type x_type, dql_type y_type, dql_row row, size_t k, vf32 scale, vf32 zero) {
    const vf32 a = load(x_type, dql_at_element(x_type, row.x, row.i + k), LANES),
               b = load(x_type, dql_at_element(x_type, row.x, row.i + k + LANES), LANES);
    store_two(y_type, row.y, k, dequantize_raw(x_type, a, scale, zero), dequantize_raw(x_type, b, scale, zero));
}

/* A group of whole pairs of vectors. */
DQL_INLINE void group_of_twos(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                              const void *tables) {
    (void)count, (void)tables;
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    for (; k < end; k += 2 * LANES)
        dequantize_two(x_type, y_type, row, k, s, z);
}

DQL_INLINE void group_by_two(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                             const void *tables) {
    (void)tables;
    const size_t step = 2 * LANES;
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    for (; k < end && dql_step(x_type, y_type, end - k, count - k, step) == step; k += step)
        dequantize_two(x_type, y_type, row, k, s, z);
    dequantize_tail(x_type, y_type, row, k, end, count);
}

DQL_INLINE void row_by_two(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                           const void *tables) {
    if (group_length % (2 * LANES) == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, group_of_twos, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, group_by_two, tables);
}

/* Computes a panel to bfloat16 two vectors at a time, if its groups gain by it, or returns false. */
DQL_INLINE bool try_by_two(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (y_type != DQL_BFLOAT16 || (group_length % (2 * LANES) && group_length < 8 * LANES))
        return false;
    dql_for_rows(x_type, y_type, panel, group_length, row_by_two, NULL);
    return true;
}

#endif
