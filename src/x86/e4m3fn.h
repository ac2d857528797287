/* float8e4m3fn, as many codes at a time as a register has bytes. Included where STEP8, a size_t, is their number, and
 *
 *     make_decoder()                    a decoder: what all steps need
 *     decode_step(decoder, x)           STEP8 codes: a decoded_step of STEP8 / LANES vectors
 *     store_step(y_type, y, k, decoded, scale, group_length)
 *                                       stores its vectors from element k on, vector v times
 *                                       scale[v * LANES / group_length]
 *
 * are defined. */
#ifndef DQL_X86_E4M3FN_H
#define DQL_X86_E4M3FN_H

#ifndef STEP8 /* opened by itself, by an editor or a check */
#include "x86/avx2_e4m3fn.h"
#endif
#include "kernel_tail.h"

DQL_INLINE void group_of_e4m3fn(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    const float s = *row.scale; /* y may alias it */
    for (; end - k >= STEP8; k += STEP8)
        store_step(y_type, row.y, k, decode_step(tables, row.x + k), &s, STEP8);
    if (k < end)
        dequantize_tail(x_type, y_type, row, k, end, count);
}

/* Groups of which a step has one or several, or which are longer. */
DQL_INLINE void row_of_e4m3fn(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                              const void *tables) {
    if (STEP8 % group_length == 0)
        for (; count >= STEP8; count -= STEP8) {
            store_step(y_type, row.y, 0, decode_step(tables, row.x), row.scale, group_length);
            row.x += STEP8;
            row.y += STEP8 * dql_y_bytes(y_type);
            row.scale += STEP8 / group_length;
        }
    dql_for_groups(x_type, y_type, row, count, group_length, group_of_e4m3fn, tables);
}

/* For this type in groups that are worth it; else false. Zero points are 0. */
DQL_INLINE bool try_e4m3fn(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    const bool fits =
        group_length < STEP8 ? STEP8 % group_length == 0 : group_length % STEP8 == 0 || group_length >= 4 * STEP8;
    if (x_type != DQL_FLOAT8E4M3FN || !fits || panel->count < STEP8 || panel->rows * panel->count < 4 * STEP8)
        return false;
    const decoder d = make_decoder();
    if (group_length == 16)
        dql_for_rows(x_type, y_type, panel, 16, row_of_e4m3fn, &d);
    else if (group_length == 32)
        dql_for_rows(x_type, y_type, panel, 32, row_of_e4m3fn, &d);
    else
        dql_for_rows(x_type, y_type, panel, group_length, row_of_e4m3fn, &d);
    return true;
}

#endif
