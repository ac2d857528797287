/* Types of 4 bits, 32 elements at a time: of the two bytes that an output begins with, each is picked from a table of
 * the 16 codes. For halves these are the finished outputs of a run; for float32 they are the upper half of the
 * difference from its zero point, which is a bfloat16, and the scale is still to come. */
#ifndef DQL_X86_AVX2_TABLE16_H
#define DQL_X86_AVX2_TABLE16_H

#include "x86/avx2.h"

/* What all elements of a run have in common: 16 low bytes and 16 high bytes, each twice; of float32 the scale too. */
typedef struct run16 {
    __m256i low, high;
    __m256 scale;
    bool from_least;
} run16;

enum { STEP16 = 32, LEAST_DIFFERENCE = -15 };

/* All differences of two codes, from -15 to 15, in float32 and as the upper bytes of that. */
static const _Alignas(64) float differences[] = {-15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0,
                                                 1,   2,   3,   4,   5,   6,   7,  8,  9,  10, 11, 12, 13, 14, 15};
static const _Alignas(32) uint8_t differences_low[] = {0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10, 0x00, 0xe0, 0xc0, 0xa0,
                                                       0x80, 0x40, 0x00, 0x80, 0x00, 0x80, 0x00, 0x40, 0x80, 0xa0, 0xc0,
                                                       0xe0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70};
static const _Alignas(32) uint8_t differences_high[] = {
    0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xbf, 0x00,
    0x3f, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41};

DQL_INLINE __m256i twice(const void *p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* bfloat16 of 16 codes: those of a in even places, those of b in odd ones. The upper halves are rounded up where the
 * lower ones are more than a half, or a half and the upper is odd. */
DQL_INLINE __m256i bf16_interleaved(vf32 v) {
    const __m256i a = _mm256_castps_si256(v.a), b = _mm256_castps_si256(v.b);
    const __m256i upper = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
    const __m256i lower = _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
    const __m256i above_half = _mm256_xor_si256(lower, _mm256_set1_epi16((short)0x8000)); /* signed */
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi16(1));
    const __m256i up = _mm256_cmpgt_epi16(_mm256_adds_epi16(above_half, odd), _mm256_setzero_si256());
    return _mm256_sub_epi16(upper, up);
}

/* Two planes of 16 halves. `order`: within 128 bits four low bytes of the first 8 codes, then of the others, then high
 * bytes. */
DQL_INLINE run16 planes16(__m256i halves, __m128i order) {
    const __m256i bytes = _mm256_shuffle_epi8(halves, repeat(order));
    const __m256i low = _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5), high = _mm256_setr_epi32(2, 6, 3, 7, 2, 6, 3, 7);
    return (run16){.low = _mm256_permutevar8x32_epi32(bytes, low), .high = _mm256_permutevar8x32_epi32(bytes, high)};
}

/* The table of float32 begins with the least code, which is 0 or that of -8. */
DQL_INLINE run16 make_run16(dql_type x_type, dql_type y_type, float scale, float zero, bool in_order) {
    const ptrdiff_t other = x_type == DQL_INT4 ? -8 : 8; /* after code 7 */
    const size_t from = (size_t)(-LEAST_DIFFERENCE - (ptrdiff_t)zero);
    const __m256 s = _mm256_set1_ps(scale);
    if (y_type == DQL_FLOAT32) {
        const size_t least = x_type == DQL_INT4 ? from - 8 : from;
        const __m256i low = twice(differences_low + least), high = twice(differences_high + least);
        if (x_type == DQL_INT4 && in_order)
            return (run16){_mm256_shuffle_epi32(low, 0x4e), _mm256_shuffle_epi32(high, 0x4e), s, false};
        return (run16){low, high, s, x_type == DQL_INT4};
    }
    const float *const first = differences + from;
    const vf32 v = times((vf32){_mm256_loadu_ps(first), _mm256_loadu_ps(first + other)}, (vf32){s, s});
    if (y_type == DQL_FLOAT16) {
        const __m128i a = _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT),
                      b = _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT);
        const __m256i bytes = _mm256_shuffle_epi8(
            _mm256_set_m128i(b, a), repeat(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)));
        return (run16){.low = _mm256_permute4x64_epi64(bytes, 0x88), .high = _mm256_permute4x64_epi64(bytes, 0xdd)};
    }
    return planes16(bf16_interleaved(v), _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
}

/* n nibbles from nibble i on, as if they began at a byte. */
DQL_INLINE __m128i load_nibbles(const void *from, size_t i, size_t n) {
    const char *p = (const char *)from + i / 2;
    const __m128i here = n == STEP16 ? load_bytes(p, 16) : load_bytes(p, (i % 2 + n + 1) / 2);
    if (i % 2 == 0)
        return here;
    const __m128i next = n == STEP16 ? load_bytes(p + 1, 16) : _mm_srli_si128(here, 1);
    const __m128i low = _mm_and_si128(_mm_srli_epi16(here, 4), _mm_set1_epi8(0x0f));
    return _mm_or_si128(low, _mm_andnot_si128(_mm_set1_epi8(0x0f), _mm_slli_epi16(next, 4)));
}

/* A byte for each nibble: `order` says from which byte, 0 stays in the lower byte of a word, 1 in the upper */
DQL_INLINE __m256i lower_nibbles(__m256i bytes) {
    return _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
}

