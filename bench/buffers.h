/* The memory that benchmarks read and write: allocated once, in huge pages where the OS has them, touched before it is
 * timed, full of random bits. */
#ifndef DQL_BENCH_BUFFERS_H
#define DQL_BENCH_BUFFERS_H

#include "kernel.h"

/* x and zero points: any bits, so float8 has its NaNs and subnormals; but int32 has 16 bits and a sign, as sums of
 * products have, not what overflows most types of y. */
const void *buffer_x(dql_type type, size_t bytes);
const void *buffer_zero(size_t bytes);

/* n scales of a type, from 1/128 to 1/64. */
const void *buffer_scale(dql_type type, size_t n);

/* n zero points of x_type as the kernels of an ISA take them, until the next call. */
const int32_t *buffer_widened(const dql_kernels *isa, dql_type x_type, size_t n);

/* Aligned to a page. */
void *buffer_y(size_t bytes);

/* For what y is compared with. */
enum { CHECK_BYTES = 1 << 14 };
void *buffer_check(void);

#endif
