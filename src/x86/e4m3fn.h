/* float8e4m3fn, as many codes at a time as a register has bytes. Included where STEP8, a size_t, is their number, and
 *
 *     make_decoder()                    a decoder: what all steps need
 *     decode_step(decoder, x)           STEP8 codes: a decoded_step of STEP8 / LANES vectors
 *     store_step(y_type, y, k, decoded, scale, run)
 *                                       stores its vectors from element k on, vector v times scale[v * LANES / run]
 */
#ifndef DQL_X86_E4M3FN_H
#define DQL_X86_E4M3FN_H

#include "kernel_rest.h"

/* One run a step, or several. */
DQL_INLINE void e4m3fn_blocks(dql_type y_type, const decoder *d, dql_row row, size_t count, size_t run) {
    const char *const x = (const char *)row.x + row.i;
    size_t k = 0;
    for (; count - k >= STEP8; k += STEP8, row.scale += STEP8 / run)
        store_step(y_type, row.y, k, decode_step(d, x + k), row.scale, run);
    for (size_t end; k < count; k = end, row.scale++) {
        end = run < count - k ? k + run : count;
        dequantize_rest(DQL_FLOAT8E4M3FN, y_type, row, k, end, count, *row.scale, 0);
    }
}

DQL_INLINE void e4m3fn_runs(dql_type y_type, const decoder *d, dql_row row, size_t count, size_t run) {
    const char *const x = (const char *)row.x + row.i;
    for (size_t k = 0, end; k < count; k = end, row.scale++) {
        end = run < count - k ? k + run : count;
        const float s = *row.scale; /* y may alias it */
        for (; end - k >= STEP8; k += STEP8)
            store_step(y_type, row.y, k, decode_step(d, x + k), &s, STEP8);
        if (k < end)
            dequantize_rest(DQL_FLOAT8E4M3FN, y_type, row, k, end, count, *row.scale, 0);
    }
}

/* For this type in runs that are worth it; else false. Zero points are 0. */
DQL_INLINE bool dequantize_e4m3fn(dql_type x_type, dql_type y_type, const dql_panel *p, size_t run) {
    const bool fits = run < STEP8 ? STEP8 % run == 0 : run % STEP8 == 0 || run >= 4 * STEP8;
    if (x_type != DQL_FLOAT8E4M3FN || !fits || p->count < STEP8 || p->rows * p->count < 4 * STEP8)
        return false;
    const decoder d = make_decoder();
    dql_row row = dql_first_row(p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(y_type, p, &row))
        if (run == 16)
            e4m3fn_blocks(y_type, &d, row, p->count, 16);
        else if (run == 32)
            e4m3fn_blocks(y_type, &d, row, p->count, 32);
        else
            e4m3fn_runs(y_type, &d, row, p->count, run);
    return true;
}

#endif
