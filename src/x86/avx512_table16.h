/* Types of at most 16 codes: the finished outputs of all codes of 4 bits in a register, from which each element picks
 * its own. Codes of 2 bits are codes of 4 of which the upper ones don't matter. */
#ifndef DQL_X86_AVX512_TABLE16_H
#define DQL_X86_AVX512_TABLE16_H

#include "x86/avx512.h"

/* The 16 outputs, before they are rounded. Float zero points are 0. */
DQL_INLINE vf32 outputs16(dql_type x_type, float scale, int32_t zero) {
    const vf32 v = values16(x_type), s = splat_once(scale);
    return dql_is_integer(x_type) ? affine(v, s, zero_splat(x_type, zero)) : _mm512_mul_ps(v, s);
}

/* The 16 outputs as halves. */
DQL_INLINE __m256i halves16(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    const vf32 v = outputs16(x_type, scale, zero);
    return y_type == DQL_FLOAT16 ? _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT) : bf16_from_f32(v);
}

/* 16 float32, or 16 halves twice. */
typedef __m512i table16;

DQL_INLINE table16 make_table16(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    return dql_is_half(y_type) ? _mm512_broadcast_i64x4(halves16(x_type, y_type, scale, zero))
                               : _mm512_castps_si512(outputs16(x_type, scale, zero));
}

/* Lane k of 16 bits: code k of 32 in its lowest bits, others above. */
DQL_INLINE __m512i spread_32_of_2_bits(__m512i all) {
#ifdef __AVX512VBMI__
    const __m512i places =
        _mm512_setr_epi32(0x020000, 0x060004, 0x0a0008, 0x0e000c, 0x120010, 0x160014, 0x1a0018, 0x1e001c, 0x220020,
                          0x260024, 0x2a0028, 0x2e002c, 0x320030, 0x360034, 0x3a0038, 0x3e003c);
    return _mm512_multishift_epi64_epi8(places, all);
#else
    const __m512i each = _mm512_set_epi16(3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0,
                                          0, 0, 0, 0, 0, 0);
    const __m512i shifts = _mm512_set4_epi32(0x000e000c, 0x000a0008, 0x00060004, 0x00020000);
    return _mm512_srlv_epi16(_mm512_permutexvar_epi16(each, all), shifts);
#endif
}

#ifdef __AVX512VBMI__
/* Quadwords have the half of the codes that theirs are in. */
DQL_INLINE __m512i spread_32_of_4_bits(__m512i halves) {
    const __m512i places =
        _mm512_setr_epi32(0x040000, 0x0c0008, 0x140010, 0x1c0018, 0x240020, 0x2c0028, 0x340030, 0x3c0038, 0x040000,
                          0x0c0008, 0x140010, 0x1c0018, 0x240020, 0x2c0028, 0x340030, 0x3c0038);
    return _mm512_multishift_epi64_epi8(places, halves);
}
#else
DQL_INLINE __m512i spread_32_of_4_bits(__m128i codes) {
    const __m512i each = _mm512_set_epi16(7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1,
                                          1, 1, 0, 0, 0, 0);
    const __m512i fours = _mm512_permutexvar_epi16(each, _mm512_castsi128_si512(codes));
    return _mm512_srlv_epi16(fours, _mm512_set1_epi64(0x000c000800040000));
}
#endif

DQL_INLINE __m512i spread_32(dql_type type, __m128i codes) {
    if (dql_x_bits(type) == 2)
        return spread_32_of_2_bits(_mm512_broadcastq_epi64(codes));
#ifdef __AVX512VBMI__
    const __m512i half = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
    return spread_32_of_4_bits(_mm512_permutexvar_epi64(half, _mm512_castsi128_si512(codes)));
#else
    return spread_32_of_4_bits(codes);
#endif
}

/* Spreads 32 codes from the start of a pack on, which come from memory to their lanes. */
DQL_INLINE __m512i spread_whole_32(dql_type type, const char *p) {
    if (dql_x_bits(type) == 2)
        return spread_32_of_2_bits(_mm512_set1_epi64((long long)read_64(p)));
#ifdef __AVX512VBMI__
    const __m512i low = _mm512_set1_epi64((long long)read_64(p));
    return spread_32_of_4_bits(_mm512_mask_set1_epi64(low, 0xf0, (long long)read_64(p + 8)));
#else
    return spread_32_of_4_bits(_mm_loadu_si128((const __m128i *)p));
#endif
}

/* Elements [k, k + n) of a row, n at most 16 of float32 or 32 of halves. */
DQL_INLINE void pick(dql_type x_type, dql_type y_type, table16 table, dql_row row, size_t k, size_t n) {
    const __m128i codes = load_stream(x_type, dql_at_element(x_type, row.x, row.i + k), n);
    if (!dql_is_half(y_type)) {
        const __m512i outputs = _mm512_permutexvar_epi32(spread_16(x_type, codes), table);
        store(y_type, row.y, k, n, _mm512_castsi512_ps(outputs));
        return;
    }
    const __m512i halves = _mm512_permutexvar_epi16(spread_32(x_type, codes), table);
    if (n == 32)
        _mm512_storeu_si512(row.y + 2 * k, halves);
    else
        _mm512_mask_storeu_epi16(row.y + 2 * k, 0xffffffffu >> (32 - n), halves);
}

