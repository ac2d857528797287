/* The scalar code that others call by name. */
#ifndef DQL_SCALAR_SCALAR_H
#define DQL_SCALAR_SCALAR_H

#include "kernel.h"

/* dql_kernel for int32 with zero points that are not 0: the difference is exact, then rounded once to float32. */
void dql_dequantize_int32(dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t group_length,
                          const float *scale, const int32_t *zero);

#endif
