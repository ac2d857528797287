/* All kernels of NEON, for the tables of NEON itself and of SIMDe. */
#ifndef DQL_ARM_NEON_KERNELS_H
#define DQL_ARM_NEON_KERNELS_H

#include "arm/neon.h"

#include "arm/neon_float6.h"
#include "arm/neon_float8.h"
#include "arm/neon_table16.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    return try_table16(x_type, y_type, panel, group_length) || try_float6(x_type, y_type, panel, group_length) ||
           try_float8(x_type, y_type, panel, group_length);
}

#include "kernel_template.h"

#include "kernel_table.h"

#endif
