/* All kernels of NEON, for the tables of NEON itself and of SIMDe. */
#include "arm/neon.h"

#include "arm/neon_float8.h"
#include "arm/neon_table16.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    return dequantize_by_table16(x_type, y_type, p, group_length) || dequantize_float8(x_type, y_type, p, group_length);
}

#include "kernel_template.h"

#include "kernel_table.h"
