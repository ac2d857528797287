/* float8 types whose decoding ends with a factor, in groups that are worth it: the factor goes to the scale. */
#ifndef DQL_ARM_NEON_FLOAT8_H
#define DQL_ARM_NEON_FLOAT8_H

#include "arm/neon.h"

DQL_INLINE void dequantize_float8_row(dql_type x_type, dql_type y_type, dql_row row, size_t count,
                                      size_t group_length) {
    const float factor = unbias(x_type);
    for (size_t k = 0; k < count; row.scale++) {
        const size_t end = group_length < count - k ? k + group_length : count;
        const float product = *row.scale * factor;
        if (product / factor == *row.scale) {
            const vf32 s = splat(product);
#pragma GCC unroll 4
            for (; end - k >= LANES; k += LANES)
                store(y_type, row.y, k, LANES, times(biased(x_type, load_8(row.x, row.i + k, LANES)), s));
            if (k < end) {
                const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
                store(y_type, row.y, k, n, times(biased(x_type, load_8(row.x, row.i + k, n)), s));
            }
            k = end;
        }
        /* A scale that would be too large or too small is another factor. */
        const vf32 s = splat(*row.scale);
        for (; k < end; k += LANES) {
            const size_t n = end - k < LANES ? end - k : LANES;
            store(y_type, row.y, k, n, times(load(x_type, dql_at_element(x_type, row.x, row.i + k), n), s));
        }
        k = end;
    }
}

DQL_INLINE bool dequantize_float8(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    if (unbias(x_type) == 1 || dql_has_small_rows(y_type, p, group_length, LANES))
        return false;
    dql_row row = dql_first_row(x_type, p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(x_type, y_type, p, &row))
        dequantize_float8_row(x_type, y_type, row, p->count, group_length);
    return true;
}

#endif
