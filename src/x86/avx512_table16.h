/* Types of 4 bits: the finished outputs of all 16 codes in a register, from which each element picks its own. */
#ifndef DQL_X86_AVX512_TABLE16_H
#define DQL_X86_AVX512_TABLE16_H

#include "x86/avx512.h"

/* The outputs: 16 float32, or 16 halves twice. */
DQL_INLINE __m512i table16(dql_type x_type, dql_type y_type, float scale, float zero) {
    const vf32 codes = x_type == DQL_INT4 ? _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1)
                                          : _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const vf32 v = affine(codes, splat(scale), splat(zero));
    if (y_type == DQL_FLOAT32)
        return _mm512_castps_si512(v);
    return _mm512_broadcast_i64x4(y_type == DQL_FLOAT16 ? _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)
                                                        : bf16_from_f32(v));
}

/* Lane k of 32 bits: nibble k in its lowest bits, others above. */
DQL_INLINE __m512i spread_16(uint32_t low, uint32_t high) {
#ifdef __AVX512VBMI__
    const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    return _mm512_multishift_epi64_epi8(places, _mm512_set1_epi64((long long)((uint64_t)high << 32 | low)));
#else
    const __m512i halves = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)low), 0xff00, (int)high);
    return _mm512_srlv_epi32(halves, _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28));
#endif
}

/* Lane k of 16 bits: nibble k of 32 in its lowest bits, others above. */
DQL_INLINE __m512i spread_32(uint64_t low, uint64_t high) {
#ifdef __AVX512VBMI__
    const __m512i places =
        _mm512_setr_epi32(0x040000, 0x0c0008, 0x140010, 0x1c0018, 0x240020, 0x2c0028, 0x340030, 0x3c0038, 0x040000,
                          0x0c0008, 0x140010, 0x1c0018, 0x240020, 0x2c0028, 0x340030, 0x3c0038);
    const __m512i both = _mm512_mask_set1_epi64(_mm512_set1_epi64((long long)low), 0xf0, (long long)high);
    return _mm512_multishift_epi64_epi8(places, both);
#else
    const __m512i each = _mm512_set_epi16(7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1,
                                          1, 1, 0, 0, 0, 0);
    const __m512i words = _mm512_castsi128_si512(_mm_set_epi64x((long long)high, (long long)low));
    return _mm512_srlv_epi16(_mm512_permutexvar_epi16(each, words), _mm512_set1_epi64(0x000c000800040000));
#endif
}

/* Elements [k, k + n) of y, n at most 16 of float32 or 32 of halves. */
DQL_INLINE void pick(dql_type y_type, __m512i table, const void *x, size_t i, void *y, size_t k, size_t n) {
    if (y_type == DQL_FLOAT32) {
        const uint64_t nibbles = read_nibbles(x, i, n);
        const __m512i index = spread_16((uint32_t)nibbles, (uint32_t)(nibbles >> 32));
        store(DQL_FLOAT32, y, k, n, _mm512_castsi512_ps(_mm512_permutexvar_epi32(index, table)));
        return;
    }
    const uint64_t low = read_nibbles(x, i, n < 16 ? n : 16), high = n > 16 ? read_nibbles(x, i + 16, n - 16) : 0;
    const __m512i halves = _mm512_permutexvar_epi16(spread_32(low, high), table);
    char *p = (char *)y + 2 * k;
    if (n == 32)
        _mm512_storeu_si512(p, halves);
    else
        _mm512_mask_storeu_epi16(p, 0xffffffffu >> (32 - n), halves);
}

/* As many as can be, from the start of a byte. */
DQL_INLINE void pick_whole(dql_type y_type, __m512i table, const char *x, void *y, size_t k) {
    if (y_type == DQL_FLOAT32) {
        uint32_t low, high;
        memcpy(&low, x, sizeof low);
        memcpy(&high, x + sizeof low, sizeof high);
        _mm512_storeu_si512((char *)y + 4 * k, _mm512_permutexvar_epi32(spread_16(low, high), table));
    } else {
        uint64_t low, high;
        memcpy(&low, x, sizeof low);
        memcpy(&high, x + sizeof low, sizeof high);
        _mm512_storeu_si512((char *)y + 2 * k, _mm512_permutexvar_epi16(spread_32(low, high), table));
    }
}

/* For runs that are worth a table; else false. */
DQL_INLINE bool dequantize_by_table16(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count,
                                      size_t run, const float *scale, const float *zero) {
    const size_t step = y_type == DQL_FLOAT32 ? 16 : 32;
    if ((x_type != DQL_INT4 && x_type != DQL_UINT4) || run < LANES)
        return false;
    size_t k = 0;
    if (i % 2 == 0 && run % step == 0)
        for (; count - k >= run; scale++, zero++) { /* blocks, without a thought for what might be left */
            const __m512i table = table16(x_type, y_type, *scale, *zero);
            const char *p = (const char *)x + (i + k) / 2;
            for (const size_t end = k + run; k < end; k += step, p += step / 2)
                pick_whole(y_type, table, p, y, k);
        }
    for (; k < count; scale++, zero++) {
        const size_t end = run < count - k ? k + run : count;
        const __m512i table = table16(x_type, y_type, *scale, *zero);
        if ((i + k) % 2 == 0)
            for (; end - k >= step; k += step)
                pick_whole(y_type, table, (const char *)x + (i + k) / 2, y, k);
        for (; end - k >= step; k += step)
            pick(y_type, table, x, i + k, y, k, step);
        for (; end - k >= 16; k += 16)
            pick(y_type, table, x, i + k, y, k, 16);
        if (k < end)
            pick(y_type, table, x, i + k, y, k, end - k);
        k = end;
    }
    return true;
}

#endif
