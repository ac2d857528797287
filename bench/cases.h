/* The tensors that dql and ONNX Runtime are measured on: granularity and shape. */
#ifndef DQL_BENCH_CASES_H
#define DQL_BENCH_CASES_H

#include "rows.h"

typedef struct bench_case {
    const char *name;
    int axis;           /* -1: per tensor */
    size_t block;       /* 0: not blocked */
    size_t columns;     /* 0: the usual shape of so many elements; else [elements / columns, columns] */
    size_t first_rows;  /* rows of the 4,096-element shape, if not the usual ones */
    int32_t scale_type; /* 0: y's, as up to opset 21 */
} bench_case;

enum { CASES = 14, CASE_SIZES = 5 };
extern const bench_case cases[CASES];

/* 64, 4 Ki, 256 Ki, 16 Mi and 64 Mi elements. */
extern const size_t case_sizes[CASE_SIZES];

/* A case of so many elements as a call. */
typedef struct tensor_case {
    char name[48]; /* of the granularity, with the shape if it is not the usual one */
    const bench_type *x, *y;
    int64_t shape[2], scale_shape[2];
    dql_spec spec; /* points into this struct, see tensor_case_spec */
    size_t elements, scales;
    bool has_zero;
} tensor_case;

/* false if there is no such tensor: too few elements, or a shape that is not for this size. */
bool tensor_case_make(tensor_case *t, const bench_case *c, size_t elements, const bench_type *x, const bench_type *y,
                      bool has_zero);

/* The spec of a tensor_case that has come to rest: its pointers are set. */
const dql_spec *tensor_case_spec(tensor_case *t);

#endif
