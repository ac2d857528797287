/* float8e4m3fn, 32 codes at a time. */
#ifndef DQL_X86_AVX2_E4M3FN_H
#define DQL_X86_AVX2_E4M3FN_H

#include "x86/avx2.h"

#include "float8_bytes.h"

#define STEP8 ((size_t)32)

/* Upper halves of float32, of which two interleavings make 8 floats in order. */
typedef struct decoded_step {
    __m256i halves[2];
} decoded_step;

DQL_INLINE __m256i table_of(const uint8_t *table) {
    return repeat(_mm_loadu_si128((const __m128i *)table));
}

typedef struct decoder {
    __m256i order, nibble, rebased, wrong_low, wrong_high;
} decoder;

DQL_INLINE decoder make_decoder(void) {
    return (decoder){.order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7),
                     .nibble = _mm256_set1_epi8(0x0f),
                     .rebased = table_of(dql_e4m3_rebased),
                     .wrong_low = table_of(dql_e4m3fn_wrong_low),
                     .wrong_high = table_of(dql_e4m3fn_wrong_high)};
}

DQL_INLINE decoded_step decode_step(const decoder *d, const char *x) {
    const __m256i codes = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)x), d->order);
    const __m256i next = _mm256_and_si256(_mm256_add_epi8(codes, _mm256_set1_epi8(1)), _mm256_set1_epi8(0x7f));
    const __m256i number = _mm256_min_epu8(next, d->nibble);
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(codes, 4), d->nibble);
    const __m256i shifted = _mm256_andnot_si256(d->nibble, _mm256_slli_epi16(codes, 4));
    const __m256i low = _mm256_xor_si256(shifted, _mm256_shuffle_epi8(d->wrong_low, number));
    const __m256i high =
        _mm256_xor_si256(_mm256_shuffle_epi8(d->rebased, upper), _mm256_shuffle_epi8(d->wrong_high, number));
    return (decoded_step){{_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)}};
}

DQL_INLINE vf32 floats_of(__m256i halves) {
    const __m256i zero = _mm256_setzero_si256();
    return raw_ints(_mm256_unpacklo_epi16(zero, halves), _mm256_unpackhi_epi16(zero, halves));
}

DQL_INLINE void store_step(dql_type y_type, void *y, size_t k, decoded_step d, const float *scale,
                           size_t group_length) {
    store(y_type, y, k, LANES, times(floats_of(d.halves[0]), splat(scale[0])));
    store(y_type, y, k + LANES, LANES, times(floats_of(d.halves[1]), splat(scale[LANES / group_length])));
}

#include "x86/e4m3fn.h"

#endif
