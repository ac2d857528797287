/* The benchmarks, each family registering its rows. */
#ifndef DQL_BENCH_ROWS_H
#define DQL_BENCH_ROWS_H

#include "kernel.h"

typedef struct bench_type {
    dql_type type;
    const char *name;
    unsigned bits;
    bool is_float; /* its zero points are 0 */
} bench_type;

enum {
#define ONE(TYPE, ...) +1
    X_TYPES = 0 DQL_X_TYPES(ONE),
    Y_TYPES = 0 DQL_Y_TYPES(ONE),
#undef ONE
};
extern const bench_type x_types[X_TYPES], y_types[Y_TYPES];

size_t type_bytes(unsigned bits, size_t elements);

/* Whether y_type numbers are the same bits, or all NaN where they differ. */
bool same_elements(dql_type y_type, const void *a, const void *b, size_t elements);

void register_limits(void);      /* limit/... */
void register_kernels(void);     /* kernel/<x>/<y>/<granularity>/<isa>/<elements> */
void register_tensors(void);     /* tensor/<x>/<y>/<granularity>/<isa>/<elements> */
void register_onnxruntime(void); /* onnxruntime/<x>/<y>/<granularity>/<elements> */

#endif
