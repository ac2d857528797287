/* The loops of kernel_template.h as functions, one for each pair of types, and the table of them for an ISA's
 * `const dql_kernels dql_isa_<name> = {DQL_KERNEL_TABLE};`, to which it may add `.stream`. */
#include "kernel_template.h"

#define DQL_DEFINE_KERNEL(X, x_name, Y, y_name, y_bits)                                                                \
    static void dequantize_##x_name##_##y_name(const dql_panel *p) {                                                   \
        dequantize(DQL_##X, DQL_##Y, p);                                                                               \
    }
#define DQL_DEFINE_KERNELS(X, x_name, ...) DQL_PAIRS(DQL_DEFINE_KERNEL, X, x_name)
DQL_X_TYPES(DQL_DEFINE_KERNELS)

#define DQL_KERNEL_ENTRY(X, x_name, Y, y_name, y_bits)                                                                 \
    [DQL_##X][DQL_Y_##Y] = DQL_HAS(X, Y) ? dequantize_##x_name##_##y_name : NULL,
#define DQL_KERNEL_ENTRIES(X, x_name, ...) DQL_PAIRS(DQL_KERNEL_ENTRY, X, x_name)
#define DQL_KERNEL_TABLE                   .dequantize = {DQL_X_TYPES(DQL_KERNEL_ENTRIES)}, DQL_WIDEN_TABLE
