#ifndef DQL_PYTHON_RUN_H
#define DQL_PYTHON_RUN_H

#include "operand.h"
#include <dql/dql.h>

/* What a call computes with. */
typedef struct {
    dql_plan plan;
    size_t count; /* elements of the tensor */
    const element_type *x_type, *y_type;
    const void *x, *scale, *zero;
    bool unpacked; /* x has a byte an element, and is packed slice by slice */
} job;

/* As dql_run_range and dql_run_rows. If x is unpacked and a zero point of a float type is wrong, some of y may have
 * been written. */
dql_status run_range(const job *j, size_t begin, size_t end, void *y);
dql_status run_rows(const job *j, size_t begin, size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride);

/* The whole tensor, by so many threads, of which the caller is one. */
dql_status run_on_threads(const job *j, size_t threads, void *y);

/* Whether a y of that many bytes is cut into several calls that together exceed the last-level cache, so that they
 * should write past it: a call sees its own bytes only. */
bool is_streamed_in_parts(size_t bytes, bool unpacked, size_t threads);

/* CPUs that this process may run on. */
size_t usable_cpus(void);

#endif
