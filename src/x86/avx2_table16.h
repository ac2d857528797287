/* Types of at most 16 codes, 32 elements at a time: of the two bytes that an output begins with, each is picked from a
 * table of the 16 codes. For halves these are the finished outputs of a group; for float32 they are the upper half of
 * the difference from its zero point, which is a bfloat16, and the scale is still to come. Codes of 2 bits are first
 * spread to nibbles: those of 4 bits of which the upper two don't matter. */
#ifndef DQL_X86_AVX2_TABLE16_H
#define DQL_X86_AVX2_TABLE16_H

#include "kernel_drivers.h"
#include "x86/avx2.h"
#include "x86/avx2_differences.h"

/* What all elements of a group have in common: 16 low bytes and 16 high bytes, each twice; of float32 the scale too. */
typedef struct table16 {
    __m256i low, high;
    __m256 scale;
} table16;

enum { STEP16 = 32 };

DQL_INLINE __m256i twice(const void *p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* The place of the difference of code 0. */
DQL_INLINE size_t first_difference(int32_t zero) {
    return (size_t)(-LEAST_DIFFERENCE - zero);
}

DQL_INLINE vf32 four_times(__m128 v) {
    const __m256 both = _mm256_set_m128(v, v);
    return (vf32){both, both};
}

/* What the 16 codes mean, less the zero point; the 4 codes of 2 bits, four times. */
DQL_INLINE vf32 values16_minus_zero(dql_type x_type, int32_t zero) {
    const float *const first = differences + first_difference(zero);
    switch ((int)x_type) {
    case DQL_INT4: return (vf32){_mm256_loadu_ps(first), _mm256_loadu_ps(first - 8)};
    case DQL_UINT4: return (vf32){_mm256_loadu_ps(first), _mm256_loadu_ps(first + 8)};
    case DQL_FLOAT4E2M1:
        return (vf32){_mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6),
                      _mm256_setr_ps(-0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6)};
    case DQL_INT2: return four_times(_mm_shuffle_ps(_mm_loadu_ps(first - 2), _mm_loadu_ps(first - 2), 0x4e));
    case DQL_UINT2: return four_times(_mm_loadu_ps(first));
    default: return splat(0); /* not reached */
    }
}

/* The outputs, before they are rounded to halves. */
DQL_INLINE vf32 outputs16(dql_type x_type, float scale, int32_t zero) {
    return times(values16_minus_zero(x_type, zero), splat(scale));
}

/* `order` takes lower and upper bytes of halves apart within 128 bits. */
DQL_INLINE table16 f16_table16(vf32 v) {
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    const __m256i bytes = _mm256_shuffle_epi8(f16_from_f32(v), repeat(order));
    return (table16){.low = _mm256_permute4x64_epi64(bytes, 0x88), .high = _mm256_permute4x64_epi64(bytes, 0xdd)};
}

DQL_INLINE table16 bf16_table16(vf32 v) {
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
    const __m256i bytes = _mm256_shuffle_epi8(bf16_interleaved(v), repeat(order));
    const __m256i low = _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5), high = _mm256_setr_epi32(2, 6, 3, 7, 2, 6, 3, 7);
    return (table16){.low = _mm256_permutevar8x32_epi32(bytes, low), .high = _mm256_permutevar8x32_epi32(bytes, high)};
}

DQL_INLINE table16 f32_table16(dql_type x_type, float scale, int32_t zero) {
    table16 r;
    if (x_type == DQL_INT4)
        r = (table16){.low = twice(int4_low[zero + 8]), .high = twice(int4_high[zero + 8])};
    else if (x_type == DQL_UINT4)
        r = (table16){.low = twice(uint4_low[zero]), .high = twice(uint4_high[zero])};
    else
        r = bf16_table16(values16_minus_zero(x_type, zero));
    r.scale = _mm256_set1_ps(scale);
    return r;
}

DQL_INLINE table16 halves_table16(dql_type y_type, vf32 outputs) {
    return y_type == DQL_FLOAT16 ? f16_table16(outputs) : bf16_table16(outputs);
}

DQL_INLINE table16 make_table16(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    return dql_is_half(y_type) ? halves_table16(y_type, outputs16(x_type, scale, zero))
                               : f32_table16(x_type, scale, zero);
}

DQL_INLINE __m128i nibbles_from_2_bits(__m128i codes) {
    const __m128i four = _mm_unpacklo_epi8(codes, _mm_srli_epi16(codes, 4)), low = _mm_set1_epi8(0x0f);
    return _mm_or_si128(_mm_and_si128(four, low), _mm_andnot_si128(low, _mm_slli_epi16(four, 2)));
}

