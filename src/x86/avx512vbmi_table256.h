/* Types of 8 bits to halves, over long groups: the finished outputs of all 256 codes, as a plane of low bytes and one
 * of high bytes in four registers each, from which 64 elements at a time pick theirs. */
#ifndef DQL_X86_AVX512VBMI_TABLE256_H
#define DQL_X86_AVX512VBMI_TABLE256_H

#include "x86/avx512vbmi_planes.h"

/* Elements of a group from which on the table is worth its making. (A streamed chunk has 1,024.) */
enum { TABLE256_GROUP = 1000 };

typedef struct table256 {
    __m512i low[4], high[4];
} table256;

DQL_INLINE table256 make_table256(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    _Alignas(64) uint16_t halves[256];
    table256 t;
    finish_halves(x_type, y_type, halves, 256, 0, splat(scale), zero_splat(x_type, zero));
    for (size_t k = 0; k < 4; k++)
        split_halves(halves + 64 * k, &t.low[k], &t.high[k]);
    return t;
}

/* A byte of a plane for each code: the permutation looks at 7 bits of it, the mask is the eighth. */
DQL_INLINE __m512i pick_plane(const __m512i *plane, __m512i codes, __mmask64 upper) {
    return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(plane[0], codes, plane[1]),
                                  _mm512_permutex2var_epi8(plane[2], codes, plane[3]));
}

DQL_INLINE void pick_64(const table256 *t, const char *x, char *y) {
    const __m512i codes = load_for_halves(x);
    const __mmask64 upper = _mm512_movepi8_mask(codes);
    const __m512i low = pick_plane(t->low, codes, upper), high = pick_plane(t->high, codes, upper);
    _mm512_storeu_si512(y, _mm512_unpacklo_epi8(low, high));
    _mm512_storeu_si512(y + 64, _mm512_unpackhi_epi8(low, high));
}

DQL_INLINE void group_by_table256(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                  const void *tables) {
    (void)tables;
    if (end - k >= TABLE256_GROUP) {
        const table256 t = make_table256(x_type, y_type, *row.scale, *row.zero);
        for (; end - k >= 64; k += 64)
            pick_64(&t, row.x + k, row.y + 2 * k);
    }
    dequantize_tail(x_type, y_type, row, k, end, count);
}

/* Integers of 8 bits to halves, if the first group is worth a table; else false. */
DQL_INLINE bool try_table256(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    const bool is_byte = dql_is_integer(x_type) && dql_x_bits(x_type) == 8;
    if (!is_byte || !dql_is_half(y_type) || group_length < TABLE256_GROUP || panel->count < TABLE256_GROUP)
        return false;
    dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_by_table256, NULL);
    return true;
}

#endif
