/* float8e4m3fn, 64 codes at a time. */
#ifndef DQL_X86_AVX512_E4M3FN_H
#define DQL_X86_AVX512_E4M3FN_H

#include "x86/avx512.h"

#include "float8_bytes.h"

#define STEP8 ((size_t)64)

typedef struct decoded_step {
    vf32 v[4];
} decoded_step;

/* A constant that gcc doesn't make again in each group. */
DQL_INLINE __m512i in_register(__m512i v) {
    __asm__("" : "+v"(v));
    return v;
}

DQL_INLINE __m512i table_of(const uint8_t *table) {
    return in_register(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table)));
}

typedef struct decoder {
    __m512i order, one, magnitude, nibble, rebased, wrong_low, wrong_high;
} decoder;

DQL_INLINE decoder make_decoder(void) {
    return (decoder){
        .order = in_register(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)),
        .one = in_register(_mm512_set1_epi8(1)),
        .magnitude = in_register(_mm512_set1_epi8(0x7f)),
        .nibble = in_register(_mm512_set1_epi8(0x0f)),
        .rebased = table_of(dql_e4m3_rebased),
        .wrong_low = table_of(dql_e4m3fn_wrong_low),
        .wrong_high = table_of(dql_e4m3fn_wrong_high),
    };
}

DQL_INLINE vf32 lower_floats(__m512i upper_halves) {
    return _mm512_castsi512_ps(_mm512_unpacklo_epi16(_mm512_setzero_si512(), upper_halves));
}

DQL_INLINE vf32 upper_floats(__m512i upper_halves) {
    return _mm512_castsi512_ps(_mm512_unpackhi_epi16(_mm512_setzero_si512(), upper_halves));
}

/* Upper halves of float32, of which two interleavings make 16 floats in order. */
DQL_INLINE decoded_step decode_step(const decoder *d, const char *x) {
    const __m512i codes = _mm512_permutexvar_epi32(d->order, _mm512_loadu_si512(x));
    const __m512i next = _mm512_and_si512(_mm512_add_epi8(codes, d->one), d->magnitude);
    const __m512i number = _mm512_min_epu8(next, d->nibble);
    const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(codes, 4), d->nibble);
    const __m512i wrong = _mm512_shuffle_epi8(d->wrong_low, number);
    const __m512i low =
        _mm512_ternarylogic_epi64(wrong, d->nibble, _mm512_slli_epi16(codes, 4), 0xd2 /* a ^ (~b & c) */);
    const __m512i high =
        _mm512_xor_si512(_mm512_shuffle_epi8(d->rebased, upper), _mm512_shuffle_epi8(d->wrong_high, number));
    const __m512i a = _mm512_unpacklo_epi8(low, high), b = _mm512_unpackhi_epi8(low, high);
    return (decoded_step){{lower_floats(a), upper_floats(a), lower_floats(b), upper_floats(b)}};
}

DQL_INLINE void store_step(dql_type y_type, void *y, size_t k, decoded_step d, const float *scale,
                           size_t group_length) {
    store_two(y_type, y, k, _mm512_mul_ps(d.v[0], splat(scale[0])),
              _mm512_mul_ps(d.v[1], splat(scale[LANES / group_length])));
    store_two(y_type, y, k + 2 * LANES, _mm512_mul_ps(d.v[2], splat(scale[2 * LANES / group_length])),
              _mm512_mul_ps(d.v[3], splat(scale[3 * LANES / group_length])));
}

#include "x86/e4m3fn.h"

#endif