/* 32 codes as nibbles, the first one in the lowest: STEP16 of them from the start of a pack on, twice. */
DQL_INLINE __m256i load_whole_nibbles(dql_type type, const char *p) {
    if (dql_x_bits(type) == 4)
        return twice(p);
    return repeat(nibbles_from_2_bits(_mm_loadl_epi64((const __m128i *)p)));
}

/* n codes as nibbles, at most STEP16, from any element on. */
DQL_INLINE __m128i load_nibbles(dql_type type, dql_at at, size_t n) {
    if (dql_x_bits(type) == 2)
        return nibbles_from_2_bits(_mm_cvtsi64_si128((long long)read_codes(type, at, n)));
    const __m128i here = n == STEP16 ? load_bytes(at.byte, 16) : load_bytes(at.byte, (at.skip + n + 1) / 2);
    if (at.skip == 0)
        return here;
    const __m128i next = n == STEP16 ? load_bytes(at.byte + 1, 16) : _mm_srli_si128(here, 1);
    const __m128i low = _mm_and_si128(_mm_srli_epi16(here, 4), _mm_set1_epi8(0x0f));
    return _mm_or_si128(low, _mm_andnot_si128(_mm_set1_epi8(0x0f), _mm_slli_epi16(next, 4)));
}

DQL_INLINE __m256i lower_nibbles(__m256i bytes) {
    return _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
}

DQL_INLINE void store_halves(const table16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
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
DQL_INLINE vf32 scale_halves(const table16 *r, __m256i halves) {
    const vf32 v =
        raw_ints(_mm256_slli_epi32(halves, 16), _mm256_and_si256(halves, _mm256_set1_epi32((int)0xffff0000)));
    return times(v, (vf32){r->scale, r->scale});
}

DQL_INLINE void store_floats(const table16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
    /* so that interleaved bytes are halves of which the even ones are in order, and the odd ones */
    const __m256i order = _mm256_setr_epi8(0, 4, 0, 4, 1, 5, 1, 5, 8, 12, 8, 12, 9, 13, 9, 13, /* next lane */
                                           2, 6, 2, 6, 3, 7, 3, 7, 10, 14, 10, 14, 11, 15, 11, 15);
    const __m256i pairs = _mm256_shuffle_epi8(nibbles, order);
    const __m256i codes = lower_nibbles(_mm256_blend_epi16(pairs, _mm256_srli_epi16(pairs, 4), 0xaa));
    const __m256i low = _mm256_shuffle_epi8(r->low, codes), high = _mm256_shuffle_epi8(r->high, codes);
    const vf32 first = scale_halves(r, _mm256_unpacklo_epi8(low, high));
    if (n <= 16) {
        store_32(y, k, n, first);
    } else {
        store_32(y, k, 16, first);
        store_32(y, k + 16, n - 16, scale_halves(r, _mm256_unpackhi_epi8(low, high)));
    }
}

DQL_INLINE void store_outputs(dql_type y_type, const table16 *r, __m256i nibbles, void *y, size_t k, size_t n) {
    if (!dql_is_half(y_type))
        store_floats(r, nibbles, y, k, n);
    else
        store_halves(r, nibbles, y, k, n);
}

/* A group of whole steps from the start of a pack on. */
DQL_INLINE void group_of_steps(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                               const void *tables) {
    (void)count, (void)tables;
    const table16 t = make_table16(x_type, y_type, *row.scale, *row.zero);
    const char *x = dql_address(x_type, row.x, k);
    for (; k < end; k += STEP16, x += dql_bytes_of(STEP16, dql_x_bits(x_type)))
        store_outputs(y_type, &t, load_whole_nibbles(x_type, x), row.y, k, STEP16);
}

/* Any group. */
DQL_INLINE void group_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *tables) {
    (void)tables;
    const table16 t = make_table16(x_type, y_type, *row.scale, *row.zero);
    for (; k < end && count - k >= STEP16; k += STEP16)
        store_outputs(y_type, &t, repeat(load_nibbles(x_type, dql_at_element(x_type, row.x, row.i + k), STEP16)), row.y,
                      k, STEP16);
    if (k < end)
        store_outputs(y_type, &t, repeat(load_nibbles(x_type, dql_at_element(x_type, row.x, row.i + k), end - k)),
                      row.y, k, end - k);
}

