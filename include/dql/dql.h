/* dql: ONNX DequantizeLinear on every CPU, bit for bit the same.
 *
 *     y = (x - x_zero_point) * x_scale
 *
 * A call is described by a `dql_spec` (types, shapes, attributes), checked once into a `dql_plan`, and run as often as
 * wanted on any part of the tensor. Source of the semantics: ONNX operator DequantizeLinear, opsets 10 to 28
 * (https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html).
 *
 * Arithmetic. x - x_zero_point is exact, its product with the scale is rounded to float32, and that is rounded to y's
 * type; both roundings are to nearest, ties to even; subnormals and -0 are kept. Every ISA, split and alignment gives
 * the same bits, except that a NaN may have any sign and payload. (int32 x: the exact difference is rounded to float32
 * first.) These are the results in the default floating-point environment, which dql reads but never changes.
 *
 * Memory. Tensors are dense and row-major. Elements are in the CPU's byte order; those of 2, 4 and 6 bits are one
 * stream of bits over the flattened tensor, the first element in the lowest bits of the first byte, so a row may start
 * in the middle of a byte, and an element of 6 bits may begin in one byte and end in the next; pad bits may hold
 * anything. Every buffer may have any byte alignment. The buffers that are read must not overlap y, with one exception:
 * where the elements of x and y have the same size, element i of y may be at the address of element i of x (dql_run:
 * y == x; dql_run_range: y_begin is the address of x's element `begin`; dql_run_rows: y is, and y_stride == x_stride).
 *
 * Threads. Every function may be called from any thread at any time; a plan may be shared. dql starts no threads, takes
 * no locks, allocates nothing, prints nothing and never aborts.
 *
 * Errors. Functions that can fail return a `dql_status`; on anything but DQL_OK they have not touched y.
 */
#ifndef DQL_DQL_H
#define DQL_DQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header (https://semver.org); dql_version() is that of the library. */
#define DQL_VERSION_MAJOR 0 /* grows when programs have to change */
#define DQL_VERSION_MINOR 1 /* grows when something is added; while MAJOR is 0, also when programs have to change */
#define DQL_VERSION_PATCH 0 /* grows when something is mended */

/* DQL_SHARED is defined for users of a shared library (the CMake target does it); it matters on Windows only. */
#if defined(_WIN32) && defined(DQL_SHARED)
#ifdef DQL_BUILD
#define DQL_API __declspec(dllexport)
#else
#define DQL_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define DQL_API __attribute__((visibility("default")))
#else
#define DQL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. The numbers are those of ONNX's TensorProto.DataType, so an engine passes its own.
 *
 * Taken are, in any combination: as x (and zero point) INT8, UINT8, INT16, UINT16, INT32, INT4, UINT4, INT2, UINT2,
 * FLOAT4E2M1, FLOAT6E2M3, FLOAT6E3M2, FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2 and FLOAT8E5M2FNUZ; as scale FLOAT32,
 * FLOAT16, BFLOAT16 and FLOAT8E8M0 (code b is 2^(b - 127), 0xff is NaN); as y FLOAT32, FLOAT16 and BFLOAT16. Every
 * other number is DQL_ERROR_TYPE. Numbers are only ever appended, as ONNX's are: a program that switches over them
 * needs a default. */
typedef enum {
    DQL_FLOAT32 = 1,
    DQL_UINT8 = 2,
    DQL_INT8 = 3,
    DQL_UINT16 = 4,
    DQL_INT16 = 5,
    DQL_INT32 = 6,
    DQL_FLOAT16 = 10,
    DQL_BFLOAT16 = 16,
    DQL_FLOAT8E4M3FN = 17,
    DQL_FLOAT8E4M3FNUZ = 18,
    DQL_FLOAT8E5M2 = 19,
    DQL_FLOAT8E5M2FNUZ = 20,
    DQL_UINT4 = 21,
    DQL_INT4 = 22,
    DQL_FLOAT4E2M1 = 23,
    DQL_FLOAT8E8M0 = 24,
    DQL_UINT2 = 25,
    DQL_INT2 = 26,
    DQL_FLOAT6E2M3 = 27,
    DQL_FLOAT6E3M2 = 28
} dql_type;

/* What came of a call. Numbers are only ever appended: what a program doesn't know is an error, too. */
typedef enum {
    DQL_OK,
    DQL_ERROR_NULL,        /* a pointer that is needed is NULL */
    DQL_ERROR_TYPE,        /* a type number that is unknown, or not taken in that place */
    DQL_ERROR_SHAPE,       /* a negative dim, or a tensor whose elements or bytes of y a size_t can't count */
    DQL_ERROR_AXIS,        /* axis outside [-rank, rank) */
    DQL_ERROR_BLOCK_SIZE,  /* block_size negative, missing, or not the one that gives the scale's dim */
    DQL_ERROR_SCALE_SHAPE, /* scale_shape fits none of the granularities */
    DQL_ERROR_ZERO_POINT,  /* a zero point of a float type that is not zero */
    DQL_ERROR_RANGE,       /* elements outside the tensor, begin > end, or rows of y that overlap */
    DQL_ERROR_ISA,         /* an unknown store mode, an unknown ISA, or one that is not available here */
    DQL_ERROR_PLAN,        /* not a plan: dql_plan_init has not succeeded on it; see dql_plan for what can be told */
    DQL_ERROR_RESERVED     /* a reserved field is not 0 */
} dql_status;

