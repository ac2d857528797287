/* What every ISA agrees on: the types, the contracts of its functions, and the table it fills with them. */
#ifndef DQL_KERNEL_H
#define DQL_KERNEL_H

#include "dql/dql.h"

/* The types of x and of its zero points: M(TYPE, name, bits, zero_mask). `zero_mask` has the bits of a byte of zero
 * points that must be 0: none for integers; for floats all but the sign, and the sign too where there is no -0. */
#define DQL_X_TYPES(M)                                                                                                 \
    DQL_ZERO_TYPES(M)                                                                                                  \
    M(INT32, int32, 32, 0)                                                                                             \
    M(FLOAT8E4M3FN, float8e4m3fn, 8, 0x7f)                                                                             \
    M(FLOAT8E4M3FNUZ, float8e4m3fnuz, 8, 0xff)                                                                         \
    M(FLOAT8E5M2, float8e5m2, 8, 0x7f)                                                                                 \
    M(FLOAT8E5M2FNUZ, float8e5m2fnuz, 8, 0xff)                                                                         \
    M(FLOAT4E2M1, float4e2m1, 4, 0x77)

/* Those of them whose zero points may be other numbers than 0, as kernels see them: int32's are subtracted elsewhere,
 * exactly. */
#define DQL_ZERO_TYPES(M)                                                                                              \
    M(INT8, int8, 8, 0)                                                                                                \
    M(UINT8, uint8, 8, 0)                                                                                              \
    M(INT16, int16, 16, 0)                                                                                             \
    M(UINT16, uint16, 16, 0)                                                                                           \
    M(INT4, int4, 4, 0)                                                                                                \
    M(UINT4, uint4, 4, 0)                                                                                              \
    M(INT2, int2, 2, 0)                                                                                                \
    M(UINT2, uint2, 2, 0)

/* The types of y: M(TYPE, name, bits). */
#define DQL_Y_TYPES(M)                                                                                                 \
    M(FLOAT32, float32, 32)                                                                                            \
    M(FLOAT16, float16, 16)                                                                                            \
    M(BFLOAT16, bfloat16, 16)

/* The same, each beside one x type: M(X, x_name, Y, y_name). */
#define DQL_PAIRS(M, X, x_name)                                                                                        \
    M(X, x_name, FLOAT32, float32)                                                                                     \
    M(X, x_name, FLOAT16, float16)                                                                                     \
    M(X, x_name, BFLOAT16, bfloat16)

/* The types of the scale: M(TYPE, name, bits). */
#define DQL_SCALE_TYPES(M)                                                                                             \
    DQL_Y_TYPES(M)                                                                                                     \
    M(FLOAT8E8M0, float8e8m0, 8)

enum { DQL_TYPE_END = DQL_INT2 + 1 };

#define DQL_INLINE static inline __attribute__((always_inline))

/* Facts about types, for code that a constant type leaves nothing of. */
DQL_INLINE unsigned dql_x_bits(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, zero_mask)                                                                          \
    case DQL_##TYPE: return bits;
        DQL_X_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return 0;
    }
}

/* Several elements share a byte. */
DQL_INLINE bool dql_is_packed(dql_type type) {
    return dql_x_bits(type) != 0 && dql_x_bits(type) < 8;
}

DQL_INLINE bool dql_is_integer(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, zero_mask)                                                                          \
    case DQL_##TYPE: return zero_mask == 0;
        DQL_X_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return false;
    }
}

DQL_INLINE bool dql_has_zero(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, zero_mask)                                                                          \
    case DQL_##TYPE: return true;
        DQL_ZERO_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return false;
    }
}

DQL_INLINE bool dql_is_scale(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits)                                                                                     \
    case DQL_##TYPE: return true;
        DQL_SCALE_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return false;
    }
}

/* Of an element. */
DQL_INLINE size_t dql_y_bytes(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits)                                                                                     \
    case DQL_##TYPE: return (bits) / 8;
        DQL_Y_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return 0;
    }
}

/* Of n elements that are a whole number of bytes. */
DQL_INLINE size_t dql_bytes_of(size_t n, unsigned bits) {
    return bits < 8 ? n / (8 / bits) : n * (bits / 8);
}

/* Of element i of x, which starts a byte. */
DQL_INLINE const char *dql_address(dql_type type, const void *x, size_t i) {
    return (const char *)x + dql_bytes_of(i, dql_x_bits(type));
}

/* y types numbered from 0: the columns of tables. */
#define DQL_Y_NUMBER(TYPE, name, bits) DQL_Y_##TYPE,
enum { DQL_Y_TYPES(DQL_Y_NUMBER) DQL_Y_END };
#undef DQL_Y_NUMBER

