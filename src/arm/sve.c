/* SVE of any vector length from 128 to 2,048 bits, powers of two or not. SVE2 has nothing that would make it shorter
 * but a conversion to float16 that interleaves, which spares one instruction in eight elements. */
#include "arm/sve.h"

#include "arm/sve_steps.h"

/* Elements [k, end) of y, of one group: in steps, and what they leave in vectors, the last of which is a part. */
DQL_INLINE void dequantize_run(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end) {
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    const size_t a_byte = dql_is_packed(x_type) ? 8 / dql_x_bits(x_type) : 1;
    if (end - k >= STEP && (row.i + k) % a_byte) { /* to the start of a byte */
        const size_t n = a_byte - (row.i + k) % a_byte;
        store(y_type, row.y, k, n,
              dequantize_raw(x_type, load(x_type, dql_at_element(x_type, row.x, row.i + k), n), s, z));
        k += n;
    }
    if (end - k >= STEP)
        k = dequantize_steps(x_type, y_type, row, k, end);
    for (; k < end; k += LANES) {
        const size_t n = end - k < LANES ? end - k : LANES;
        store(y_type, row.y, k, n,
              dequantize_raw(x_type, load(x_type, dql_at_element(x_type, row.x, row.i + k), n), s, z));
    }
}

DQL_INLINE void dequantize_runs(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length) {
    for (size_t k = 0, end; k < count; k = end, row.scale++, row.zero++) {
        end = group_length < count - k ? k + group_length : count;
        dequantize_run(x_type, y_type, row, k, end);
    }
}

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    dql_row row = dql_first_row(x_type, p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(x_type, y_type, p, &row))
        dequantize_runs(x_type, y_type, row, p->count, group_length);
    return true;
}

#include "kernel_template.h"

#include "kernel_table.h"

const dql_kernels dql_isa_sve = {DQL_KERNEL_TABLE};
