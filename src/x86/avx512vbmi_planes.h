/* Finished halves as planes of bytes, which VBMI picks from with the codes of x as indices. */
#ifndef DQL_X86_AVX512VBMI_PLANES_H
#define DQL_X86_AVX512VBMI_PLANES_H

#include "x86/avx512.h"

/* halves[code ^ flip] = the output of that code of a type of 8 bits, for the first n codes. */
DQL_INLINE void finish_halves(dql_type x_type, dql_type y_type, uint16_t *halves, size_t n, uint8_t flip, vf32 scale,
                              vf32 zero) {
    __m128i codes = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (size_t k = 0; k < n; k += LANES) {
        const __m128i flipped = _mm_xor_si128(codes, _mm_set1_epi8((char)flip));
        store(y_type, halves, k, LANES, dequantize_raw(x_type, raw_from_codes(x_type, flipped), scale, zero));
        codes = _mm_add_epi8(codes, _mm_set1_epi8(16));
    }
}

DQL_INLINE __m512i low_bytes(__m512i a, __m512i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
}

/* The two planes of 64 halves. */
DQL_INLINE void split_halves(const uint16_t *halves, __m512i *low, __m512i *high) {
    const __m512i a = _mm512_load_si512(halves), b = _mm512_load_si512(halves + 32);
    *low = low_bytes(a, b);
    *high = low_bytes(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
}

/* 64 codes, ordered so that interleaving their bytes of the planes within 128-bit lanes gives the halves in order. */
DQL_INLINE __m512i load_for_halves(const char *x) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), _mm512_loadu_si512(x));
}

#endif