/* Lane k: the output of code k of 4 bits. Its upper bit, at the top of the lane, chooses between two permutations. */
DQL_INLINE __m256 pick_8(dql_type type, vf32 outputs, uint32_t codes) {
    const __m256i low =
        _mm256_srlv_epi32(_mm256_set1_epi32((int)codes), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(outputs.a, low), _mm256_permutevar8x32_ps(outputs.b, low),
                            _mm256_castsi256_ps(spread_8(type, codes)));
}

/* The outputs of 16 codes of 2 bits, from the four that each half of a register has. */
DQL_INLINE vf32 pick_16(__m256 outputs, uint32_t codes) {
    const __m256i all = _mm256_set1_epi32((int)codes);
    const __m256i a = _mm256_srlv_epi32(all, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    const __m256i b = _mm256_srlv_epi32(all, _mm256_setr_epi32(16, 18, 20, 22, 24, 26, 28, 30));
    return (vf32){_mm256_permutevar_ps(outputs, a), _mm256_permutevar_ps(outputs, b)};
}

/* A group of whole vectors from the start of a pack on, of 2 bits to float32. */
DQL_INLINE void group_of_picks(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                               const void *tables) {
    (void)y_type, (void)count, (void)tables;
    const __m256 outputs = outputs16(x_type, *row.scale, *row.zero).a;
    const char *x = dql_address(x_type, row.x, k);
#pragma GCC unroll 2
    for (; k < end; k += LANES, x += dql_bytes_of(LANES, dql_x_bits(x_type)))
        store_32(row.y, k, LANES, pick_16(outputs, read_32(x)));
}

/* Any group of 2 bits to float32. */
DQL_INLINE void group_by_picking(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *tables) {
    (void)y_type, (void)tables;
    const __m256 outputs = outputs16(x_type, *row.scale, *row.zero).a;
    if (dql_starts_pack(x_type, row.i + k))
        for (; k < end && count - k >= LANES; k += LANES)
            store_32(row.y, k, LANES, pick_16(outputs, read_32(dql_address(x_type, row.x, row.i + k))));
    for (; k < end && count - k >= LANES; k += LANES)
        store_32(row.y, k, LANES,
                 pick_16(outputs, (uint32_t)read_codes(x_type, dql_at_element(x_type, row.x, row.i + k), LANES)));
    if (k < end)
        store_32(row.y, k, end - k,
                 pick_16(outputs, (uint32_t)read_codes(x_type, dql_at_element(x_type, row.x, row.i + k), end - k)));
}

/* A group of 16 from the start of a pack. In float32, of float4e2m1 alone, it is too short for tables of bytes. */
DQL_INLINE void group_of_16(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                            const void *tables) {
    (void)end, (void)count, (void)tables;
    const char *const x = dql_address(x_type, row.x, k);
    if (dql_is_half(y_type)) {
        const table16 t = make_table16(x_type, y_type, *row.scale, *row.zero);
        store_halves(&t, repeat(load_nibbles(x_type, (dql_at){x, 0}, 16)), row.y, k, 16);
    } else {
        const vf32 outputs = outputs16(x_type, *row.scale, *row.zero);
        const uint32_t first = read_8_codes(x_type, x), second = read_8_codes(x_type, x + dql_x_bits(x_type));
        store_32(row.y, k, 16, (vf32){pick_8(x_type, outputs, first), pick_8(x_type, outputs, second)});
    }
}

DQL_INLINE void row_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                               const void *tables) {
    const bool picks = dql_codes(x_type) == 4 && !dql_is_half(y_type);
    const size_t step = picks ? LANES : STEP16;
    dql_group_function *const whole = picks ? group_of_picks : group_of_steps;
    if (!dql_starts_pack(x_type, row.i))
        ;
    else if (group_length == 16)
        count = dql_for_whole_groups(x_type, y_type, &row, count, 16, picks ? group_of_picks : group_of_16, tables);
    else if (group_length == 32)
        count = dql_for_whole_groups(x_type, y_type, &row, count, 32, whole, tables);
    else if (group_length % step == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, whole, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, picks ? group_by_picking : group_by_table16, tables);
}

/* Types of at most 16 codes, in groups that are worth a table; else false. Integers of 4 bits are subtracted in less
 * time than their outputs are picked, if these are few. */
DQL_INLINE bool try_table16(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    const bool is_int4 = dql_is_integer(x_type) && dql_codes(x_type) == 16;
    if (dql_codes(x_type) > 16 || (is_int4 && group_length == 16 && !dql_is_half(y_type)) ||
        dql_has_small_rows(y_type, panel, group_length, LANES))
        return false;
    dql_for_rows(x_type, y_type, panel, group_length, row_by_table16, NULL);
    return true;
}

#endif
