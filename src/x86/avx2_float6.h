/* 6-bit floats, 32 elements at a time. To float32 they are decoded, and the factor that ends this goes to the scale. To
 * halves, in groups that are worth it, each of the two bytes of an output is picked from a table of the finished ones
 * of all 32 magnitudes. */
#ifndef DQL_X86_AVX2_FLOAT6_H
#define DQL_X86_AVX2_FLOAT6_H

#include "x86/avx2.h"

#include "float6_magnitudes.h"
#include "kernel_tail.h"
#include "x86/avx2_table16.h"

enum { STEP6 = 32 };

/* Whether the scale times the factor is exact: not if it is too large, or NaN. */
DQL_INLINE bool takes_factor(dql_type type, float scale) {
    const float factor = unbias_of_float6(type);
    return scale * factor / factor == scale;
}

DQL_INLINE vf32 factor_times(dql_type type, float scale) {
    return splat(scale * unbias_of_float6(type));
}

/* A step from the start of a pack on, whose halves have a scale each. The second load ends where the step does. */
DQL_INLINE void store_step6(dql_type x_type, dql_type y_type, const char *x, char *y, vf32 first, vf32 second) {
    const __m128i low = load_bytes(x, 16), high = load_bytes(x + 8, 16);
    const vf32 a = biased_float6(x_type, spread_6_bits(low, 0)), b = biased_float6(x_type, spread_6_bits(high, 4));
    store(y_type, y, 0, LANES, times(a, first));
    store(y_type, y, LANES, LANES, times(b, second));
}

/* ---- finished halves: a step is bound by its five VPSHUFBs, of which Zen 4 does one a cycle ---- */

/* Whether the table is worth its making. Rounding to bfloat16 takes longer. */
DQL_INLINE bool is_finished(dql_type y_type, size_t elements) {
    return y_type == DQL_BFLOAT16 || (y_type == DQL_FLOAT16 && elements >= 64);
}

/* The outputs of magnitudes 0 to 15, and of the others. */
typedef struct table32 {
    table16 small, large;
} table32;

DQL_INLINE table32 make_table32(dql_type x_type, dql_type y_type, float scale) {
    const float *const magnitudes = dql_float6_magnitudes(x_type);
    const vf32 s = splat(scale), small = {_mm256_loadu_ps(magnitudes), _mm256_loadu_ps(magnitudes + 8)},
               large = {_mm256_loadu_ps(magnitudes + 16), _mm256_loadu_ps(magnitudes + 24)};
    return (table32){halves_table16(y_type, times(small, s)), halves_table16(y_type, times(large, s))};
}

/* 32 codes from the start of a pack on, each in the upper bits of a byte, others below. Pairs of them are moved to the
 * upper 12 bits of words. */
DQL_INLINE __m256i load_upper_codes(const char *x) {
    const __m256i order = _mm256_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, /* next lane */
                                           4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15);
    const __m256i stream = _mm256_set_m128i(load_bytes(x + 8, 16), load_bytes(x, 16));
    const __m256i to_top = _mm256_set1_epi32(0x00010010); /* by 4 bits, or 0 */
    const __m256i pairs = _mm256_mullo_epi16(_mm256_shuffle_epi8(stream, order), to_top);
    /* not by VPBLENDVB, of which gcc 12 makes another instruction where char is unsigned */
    const __m256i lower = _mm256_set1_epi16(0x00ff);
    return _mm256_or_si256(_mm256_and_si256(lower, _mm256_srli_epi16(pairs, 2)), _mm256_andnot_si256(lower, pairs));
}

/* What an index picks whose upper bit is set is 0. */
DQL_INLINE __m256i pick_plane(__m256i small, __m256i small_index, __m256i large, __m256i large_index) {
    return _mm256_or_si256(_mm256_shuffle_epi8(small, small_index), _mm256_shuffle_epi8(large, large_index));
}

DQL_INLINE void pick_step6(const table32 *t, const char *x, char *y) {
    const __m256i codes = load_upper_codes(x), sign = _mm256_set1_epi8((char)0x80);
    const __m256i magnitude = _mm256_and_si256(_mm256_srli_epi16(codes, 2), _mm256_set1_epi8(0x1f));
    const __m256i small = _mm256_add_epi8(magnitude, _mm256_set1_epi8(0x70)),
                  large = _mm256_sub_epi8(magnitude, _mm256_set1_epi8(16));
    const __m256i low = pick_plane(t->small.low, small, t->large.low, large);
    const __m256i high =
        _mm256_xor_si256(pick_plane(t->small.high, small, t->large.high, large), _mm256_and_si256(codes, sign));
    const __m256i a = _mm256_unpacklo_epi8(low, high), b = _mm256_unpackhi_epi8(low, high);
    _mm256_storeu_si256((__m256i *)y, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)(y + 32), _mm256_permute2x128_si256(a, b, 0x31));
}

/* ---- groups ---- */

/* A group of whole steps from the start of a pack on. */
DQL_INLINE void group_of_steps6(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    (void)tables;
    const size_t x_step = dql_bytes_of(STEP6, dql_x_bits(x_type)), y_step = STEP6 * dql_y_bytes(y_type);
    const char *x = dql_address(x_type, row.x, row.i + k);
    char *y = row.y + k * dql_y_bytes(y_type);
    if (is_finished(y_type, end - k)) {
        const table32 t = make_table32(x_type, y_type, *row.scale);
        for (; k < end; k += STEP6, x += x_step, y += y_step)
            pick_step6(&t, x, y);
    } else if (takes_factor(x_type, *row.scale)) {
        const vf32 scale = factor_times(x_type, *row.scale);
        for (; k < end; k += STEP6, x += x_step, y += y_step)
            store_step6(x_type, y_type, x, y, scale, scale);
    } else {
        dequantize_tail(x_type, y_type, row, k, end, count);
    }
}

/* Any group. */
DQL_INLINE void group_of_float6(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    const size_t steps = dql_starts_pack(x_type, row.i + k) ? (end - k) / STEP6 * STEP6 : 0;
    group_of_steps6(x_type, y_type, row, k, k + steps, count, tables);
    dequantize_tail(x_type, y_type, row, k + steps, end, count);
}

/* Pairs of groups of 16; the number of elements left. */
DQL_INLINE size_t pairs_of_16(dql_type x_type, dql_type y_type, dql_row *row, size_t count) {
    for (; count >= STEP6 && takes_factor(x_type, row->scale[0]) && takes_factor(x_type, row->scale[1]);
         count -= STEP6) {
        store_step6(x_type, y_type, row->x, row->y, factor_times(x_type, row->scale[0]),
                    factor_times(x_type, row->scale[1]));
        row->x += dql_bytes_of(STEP6, dql_x_bits(x_type));
        row->y += STEP6 * dql_y_bytes(y_type);
        row->scale += 2;
    }
    return count;
}

DQL_INLINE void row_of_float6(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                              const void *tables) {
    if (!dql_starts_pack(x_type, row.i))
        ;
    else if (group_length == 16)
        count = pairs_of_16(x_type, y_type, &row, count);
    else if (group_length == STEP6)
        count = dql_for_whole_groups(x_type, y_type, &row, count, STEP6, group_of_steps6, tables);
    else if (group_length % STEP6 == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, group_of_steps6, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, group_of_float6, tables);
}

/* Types of 6 bits; else false. Zero points are 0. */
DQL_INLINE bool try_float6(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (dql_codes(x_type) != 64)
        return false;
    dql_for_rows(x_type, y_type, panel, group_length, row_of_float6, NULL);
    return true;
}

#endif
