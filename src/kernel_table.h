/* The loops of an ISA as functions, one for each pair of types, and the table of them for its
 * `const dql_kernels dql_isa_<name> = {DQL_KERNEL_TABLE};`, to which it may add `.stream`. Included where `dequantize`
 * is defined: after kernel_template.h, or loops of the ISA's own. */
#ifndef DQL_KERNEL_TABLE_H
#define DQL_KERNEL_TABLE_H

#ifndef LANES /* opened by itself, by an editor or a check */
#include "kernel_template.h"
#endif
#include "kernel_widen.h"

#define DQL_DEFINE_KERNEL(X, x_name, Y, y_name, y_bits)                                                                \
    static void dequantize_##x_name##_##y_name(const dql_panel *panel) {                                               \
        dequantize(DQL_##X, DQL_##Y, panel);                                                                           \
    }
#define DQL_DEFINE_KERNELS(X, x_name, ...) DQL_PAIRS(DQL_DEFINE_KERNEL, X, x_name)
DQL_X_TYPES(DQL_DEFINE_KERNELS)

#define DQL_KERNEL_ENTRY(X, x_name, Y, y_name, y_bits)                                                                 \
    [DQL_##X][DQL_Y_##Y] = DQL_HAS(X, Y) ? dequantize_##x_name##_##y_name : NULL,
#define DQL_KERNEL_ENTRIES(X, x_name, ...) DQL_PAIRS(DQL_KERNEL_ENTRY, X, x_name)
#define DQL_KERNEL_TABLE                   .dequantize = {DQL_X_TYPES(DQL_KERNEL_ENTRIES)}, DQL_WIDEN_TABLE

#endif
