/* The kernels for int32 with zero points that are not 0, by the number of the y type. */
#ifndef DQL_SCALAR_INT32_EXACT_H
#define DQL_SCALAR_INT32_EXACT_H

#include "kernel.h"

extern dql_kernel *const dql_int32_exact[DQL_Y_END];

#endif
