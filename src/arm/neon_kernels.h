/* All kernels of NEON, for the tables of NEON itself and of SIMDe. */
#include "arm/neon.h"

#include "arm/neon_float8.h"
#include "arm/neon_table16.h"

DQL_INLINE bool special(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t run,
                        const float *scale, const int32_t *zero) {
    return dequantize_by_table16(x_type, y_type, x, i, y, count, run, scale, zero) ||
           dequantize_float8(x_type, y_type, x, i, y, count, run, scale);
}

#include "kernel_table.h"
