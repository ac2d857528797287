/* Types of 8 bits to halves, over long groups: the finished outputs of all 256 codes, as a plane of low bytes and one
 * of high bytes in four registers each, from which 64 elements at a time pick theirs. */
#ifndef DQL_X86_AVX512VBMI_TABLE256_H
#define DQL_X86_AVX512VBMI_TABLE256_H

#include "x86/avx512vbmi_planes.h"

/* Elements of a group from which on the table is worth its making. (A streamed tile has 1,024.) */
enum { TABLE256_RUN = 1000 };

typedef struct table256 {
    __m512i low[4], high[4];
} table256;

DQL_INLINE table256 make_table256(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    _Alignas(64) uint16_t halves[256];
    table256 t;
    finish_halves(x_type, y_type, halves, 256, splat(scale), zero_splat(x_type, zero));
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

DQL_INLINE void dequantize_row_by_table256(dql_type x_type, dql_type y_type, dql_row row, size_t count,
                                           size_t group_length) {
    for (size_t k = 0, end; k < count; k = end, row.scale++, row.zero++) {
        end = group_length < count - k ? k + group_length : count;
        if (end - k >= TABLE256_RUN) {
            const table256 t = make_table256(x_type, y_type, *row.scale, *row.zero);
            for (; end - k >= 64; k += 64)
                pick_64(&t, (const char *)row.x + row.i + k, row.y + 2 * k);
        }
        dequantize_tail(x_type, y_type, row, k, end, count, *row.scale, *row.zero);
    }
}

/* For these types, if the first group is worth a table; else false. */
DQL_INLINE bool dequantize_by_table256(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    const bool is_byte = dql_is_integer(x_type) && dql_x_bits(x_type) == 8;
    if (!is_byte || y_type == DQL_FLOAT32 || group_length < TABLE256_RUN || p->count < TABLE256_RUN)
        return false;
    dql_row row = dql_first_row(p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(y_type, p, &row))
        dequantize_row_by_table256(x_type, y_type, row, p->count, group_length);
    return true;
}

#endif
