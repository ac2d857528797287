/* What a loop of longer steps leaves of a group. Included where an ISA has its primitives, see kernel_template.h. */
#ifndef DQL_KERNEL_TAIL_H
#define DQL_KERNEL_TAIL_H

/* Elements [k, end) of a row of `count`, of one group. */
DQL_INLINE void dequantize_tail(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                float scale, int32_t zero) {
    const vf32 s = splat(scale), z = zero_splat(x_type, zero);
    for (; k < end; k += LANES) {
        const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
        store(y_type, row.y, k, n, dequantize_raw(x_type, load(x_type, row.x, row.i + k, n), s, z));
    }
}

#endif
