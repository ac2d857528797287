/* float8 types whose decoding ends with a factor, in groups that are worth it: the factor goes to the scale. */
#ifndef DQL_ARM_NEON_FLOAT8_H
#define DQL_ARM_NEON_FLOAT8_H

#include "arm/neon.h"
#include "kernel_tail.h"

DQL_INLINE void float8_vector(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t n, vf32 scale) {
    const uint8x16_t codes = load_codes(x_type, dql_at_element(x_type, row.x, row.i + k), n);
    store(y_type, row.y, k, n, times(biased(x_type, codes), scale));
}

DQL_INLINE void group_of_float8(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    (void)tables;
    const float factor = unbias(x_type), product = *row.scale * factor;
    if (product / factor != *row.scale) { /* too large or too small a scale: the factor stays with the elements */
        dequantize_tail(x_type, y_type, row, k, end, count);
        return;
    }
    const vf32 scale = splat(product);
#pragma GCC unroll 4
    for (; end - k >= LANES; k += LANES)
        float8_vector(x_type, y_type, row, k, LANES, scale);
    if (k < end)
        float8_vector(x_type, y_type, row, k, dql_step(x_type, y_type, end - k, count - k, LANES), scale);
}

/* Computes the panel, or does nothing and returns false. */
DQL_INLINE bool try_float8(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (unbias(x_type) == 1 || dql_has_small_rows(y_type, panel, group_length, LANES))
        return false;
    dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_of_float8, NULL);
    return true;
}

#endif
