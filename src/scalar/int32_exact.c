/* The difference of two int32 needs 33 bits and float32 has 24, so it is taken in int64 and rounded once. One scalar
 * kernel does for every ISA: models have int32 for biases, which are few and whose zero points are 0. */
#include "scalar/int32_exact.h"

#include "kernel_drivers.h"
#include "scalar/element.h"

DQL_INLINE void exact_group(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                            const void *tables) {
    (void)x_type, (void)count, (void)tables;
    for (; k < end; k++) {
        const float difference = (float)((int64_t)read_i32(row.x, row.i + k) - *row.zero);
        store_element(y_type, row.y, k, difference * *row.scale);
    }
}

#define DEFINE_KERNEL(Y, y_name, y_bits)                                                                               \
    static void int32_exact_##y_name(const dql_panel *panel) {                                                         \
        dql_for_groups_of_rows(DQL_INT32, DQL_##Y, panel, panel->group_length, exact_group, NULL);                     \
    }
DQL_Y_TYPES(DEFINE_KERNEL)

#define KERNEL_ENTRY(Y, y_name, y_bits) [DQL_Y_##Y] = int32_exact_##y_name,
dql_kernel *const dql_int32_exact[DQL_Y_END] = {DQL_Y_TYPES(KERNEL_ENTRY)};