/* How y is written. The bytes are the same in every mode, and so is the speed where an ISA has no streaming store. */
typedef enum {
    DQL_STORE_AUTO,   /* STREAM for a call that writes more bytes than the last-level cache holds, CACHED for others */
    DQL_STORE_CACHED, /* ordinary stores: y will be read soon */
    DQL_STORE_STREAM  /* non-temporal stores: y goes to memory; for slices of a big tensor on several threads */
} dql_store;

/* Implementations. Numbers are only ever appended and mean the same on every architecture. */
typedef enum {
    DQL_ISA_AUTO, /* the active one: dql_isa_active() */
    DQL_ISA_SCALAR,
    DQL_ISA_AVX2,
    DQL_ISA_AVX512,
    DQL_ISA_AVX512VBMI,
    DQL_ISA_NEON,
    DQL_ISA_SVE,
    DQL_ISA_SVE2, /* reserved: there is none so far, so it is never available */
    DQL_ISA_SIMDE,
    DQL_ISA_AVX512BF16
} dql_isa;

/* One DequantizeLinear node. Zero it first: in every field 0 means what leaving it out means.
 *
 * The granularity follows from the shapes. With D = shape[axis]:
 *
 *     per tensor   scale_rank 0, or one element and a rank of at most max(rank, 1); axis and block_size are ignored
 *     per axis     scale_shape = {D}, block_size = 0
 *     blocked      scale_shape = shape, but for ceil(D / block_size) on the axis; block_size > 0
 *
 * Pointers are read by dql_plan_init only. */
typedef struct dql_spec {
    int32_t x_type;       /* dql_type of x and of the zero points */
    int32_t scale_type;   /* dql_type of x_scale */
    int32_t y_type;       /* dql_type of y (up to opset 21 the scale's; from 23 on output_dtype, or else the scale's) */
    int32_t store;        /* dql_store */
    int32_t isa;          /* dql_isa: AUTO, or the one this plan must use */
    int32_t reserved0;    /* 0 */
    size_t rank;          /* dims of x and y, any number; 0 is a scalar */
    const int64_t *shape; /* [rank], each >= 0; NULL if rank is 0 */
    size_t scale_rank;    /* dims of x_scale and x_zero_point */
    const int64_t *scale_shape; /* [scale_rank], each >= 0; NULL if scale_rank is 0 */
    int64_t axis;               /* in [-rank, rank), negative counts from the back. ONNX's default is 1, not 0 */
    int64_t block_size;         /* elements of the axis that share a scale; 0: not blocked */
    uint64_t reserved[4];       /* 0 */
} dql_spec;

/* A checked call in normal form. A plain value of this process: copy it, share it, drop it. It points to nothing of the
 * spec. Its content is private.
 *
 * "Not a plan" is what doesn't begin with a plan's mark: zeroed memory, what dql_plan_init has failed on and, but for a
 * chance of 1 in 2^32, whatever else memory may hold. Bytes that were changed behind the mark, and a plan of another
 * process or of another copy of the library, can't be told from a plan: using them is undefined, as a wrong pointer's
 * use is. */
typedef struct dql_plan {
    uint64_t opaque[16]; /* private */
} dql_plan;

/* Checks `spec` and fills `plan`: every error in types, shapes and attributes is found here, in this order.
 *
 *     1. DQL_ERROR_NULL        plan, spec, or the shape of a rank above 0 is NULL
 *        DQL_ERROR_RESERVED    a reserved field is not 0
 *        DQL_ERROR_TYPE        x_type, scale_type or y_type is not taken
 *        DQL_ERROR_ISA         store or isa is unknown, or the ISA is not available on this CPU
 *     2. DQL_ERROR_SHAPE       a negative dim in either shape; x's elements or y's bytes exceed SIZE_MAX (a tensor with
 *                              a zero dim has no elements, whatever its other dims are)
 *     3. DQL_ERROR_BLOCK_SIZE  block_size < 0
 *     4. per tensor is accepted here
 *     5. DQL_ERROR_AXIS        rank is 0, or axis is not in [-rank, rank)
 *     6. DQL_ERROR_SCALE_SHAPE per axis: the scale's dim is not shape[axis]
 *     7. DQL_ERROR_SCALE_SHAPE blocked: a dim off the axis differs from x's, or no block size gives the dim on the axis
 *        DQL_ERROR_BLOCK_SIZE  blocked: this block_size does not give the dim on the axis
 *     8. DQL_ERROR_BLOCK_SIZE  the scale has x's rank, of at least 2, but block_size is 0
 *        DQL_ERROR_SCALE_SHAPE anything else
 *
 * After an error, `plan` (unless NULL) is one that every run call refuses. */
