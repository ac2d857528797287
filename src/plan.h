/* A checked call in normal form: what every granularity looks like to the code that runs it.
 *
 * The tensor is rows of `line_length` elements; a row is groups of `group_length` elements (the last one may be
 * shorter) that share a scale; a row of x uses one row of `line_scales` scales, the same one for several rows of x.
 * With `inner` the product of the dims after the axis and `outer` of those before it:
 *
 *     granularity           line_length      group     line_scales   axis_lines   block_lines   blocks
 *     per tensor            N               N       1            1           1            0
 *     per axis              axis * inner    inner   axis         outer       outer        0
 *     blocked, inner = 1    axis            block   blocks       1           1            1
 *     blocked, inner > 1    inner           1       inner        axis        block        blocks
 *
 * Rows whose scales follow each other are then joined to one. */
#ifndef DQL_PLAN_H
#define DQL_PLAN_H

#include "kernel.h"

enum { DQL_PLAN_MAGIC = 0x316c7164 }; /* "dql1" */

typedef struct __attribute__((may_alias)) dql_plan_data {
    uint32_t magic; /* tells a plan from other memory */
    uint8_t isa, x_type, scale_type, y_type;
    uint8_t x_bits;      /* of an element of x */
    uint8_t scale_bits;  /* of a scale */
    uint8_t y_number;    /* of y_type: DQL_Y_... */
    uint8_t y_size;      /* bytes of an element of y */
    uint8_t zero_mask;   /* of x_type, see DQL_X_TYPES */
    size_t count;        /* elements */
    size_t line_length;  /* elements */
    size_t group_length; /* elements, 1 to line_length */
    size_t line_scales;  /* scales */
    size_t axis_lines;   /* rows of x of one index before the axis */
    size_t block_lines;  /* consecutive ones of these that share a row of scales */
    size_t blocks;       /* rows of scales of one index before the axis */
    size_t stream_above; /* bytes of y above which a call streams */
    const dql_kernels *kernels;
} dql_plan_data;

/* Row `row` of x uses this row of scales. */
static inline size_t dql_scale_line(const dql_plan_data *p, size_t row) {
    return row / p->axis_lines * p->blocks + row % p->axis_lines / p->block_lines;
}

/* The bytes of y above which a call of a plan with this dql_store streams. */
size_t dql_stream_above(const dql_kernels *kernels, int32_t store);

/* What a plan holds; NULL if it isn't one. It is read where it is: a copy would take longer than a short row. */
static inline const dql_plan_data *dql_plan_get(const dql_plan *plan) {
    const dql_plan_data *p = (const dql_plan_data *)plan;
    return p && p->magic == DQL_PLAN_MAGIC ? p : NULL;
}

#endif
