/* A tensor dequantized into a file, by several threads. */
#ifndef TOOLS_SLICES_H
#define TOOLS_SLICES_H

#include "output.h"
#include "progress.h"
#include "tensor.h"
#include <dql/dql.h>

enum { MOST_JOBS = 256 };

typedef struct {
    const char *file; /* to blame for the tensor */
    const dql_plan *plan;
    const tensor *x; /* opened */
    const void *scale, *zero;
    int32_t y_type;
    const output *to;
    uint64_t offset; /* in that file, of y */
    progress *bar;
    uint64_t done; /* bytes that were written before */
} slices;

/* Memory: a slice of 1 MiB for each thread, and what of x a slice needs if it is in a window, however big they are.
 * `jobs` is 1 to MOST_JOBS. */
bool slices_run(const slices *s, unsigned jobs, problem *why);

#endif