DQL_API dql_status dql_plan_init(dql_plan *plan, const dql_spec *spec);

/* The number of elements of x and of y. 0 for NULL and for what is not a plan. */
DQL_API size_t dql_plan_count(const dql_plan *plan);

/* The ISA that the plan runs on, never DQL_ISA_AUTO; fixed when the plan was made. DQL_ISA_AUTO for NULL and for what
 * is not a plan. */
DQL_API dql_isa dql_plan_isa(const dql_plan *plan);

/* Dequantizes the whole tensor.
 *
 *     x      dql_plan_count elements of x_type
 *     scale  the elements of scale_shape, of scale_type
 *     zero   as many elements of x_type, or NULL: no zero points
 *     y      dql_plan_count elements of y_type; written
 *
 * n elements of b bits take (n * b + 7) / 8 bytes; no more is read, and no less has to be there. So 5 elements of INT4
 * are 3 bytes, as x and as zero points.
 *
 * Only `zero` may be NULL, unless the tensor has no elements (then all may be). The zero points of float types must be
 * zero (code 0; or that of -0, for FLOAT8E4M3FN, FLOAT8E5M2 and FLOAT4E2M1); those that the call uses are checked
 * before y is written.
 *
 * Returns DQL_OK, or the first that holds of
 *
 *     DQL_ERROR_NULL        plan is NULL
 *     DQL_ERROR_PLAN        plan is not a plan
 *     DQL_ERROR_RANGE       (dql_run_range, dql_run_rows) elements outside the tensor, see there
 *     DQL_ERROR_NULL        there is something to do, and x, scale or y is NULL
 *     DQL_ERROR_ZERO_POINT  a zero point of a float type that the call uses is not zero */
DQL_API dql_status dql_run(const dql_plan *plan, const void *x, const void *scale, const void *zero, void *y);

/* Dequantizes the elements [begin, end) of the flattened tensor. x, scale and zero are those of the whole tensor;
 * y_begin receives element `begin`, and nothing outside the end - begin elements is read from x or written to y. Any
 * partition of a tensor into ranges, run in any order or at once, gives the bytes of dql_run.
 *
 * Returns what dql_run returns, and DQL_ERROR_RANGE unless begin <= end <= dql_plan_count. If begin == end all buffers
 * may be NULL. */
DQL_API dql_status dql_run_range(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                                 size_t end, void *y_begin);

/* Dequantizes a panel, such as the tile of weights of a matrix product. Row r of `rows` is the `length` elements of x
 * from element begin + r * x_stride on; it is written from element r * y_stride of y on. x, scale and zero are those of
 * the whole tensor, y is the panel's. Rows may overlap in x but not in y. Elements of y between the rows are not
 * touched.
 *
 * Returns what dql_run returns, and DQL_ERROR_RANGE if a row leaves the tensor, if y_stride < length with more than one
 * row, or if the bytes from y to the panel's end exceed SIZE_MAX. If rows or length is 0, all buffers may be NULL, and
 * only `begin <= dql_plan_count` is asked of the numbers. */
DQL_API dql_status dql_run_rows(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                                size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride);

/* Cuts the tensor into `slices` ranges that differ by at most one cache line (64 bytes of y) and start on a cache line
 * if y does; sets *begin and *end to number `slice` of them, for dql_run_range. An empty range for slices == 0, slice
 * >= slices, a NULL plan and what is not a plan; some ranges are empty where there are more slices than cache lines.
 * begin and end must not be NULL. */
DQL_API void dql_plan_slice(const dql_plan *plan, size_t slices, size_t slice, size_t *begin, size_t *end);

/* dql_plan_init and dql_run in one call. Returns what they return. */
DQL_API dql_status dql_dequantize(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y);

/* What DQL_ISA_AUTO means for a plan made now; never DQL_ISA_AUTO itself. It is the best ISA of this CPU, picked when
 * the library is loaded, unless the environment variable DQL_ISA names an available one (ignored in setuid programs),
 * or dql_isa_force has set one. */
DQL_API dql_isa dql_isa_active(void);

/* Whether `isa` is compiled in, and CPU and OS have what it needs. True for DQL_ISA_AUTO, false outside the enum. */
DQL_API bool dql_isa_available(dql_isa isa);

/* "auto", "scalar", "avx2", ... for every number of the enum on every architecture; NULL outside the enum. */
DQL_API const char *dql_isa_name(dql_isa isa);

/* Makes `isa` the active one for plans made from now on, in the whole process; existing plans keep theirs. DQL_ISA_AUTO
 * returns to the load-time pick. Returns DQL_OK, or DQL_ERROR_ISA if `isa` is not available; then nothing changes. */
DQL_API dql_status dql_isa_force(dql_isa isa);

/* One line of English, without a full stop; "unknown status" outside the enum. Never NULL. */
DQL_API const char *dql_status_text(dql_status status);

/* The library's version, "major.minor.patch" (https://semver.org). */
DQL_API const char *dql_version(void);

#ifdef __cplusplus
}
#endif

#endif
