/* The scalar ISA: one element at a time, on every CPU; the fallback, and what every other ISA must equal. */
#include "kernel_drivers.h"
#include "scalar/vector.h"

DQL_INLINE void dequantize_element(dql_type x_type, dql_type y_type, dql_row row, size_t k, float scale, float zero) {
    store_element(y_type, row.y, k, dequantize_raw(x_type, load_element(x_type, row.x, row.i + k), scale, zero));
}

/* Only stores of float32 take so little time that turns of a loop show. */
DQL_INLINE void dequantize_group(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *tables) {
    (void)count, (void)tables;
    const float s = *row.scale, z = zero_splat(x_type, *row.zero);
    if (dql_is_half(y_type)) {
#pragma GCC unroll 2
        for (; k < end; k++)
            dequantize_element(x_type, y_type, row, k, s, z);
    } else {
#pragma GCC unroll 4
        for (; k < end; k++)
            dequantize_element(x_type, y_type, row, k, s, z);
    }
}

DQL_INLINE void dequantize_groups(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                  const void *tables) {
    if (!dql_is_half(y_type) && dql_starts_pack(x_type, group_length))
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, dequantize_group, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, dequantize_group, tables);
}

/* A scale for each element, without a loop around one turn of another. */
DQL_INLINE void dequantize_elements(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                    const void *tables) {
    (void)group_length, (void)tables;
    if (dql_is_half(y_type)) {
        for (size_t k = 0; k < count; k++)
            dequantize_element(x_type, y_type, row, k, row.scale[k], zero_splat(x_type, row.zero[k]));
    } else {
#pragma GCC unroll 4
        for (size_t k = 0; k < count; k++)
            dequantize_element(x_type, y_type, row, k, row.scale[k], zero_splat(x_type, row.zero[k]));
    }
}

/* A vector of one element needs none of the loops of kernel_template.h. */
DQL_INLINE void dequantize(dql_type x_type, dql_type y_type, const dql_panel *panel) {
    dql_check_panel(x_type, panel);
    if (panel->group_length == 1)
        dql_for_rows(x_type, y_type, panel, 1, dequantize_elements, NULL);
    else
        dql_for_rows(x_type, y_type, panel, panel->group_length, dequantize_groups, NULL);
}

#include "kernel_table.h"

const dql_kernels dql_isa_scalar = {DQL_KERNEL_TABLE};
