/* What a loop of longer steps leaves of a group. Included where an ISA has its primitives, see kernel_template.h. */
#ifndef DQL_KERNEL_TAIL_H
#define DQL_KERNEL_TAIL_H

#include "kernel_drivers.h"

#ifndef LANES /* opened by itself, by an editor or a check */
#include "scalar/vector.h"
#endif

/* Elements [k, end) of a row of `count`, of one group. */
DQL_INLINE void dequantize_tail(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count) {
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    for (; k < end; k += LANES) {
        const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
        const dql_at at = dql_at_element(x_type, row.x, row.i + k);
        store(y_type, row.y, k, n, dequantize_raw(x_type, load(x_type, at, n), s, z));
    }
}

#endif