DQL_INLINE void store_halves(const run16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
    /* so that interleaving within 128-bit lanes gives elements in order */
    const __m256i order = _mm256_setr_epi8(0, -1, 1, -1, 2, -1, 3, -1, 8, -1, 9, -1, 10, -1, 11, -1, /* next lane */
                                           4, -1, 5, -1, 6, -1, 7, -1, 12, -1, 13, -1, 14, -1, 15, -1);
    const __m256i pairs = _mm256_shuffle_epi8(nibbles, order);
    const __m256i codes = lower_nibbles(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)));
    const __m256i low = _mm256_shuffle_epi8(r->low, codes), high = _mm256_shuffle_epi8(r->high, codes);
    if (n <= 16) {
        store_16(y, k, n, _mm256_unpacklo_epi8(low, high));
    } else {
        store_16(y, k, 16, _mm256_unpacklo_epi8(low, high));
        store_16(y, k + 16, n - 16, _mm256_unpackhi_epi8(low, high));
    }
}

/* Upper halves of float32, in even and in odd places. */
DQL_INLINE vf32 scale_halves(const run16 *r, __m256i halves) {
    const vf32 v =
        raw_ints(_mm256_slli_epi32(halves, 16), _mm256_and_si256(halves, _mm256_set1_epi32((int)0xffff0000)));
    return times(v, (vf32){r->scale, r->scale});
}

DQL_INLINE void store_floats(const run16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
    /* so that interleaved bytes are halves of which the even ones are in order, and the odd ones */
    const __m256i order = _mm256_setr_epi8(0, 4, 0, 4, 1, 5, 1, 5, 8, 12, 8, 12, 9, 13, 9, 13, /* next lane */
                                           2, 6, 2, 6, 3, 7, 3, 7, 10, 14, 10, 14, 11, 15, 11, 15);
    const __m256i pairs = _mm256_shuffle_epi8(nibbles, order);
    __m256i codes = lower_nibbles(_mm256_blend_epi16(pairs, _mm256_srli_epi16(pairs, 4), 0xaa));
    if (r->from_least)
        codes = _mm256_xor_si256(codes, _mm256_set1_epi8(8));
    const __m256i low = _mm256_shuffle_epi8(r->low, codes), high = _mm256_shuffle_epi8(r->high, codes);
    const vf32 first = scale_halves(r, _mm256_unpacklo_epi8(low, high));
    if (n <= 16) {
        store_32(y, k, n, first);
    } else {
        store_32(y, k, 16, first);
        store_32(y, k + 16, n - 16, scale_halves(r, _mm256_unpackhi_epi8(low, high)));
    }
}

DQL_INLINE void store_outputs(dql_type y_type, const run16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
    if (y_type == DQL_FLOAT32)
        store_floats(r, nibbles, y, k, n);
    else
        store_halves(r, nibbles, y, k, n);
}

/* `length` elements from the start of a byte; it is a multiple of `step`, which is one of STEP16. */
DQL_INLINE void dequantize_steps(dql_type y_type, const run16 *r, const char *x, char *y, size_t length, size_t step) {
    const size_t y_size = y_type == DQL_FLOAT32 ? 4 : 2;
    for (size_t k = 0; k < length; k += step, x += step / 2, y += step * y_size) {
        store_outputs(y_type, r, twice(x), y, 0, STEP16);
        if (step == STEP16)
            continue;
        store_outputs(y_type, r, twice(x + 16), y, 32, STEP16);
        store_outputs(y_type, r, twice(x + 32), y, 64, STEP16);
        store_outputs(y_type, r, twice(x + 48), y, 96, STEP16);
    }
}

/* Blocks of whole steps, without a thought for what might be left. */
DQL_INLINE void dequantize_blocks(dql_type x_type, dql_type y_type, const char *x, char *y, size_t blocks, size_t run,
                                  size_t step, const float *scale, const float *zero) {
    const size_t y_size = y_type == DQL_FLOAT32 ? 4 : 2;
    for (size_t b = 0; b < blocks; b++) {
        const run16 r = make_run16(x_type, y_type, scale[b], zero[b], run > STEP16);
        dequantize_steps(y_type, &r, x, y, run, step);
        x += run / 2;
        y += run * y_size;
    }
}

/* For types of 4 bits and runs that are worth it; else false. */
DQL_INLINE bool dequantize_4_bits(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count,
                                  size_t run, const float *scale, const float *zero) {
    if ((x_type != DQL_INT4 && x_type != DQL_UINT4) || run < (y_type == DQL_FLOAT32 ? STEP16 : LANES))
        return false;
    size_t k = 0;
    if (i % 2 == 0 && run == 16) {
        const char *p = (const char *)x + i / 2;
        for (; count - k >= 16; k += 16, scale++, zero++) {
            const run16 r = make_run16(x_type, y_type, *scale, *zero, true);
            store_outputs(y_type, &r, repeat(load_bytes(p + k / 2, 8)), y, k, 16);
        }
    } else if (i % 2 == 0 && run % STEP16 == 0) {
        const char *p = (const char *)x + i / 2;
        const size_t blocks = count / run;
        if (run == STEP16)
            dequantize_blocks(x_type, y_type, p, y, blocks, STEP16, STEP16, scale, zero);
        else if (run % (4 * STEP16) == 0)
            dequantize_blocks(x_type, y_type, p, y, blocks, run, 4 * STEP16, scale, zero);
        else
            dequantize_blocks(x_type, y_type, p, y, blocks, run, STEP16, scale, zero);
        k = blocks * run;
        scale += blocks;
        zero += blocks;
    }
    for (; k < count; scale++, zero++) {
        const size_t end = run < count - k ? k + run : count;
        const run16 r = make_run16(x_type, y_type, *scale, *zero, true);
        for (; end - k >= STEP16; k += STEP16)
            store_outputs(y_type, &r, repeat(load_nibbles(x, i + k, STEP16)), y, k, STEP16);
        if (k < end)
            store_outputs(y_type, &r, repeat(load_nibbles(x, i + k, end - k)), y, k, end - k);
        k = end;
    }
    return true;
}

#endif
