/* What every ISA agrees on: the contracts of its functions, and the table it fills with them. */
#ifndef DQL_KERNEL_H
#define DQL_KERNEL_H

#include "types.h"

#include <assert.h>

/* Rows of elements, cut in groups that share a scale:
 *
 *     y[r * y_stride + k] = round(f32(x[i + r * x_stride + k] - zero[z]) * scale[s]),
 *     s = r * scale_stride + k / group_length, z = r * zero_stride + k / group_length
 *
 * for r < rows and k < count, neither of them 0; group_length >= 1. i, counts and strides are in elements; zero_stride
 * is 0 if scale_stride is. Zero points are as the ISA's own dql_widen makes them, int32 or float32: 0 is all bits 0. */
typedef struct dql_panel {
    const void *x;
    void *y;
    size_t i, count, rows, group_length;
    size_t x_stride, y_stride, scale_stride, zero_stride;
    const float *scale;
    const int32_t *zero;
    bool streams; /* y goes past the caches; only as dql_can_stream says */
} dql_panel;

/* Zero points of panels that have none, of up to so many groups a row. Kernels know them by their address. */
enum { DQL_NO_ZEROS = 1024 };
extern const int32_t dql_no_zero[DQL_NO_ZEROS];

/* Computes a panel. Of each row it reads only bytes that hold count elements of x and ceil(count / group_length) scales
 * and zeros, and writes only count elements of y. Any alignment of x and y. No state, no failure. x[i] and y[0] are the
 * same address, and their strides the same, or x and y don't overlap. zero is 0 unless dql_subtracts(x's type). If y is
 * 16 bits, NaN scales must be 0x7fc00000, which dql_widen makes of them. */
typedef void dql_kernel(const dql_panel *panel);

/* Whether kernels of an ISA that has a dql_stream may write this panel past the caches themselves: a scale an element,
 * lines of scales that rows share, and whole cache lines of y. x starts a pack in all rows. */
DQL_INLINE bool dql_can_stream(const dql_panel *panel, size_t y_size, size_t pack_length) {
    enum { CACHE_LINE = 64 };
    return panel->group_length == 1 && !panel->scale_stride && panel->count * y_size % CACHE_LINE == 0 &&
           panel->y_stride * y_size % CACHE_LINE == 0 && (uintptr_t)panel->y % CACHE_LINE == 0 &&
           panel->i % pack_length == 0 && panel->x_stride % pack_length == 0;
}

/* What of this contract is cheap to look at, in builds that have asserts. */
DQL_INLINE void dql_check_panel(dql_type x_type, const dql_panel *panel) {
    assert(panel->rows && panel->count && panel->group_length);
    assert(panel->scale_stride || !panel->zero_stride);
    assert(dql_subtracts(x_type) || *panel->zero == 0);
    assert(!panel->streams || (panel->group_length == 1 && !panel->scale_stride && (uintptr_t)panel->y % 64 == 0));
    (void)x_type, (void)panel;
}

/* Small rows are a few whole groups of whole vectors, to float32: to begin a table or a row costs them more than it
 * gains. */
enum { DQL_SMALL_ROW = 128 };

DQL_INLINE bool dql_has_small_rows(dql_type y_type, const dql_panel *panel, size_t group_length, size_t lanes) {
    return y_type == DQL_FLOAT32 && panel->rows > 1 && panel->count <= DQL_SMALL_ROW && group_length % lanes == 0 &&
           panel->count % group_length == 0;
}

/* How many elements of a group to compute at once, `lanes` at most. At its end a whole vector is faster than a part,
 * and what it writes of the next group is overwritten by that; not at the end of the row, nor where y may be x. */
DQL_INLINE size_t dql_step(dql_type x_type, dql_type y_type, size_t group_left, size_t row_left, size_t lanes) {
    const bool may_be_in_place = dql_x_bits(x_type) == 8 * dql_y_bytes(y_type);
    return group_left < lanes && (may_be_in_place || row_left < lanes) ? group_left : lanes;
}

/* A row of a panel: its elements begin with element i of the pack at x. */
typedef struct dql_row {
    const char *x;
    size_t i;
    char *y;
    const float *scale;
    const int32_t *zero;
} dql_row;

DQL_INLINE dql_row dql_first_row(dql_type x_type, const dql_panel *panel) {
    const dql_at at = dql_at_element(x_type, panel->x, panel->i);
    return (dql_row){at.byte, at.skip, panel->y, panel->scale, panel->zero};
}

DQL_INLINE void dql_next_row(dql_type x_type, dql_type y_type, const dql_panel *panel, dql_row *row) {
    const dql_at at = dql_at_element(x_type, row->x, row->i + panel->x_stride);
    row->x = at.byte;
    row->i = at.skip;
    row->y += panel->y_stride * dql_y_bytes(y_type);
    row->scale += panel->scale_stride;
    row->zero += panel->zero_stride;
}

/* to[k] = from[i + k] for k < count, exactly: scales in float32, where a NaN becomes the canonical one, 0x7fc00000;
 * zero points in int32 or float32, as this ISA's kernels of the type take them. Any alignment of `from`. Up to
 * DQL_WIDEN_SLACK words after to[count] may be written: a whole vector that is read back at once is faster than a part.
 */
enum { DQL_WIDEN_SLACK = 64 };
typedef void dql_widen(const void *from, size_t i, void *to, size_t count);

/* Copies `bytes` bytes to y past the caches. Any alignment of y; the buffer is aligned to 64 bytes. Other threads are
 * not sure to see them before a sequentially consistent fence. */
typedef void dql_stream(void *y, const void *buffer, size_t bytes);

/* An ISA: one function for every pair of types, so that its name says which code runs; of pairs that it leaves to
 * another ISA, and of types that are not taken, NULL. */
typedef struct dql_kernels {
    dql_kernel *dequantize[DQL_TYPE_END][DQL_Y_END];
    dql_widen *widen[DQL_TYPE_END]; /* the types of scales, and x types where dql_subtracts */
    dql_stream *stream;             /* NULL: nothing here is faster than ordinary stores */
    /* A complete ISA, whose `dequantize` stands where this one's is NULL; or NULL. */
    const struct dql_kernels *fallback;
} dql_kernels;

/* The kernel of a pair of types: the ISA's own, or its fallback's. */
static inline dql_kernel *dql_kernel_of(const dql_kernels *isa, dql_type x_type, size_t y_number) {
    dql_kernel *const own = isa->dequantize[x_type][y_number];
    return own || !isa->fallback ? own : isa->fallback->dequantize[x_type][y_number];
}

#endif
