/* The difference of two int32 needs 33 bits and float32 has 24, so it is taken in int64 and rounded once. One scalar
 * kernel does for every ISA: models have int32 for biases, which are few and whose zero points are 0. */
#include "scalar/int32_exact.h"

#include "scalar/element.h"

#include <assert.h>

DQL_INLINE void dequantize_row(dql_type y_type, dql_row row, size_t count, size_t group_length) {
    for (size_t k = 0; k < count; row.scale++, row.zero++) {
        const size_t end = group_length < count - k ? k + group_length : count;
        for (; k < end; k++) {
            const float difference = (float)((int64_t)read_i32(row.x, row.i + k) - *row.zero);
            store_element(y_type, row.y, k, difference * *row.scale);
        }
    }
}

DQL_INLINE void dequantize(dql_type y_type, const dql_panel *panel) {
    assert(panel->count && panel->rows && panel->group_length);
    dql_row row = dql_first_row(panel);
    for (size_t rows = panel->rows; rows; rows--, dql_next_row(y_type, panel, &row))
        dequantize_row(y_type, row, panel->count, panel->group_length);
}

#define DEFINE_KERNEL(Y, y_name, y_bits)                                                                               \
    static void int32_exact_##y_name(const dql_panel *panel) {                                                         \
        dequantize(DQL_##Y, panel);                                                                                    \
    }
DQL_Y_TYPES(DEFINE_KERNEL)

#define KERNEL_ENTRY(Y, y_name, y_bits) [DQL_Y_##Y] = int32_exact_##y_name,
dql_kernel *const dql_int32_exact[DQL_Y_END] = {DQL_Y_TYPES(KERNEL_ENTRY)};