/* Elements from the start of a pack on: 16 of float32, or 32 of halves. */
DQL_INLINE void pick_whole(dql_type x_type, dql_type y_type, table16 table, const char *x, char *y, size_t k) {
    if (!dql_is_half(y_type))
        _mm512_storeu_si512(y + 4 * k, _mm512_permutexvar_epi32(spread_whole_16(x_type, x), table));
    else
        _mm512_storeu_si512(y + 2 * k, _mm512_permutexvar_epi16(spread_whole_32(x_type, x), table));
}

/* Lane k of 16 bits: code k of 16 in its lowest bits, others above. */
DQL_INLINE __m256i spread_16_halves(dql_type type, uint64_t codes) {
    const bool two = dql_x_bits(type) == 2;
#ifdef __AVX512VBMI__
    const __m256i places =
        two ? _mm256_setr_epi32(0x020000, 0x060004, 0x0a0008, 0x0e000c, 0x120010, 0x160014, 0x1a0018, 0x1e001c)
            : _mm256_setr_epi32(0x040000, 0x0c0008, 0x140010, 0x1c0018, 0x240020, 0x2c0028, 0x340030, 0x3c0038);
    return _mm256_multishift_epi64_epi8(places, _mm256_set1_epi64x((long long)codes));
#else
    const __m256i each = two ? _mm256_setr_epi32(0, 0, 0, 0, 0x10001, 0x10001, 0x10001, 0x10001)
                             : _mm256_setr_epi32(0, 0, 0x10001, 0x10001, 0x20002, 0x20002, 0x30003, 0x30003);
    const __m256i shifts =
        two ? _mm256_setr_epi32(0x020000, 0x060004, 0x0a0008, 0x0e000c, 0x020000, 0x060004, 0x0a0008, 0x0e000c)
            : _mm256_set1_epi64x(0x000c000800040000);
    const __m256i all = _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)codes));
    return _mm256_srlv_epi16(_mm256_permutexvar_epi16(each, all), shifts);
#endif
}

/* The elements of a pick. */
DQL_INLINE size_t step16(dql_type y_type) {
    return dql_is_half(y_type) ? 32 : 16;
}

/* A group of 16 from the start of a pack on, to halves. */
DQL_INLINE void group_of_16(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                            const void *tables) {
    (void)end, (void)count, (void)tables;
    const char *const x = dql_address(x_type, row.x, k);
    const __m256i table = halves16(x_type, y_type, *row.scale, *row.zero);
    const __m256i index = spread_16_halves(x_type, dql_x_bits(x_type) == 2 ? read_32(x) : read_64(x));
    store_16(row.y, k, LANES, _mm256_permutexvar_epi16(index, table));
}

/* A group of whole picks from the start of a pack on. */
DQL_INLINE void group_of_picks(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                               const void *tables) {
    (void)count, (void)tables;
    const size_t step = step16(y_type);
    const table16 table = make_table16(x_type, y_type, *row.scale, *row.zero);
    const char *x = dql_address(x_type, row.x, k);
#pragma GCC unroll 2
    for (; k < end; k += step, x += dql_bytes_of(step, dql_x_bits(x_type)))
        pick_whole(x_type, y_type, table, x, row.y, k);
}

DQL_INLINE void group_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *tables) {
    (void)tables;
    const size_t step = step16(y_type);
    const table16 table = make_table16(x_type, y_type, *row.scale, *row.zero);
    if (dql_starts_pack(x_type, row.i + k))
        for (; k < end && count - k >= step; k += step)
            pick_whole(x_type, y_type, table, dql_address(x_type, row.x, row.i + k), row.y, k);
    for (; k < end && count - k >= step; k += step)
        pick(x_type, y_type, table, row, k, step);
    for (; k < end && end - k >= 16; k += 16)
        pick(x_type, y_type, table, row, k, 16);
    if (k < end)
        pick(x_type, y_type, table, row, k, end - k);
}

DQL_INLINE void row_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                               const void *tables) {
    if (!dql_starts_pack(x_type, row.i))
        ;
    else if (group_length == 16)
        count = dql_for_whole_groups(x_type, y_type, &row, count, 16,
                                     dql_is_half(y_type) ? group_of_16 : group_of_picks, tables);
    else if (group_length == 32)
        count = dql_for_whole_groups(x_type, y_type, &row, count, 32, group_of_picks, tables);
    else if (group_length % step16(y_type) == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, group_of_picks, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, group_by_table16, tables);
}

/* Types of at most 16 codes, in groups that are worth a table; else false. */
DQL_INLINE bool try_table16(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (dql_codes(x_type) > 16 || dql_has_small_rows(y_type, panel, group_length, LANES))
        return false;
    dql_for_rows(x_type, y_type, panel, group_length, row_by_table16, NULL);
    return true;
}

#endif