/* Rows of elements, cut in runs that share a scale:
 *
 *     y[r * y_stride + k] = round(f32(x[i + r * x_stride + k] - zero[z]) * scale[s]),
 *     s = r * scale_stride + k / run, z = r * zero_stride + k / run
 *
 * for r < rows and k < count, neither of them 0; run >= 1. i, counts and strides are in elements; zero_stride is 0 if
 * scale_stride is. Zero points are as the ISA's own dql_widen makes them, int32 or float32: 0 is all bits 0. */
typedef struct dql_panel {
    const void *x;
    void *y;
    size_t i, count, rows, run;
    size_t x_stride, y_stride, scale_stride, zero_stride;
    const float *scale;
    const int32_t *zero;
} dql_panel;

/* Computes a panel. Of each row it reads only bytes that hold count elements of x and ceil(count / run) scales and
 * zeros, and writes only count elements of y. Any alignment of x and y. No state, no failure. x[i] and y[0] are the
 * same address, and their strides the same, or x and y don't overlap. zero is 0 unless dql_has_zero(x's type); to
 * halves, a NaN among the scales is the one that dql_widen makes. */
typedef void dql_kernel(const dql_panel *p);

/* Rows of few whole runs of whole vectors, to float32: to begin a table or a row costs more than it gains. */
enum { DQL_NARROW = 128 };

DQL_INLINE bool dql_is_narrow(dql_type y_type, const dql_panel *p, size_t run, size_t lanes) {
    return y_type == DQL_FLOAT32 && p->rows > 1 && p->count <= DQL_NARROW && run % lanes == 0 && p->count % run == 0;
}

/* How many elements of a run to compute at once, `lanes` at most. At its end a whole vector is faster than a part, and
 * what it writes of the next run is overwritten by that; not at the end of the row, nor where y may be x. */
DQL_INLINE size_t dql_step(dql_type x_type, dql_type y_type, size_t run_left, size_t row_left, size_t lanes) {
    const bool may_be_in_place = dql_x_bits(x_type) == 8 * dql_y_bytes(y_type);
    return run_left < lanes && (may_be_in_place || row_left < lanes) ? run_left : lanes;
}

/* A row of a panel, from some element on. */
typedef struct dql_row {
    const void *x;
    size_t i;
    char *y;
    const float *scale;
    const int32_t *zero;
} dql_row;

DQL_INLINE dql_row dql_first_row(const dql_panel *p) {
    return (dql_row){p->x, p->i, p->y, p->scale, p->zero};
}

DQL_INLINE void dql_next_row(dql_type y_type, const dql_panel *p, dql_row *row) {
    row->i += p->x_stride;
    row->y += p->y_stride * dql_y_bytes(y_type);
    row->scale += p->scale_stride;
    row->zero += p->zero_stride;
}

/* to[k] = from[i + k] for k < count, exactly: scales in float32, where a NaN becomes the canonical one, 0x7fc00000;
 * zero points in int32 or float32, as this ISA's kernels of the type take them. Any alignment of `from`. Up to
 * DQL_WIDEN_SLACK words after to[count] may be written: a whole vector that is read back at once is faster than a part.
 */
enum { DQL_WIDEN_SLACK = 64 };
typedef void dql_widen(const void *from, size_t i, void *to, size_t count);

/* Copies `bytes` bytes to y past the caches. Any alignment of y; the tile is aligned to 64 bytes. Other threads are not
 * sure to see them before a sequentially consistent fence. */
typedef void dql_stream(void *y, const void *tile, size_t bytes);

/* An ISA: one function for every pair of types, so that its name says which code runs; of pairs that it leaves to
 * another ISA, and of types that are not taken, NULL. */
typedef struct dql_kernels {
    dql_kernel *dequantize[DQL_TYPE_END][DQL_Y_END];
    dql_widen *widen[DQL_TYPE_END];  /* the types of scales, and x types where dql_has_zero */
    dql_stream *stream;              /* NULL: nothing here is faster than ordinary stores */
    const struct dql_kernels *lower; /* a complete ISA, whose `dequantize` stands where this one's is NULL; or NULL */
} dql_kernels;

/* The kernel of a pair of types, the ISA's own or that of the one below. */
static inline dql_kernel *dql_kernel_of(const dql_kernels *isa, dql_type x_type, size_t y_number) {
    dql_kernel *const own = isa->dequantize[x_type][y_number];
    return own || !isa->lower ? own : isa->lower->dequantize[x_type][y_number];
}

#endif
