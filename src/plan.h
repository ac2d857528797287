/* A checked call in normal form: what every granularity looks like to the code that runs it.
 *
 * The tensor is lines of `line_length` elements; a line is groups of `group_length` elements (the last one may be
 * shorter) that share a scale; a line of x uses one line of `line_scales` scales, the same one for several lines of x.
 * With `inner` the product of the dims after the axis and `outer` of those before it:
 *
 *     granularity           line_length    group_length   line_scales   axis_lines   block_lines   blocks
 *     per tensor            N              N              1             1            1             0
 *     per axis              axis * inner   inner          axis          outer        outer         0
 *     blocked, inner = 1    axis           block          blocks        1            1             1
 *     blocked, inner > 1    inner          1              inner         axis         block         blocks
 *
 * Lines whose scales follow each other are then joined to one. */
#ifndef DQL_PLAN_H
#define DQL_PLAN_H

#include "kernel.h"

enum { DQL_PLAN_MAGIC = 0x316c7164 }; /* "dql1" */

/* What dql_pack_length and dql_pack_bytes say of a type, as a running call needs it: addresses take a shift and a
 * multiplication, where a division would take as long as some vectors. */
typedef struct dql_pack {
    uint8_t length_log2, bytes;
} dql_pack;

enum { DQL_MAX_PACK_LENGTH = 4, DQL_SHORT_LINE = 32 }; /* elements */

typedef struct __attribute__((may_alias)) dql_plan_data {
    uint32_t magic; /* tells a plan from other memory */
    uint8_t isa, x_type, scale_type, y_type;
    dql_pack x_pack, scale_pack;
    uint8_t y_size;      /* bytes of an element of y */
    uint8_t zero_bits;   /* the bits of a zero point that must be 0, see DQL_X_TYPES */
    bool short_lines;    /* lines so short that several of them are run at once, see short_lines.h */
    size_t count;        /* elements */
    size_t line_length;  /* elements */
    size_t group_length; /* elements, 1 to line_length */
    size_t line_scales;  /* scales */
    size_t axis_lines;   /* lines of x of one index before the axis */
    size_t block_lines;  /* consecutive ones of these that share a line of scales */
    size_t blocks;       /* lines of scales of one index before the axis */
    size_t stream_above; /* bytes of y above which a call streams */
    dql_kernel *kernel;
    dql_kernel *exact_kernel; /* runs instead where a zero point is not 0; NULL if `kernel` subtracts them */
    dql_widen *widen_scale, *widen_zero;
    dql_stream *stream;
} dql_plan_data;

/* Where the pack of element i begins. */
DQL_INLINE const char *dql_pack_address(dql_pack pack, const void *from, size_t i) {
    return (const char *)from + (i >> pack.length_log2) * pack.bytes;
}

/* The place of element i in its pack. */
DQL_INLINE size_t dql_place_in_pack(dql_pack pack, size_t i) {
    return i & (((size_t)1 << pack.length_log2) - 1);
}

DQL_INLINE unsigned dql_element_bits(dql_pack pack) {
    return pack.bytes * 8u >> pack.length_log2;
}

/* The bytes of y above which a call of a plan with this dql_store streams. */
size_t dql_stream_above(const dql_kernels *kernels, int32_t store);

/* What a plan holds; NULL if it isn't one. It is read where it is: a copy would take longer than a short line. */
static inline const dql_plan_data *dql_plan_get(const dql_plan *plan) {
    const dql_plan_data *data = (const dql_plan_data *)plan;
    return data && data->magic == DQL_PLAN_MAGIC ? data : NULL;
}

#endif
