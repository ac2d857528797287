/* float8e4m3fn, as many codes at a time as a register has bytes. Included where STEP8, a size_t, is their number, and
 *
 *     make_decoder()                    a decoder: what all steps need
 *     decode_step(decoder, x)           STEP8 codes: a decoded_step of STEP8 / LANES vectors
 *     store_step(y_type, y, k, decoded, scale, group)
 *                                       stores its vectors from element k on, vector v times scale[v * LANES /
 * group_length]
 */
#ifndef DQL_X86_E4M3FN_H
#define DQL_X86_E4M3FN_H

#include "kernel_tail.h"

/* One group a step, or several. */
DQL_INLINE void e4m3fn_blocks(dql_type y_type, const decoder *d, dql_row row, size_t count, size_t group_length) {
    const char *const x = (const char *)row.x + row.i;
    size_t k = 0;
    for (; count - k >= STEP8; k += STEP8, row.scale += STEP8 / group_length)
        store_step(y_type, row.y, k, decode_step(d, x + k), row.scale, group_length);
    for (size_t end; k < count; k = end, row.scale++) {
        end = group_length < count - k ? k + group_length : count;
        dequantize_tail(DQL_FLOAT8E4M3FN, y_type, row, k, end, count, *row.scale, 0);
    }
}

DQL_INLINE void e4m3fn_groups(dql_type y_type, const decoder *d, dql_row row, size_t count, size_t group_length) {
    const char *const x = (const char *)row.x + row.i;
    for (size_t k = 0, end; k < count; k = end, row.scale++) {
        end = group_length < count - k ? k + group_length : count;
        const float s = *row.scale; /* y may alias it */
        for (; end - k >= STEP8; k += STEP8)
            store_step(y_type, row.y, k, decode_step(d, x + k), &s, STEP8);
        if (k < end)
            dequantize_tail(DQL_FLOAT8E4M3FN, y_type, row, k, end, count, *row.scale, 0);
    }
}

/* For this type in groups that are worth it; else false. Zero points are 0. */
DQL_INLINE bool dequantize_e4m3fn(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    const bool fits =
        group_length < STEP8 ? STEP8 % group_length == 0 : group_length % STEP8 == 0 || group_length >= 4 * STEP8;
    if (x_type != DQL_FLOAT8E4M3FN || !fits || p->count < STEP8 || p->rows * p->count < 4 * STEP8)
        return false;
    const decoder d = make_decoder();
    dql_row row = dql_first_row(p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(y_type, p, &row))
        if (group_length == 16)
            e4m3fn_blocks(y_type, &d, row, p->count, 16);
        else if (group_length == 32)
            e4m3fn_blocks(y_type, &d, row, p->count, 32);
        else
            e4m3fn_groups(y_type, &d, row, p->count, group_length);
    return true;
}

#endif
