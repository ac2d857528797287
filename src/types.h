/* The types, one row each, and facts about them. */
#ifndef DQL_TYPES_H
#define DQL_TYPES_H

#include "dql/dql.h"

/* The types of x and of its zero points: M(TYPE, name, bits, KIND, zero_bits). KIND is INTEGER or FLOAT. `zero_bits`
 * are the bits of a zero point that must be 0: none of integers; of floats all but the sign, and the sign too where
 * there is no -0. */
#define DQL_X_TYPES(M)                                                                                                 \
    DQL_SUBTRACTING_TYPES(M)                                                                                           \
    M(INT32, int32, 32, INTEGER, 0)                                                                                    \
    M(FLOAT8E4M3FN, float8e4m3fn, 8, FLOAT, 0x7f)                                                                      \
    M(FLOAT8E4M3FNUZ, float8e4m3fnuz, 8, FLOAT, 0xff)                                                                  \
    M(FLOAT8E5M2, float8e5m2, 8, FLOAT, 0x7f)                                                                          \
    M(FLOAT8E5M2FNUZ, float8e5m2fnuz, 8, FLOAT, 0xff)                                                                  \
    M(FLOAT4E2M1, float4e2m1, 4, FLOAT, 0x7)                                                                           \
    M(FLOAT6E2M3, float6e2m3, 6, FLOAT, 0x1f)                                                                          \
    M(FLOAT6E3M2, float6e3m2, 6, FLOAT, 0x1f)

/* Those of them whose zero points kernels subtract. int32's are subtracted by a kernel of their own, exactly. */
#define DQL_SUBTRACTING_TYPES(M)                                                                                       \
    M(INT8, int8, 8, INTEGER, 0)                                                                                       \
    M(UINT8, uint8, 8, INTEGER, 0)                                                                                     \
    M(INT16, int16, 16, INTEGER, 0)                                                                                    \
    M(UINT16, uint16, 16, INTEGER, 0)                                                                                  \
    M(INT4, int4, 4, INTEGER, 0)                                                                                       \
    M(UINT4, uint4, 4, INTEGER, 0)                                                                                     \
    M(INT2, int2, 2, INTEGER, 0)                                                                                       \
    M(UINT2, uint2, 2, INTEGER, 0)

/* The types of the scale: M(TYPE, name, bits). */
#define DQL_SCALE_TYPES(M)                                                                                             \
    M(FLOAT32, float32, 32)                                                                                            \
    M(FLOAT16, float16, 16)                                                                                            \
    M(BFLOAT16, bfloat16, 16)                                                                                          \
    M(FLOAT8E8M0, float8e8m0, 8)

/* The types of y: M(TYPE, name, bits). */
#define DQL_Y_TYPES(M) DQL_Y_TYPES_AFTER(M, )

/* The types of y, each beside one x type: M(X, x_name, Y, y_name, y_bits). */
#define DQL_PAIRS(M, X, x_name) DQL_Y_TYPES_AFTER(M, X, x_name, )

/* The types of y behind other arguments, which end with a comma or are none. */
#define DQL_Y_TYPES_AFTER(M, ...)                                                                                      \
    M(__VA_ARGS__ FLOAT32, float32, 32)                                                                                \
    M(__VA_ARGS__ FLOAT16, float16, 16)                                                                                \
    M(__VA_ARGS__ BFLOAT16, bfloat16, 16)

/* The types that kernels are built for, bit n for the type of number n: all, unless who builds dql says otherwise, as
 * CMake does for its DQL_X_TYPES and DQL_Y_TYPES. Plans refuse the others, and tables have NULL for them. */
#ifndef DQL_BUILT_X_TYPES
#define DQL_BUILT_X_TYPES UINT64_MAX
#endif
#ifndef DQL_BUILT_Y_TYPES
#define DQL_BUILT_Y_TYPES UINT64_MAX
#endif
#define DQL_HAS_X(X)  (((uint64_t)(DQL_BUILT_X_TYPES) >> DQL_##X & 1) != 0)
#define DQL_HAS_Y(Y)  (((uint64_t)(DQL_BUILT_Y_TYPES) >> DQL_##Y & 1) != 0)
#define DQL_HAS(X, Y) (DQL_HAS_X(X) && DQL_HAS_Y(Y))

/* One more than the greatest number of a type: rows of tables. */
#define DQL_TO_NUMBER(TYPE, name, ...) char name[DQL_##TYPE + 1];
enum { DQL_TYPE_END = sizeof(union {DQL_X_TYPES(DQL_TO_NUMBER) DQL_SCALE_TYPES(DQL_TO_NUMBER)}) };
#undef DQL_TO_NUMBER

/* y types numbered from 0: the columns of tables. */
#define DQL_Y_NUMBER(TYPE, name, bits) DQL_Y_##TYPE,
enum { DQL_Y_TYPES(DQL_Y_NUMBER) DQL_Y_END };
#undef DQL_Y_NUMBER

#define DQL_INLINE static inline __attribute__((always_inline))

/* Facts about types: with a constant type nothing of these functions is left in the code. */

/* The bits of an element of x. */
DQL_INLINE unsigned dql_x_bits(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, KIND, zero_bits)                                                                    \
    case DQL_##TYPE: return bits;
        DQL_X_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return 0;
    }
}

/* The bits of an element of x or of a scale. */
DQL_INLINE unsigned dql_bits(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits)                                                                                     \
    case DQL_##TYPE: return bits;
        DQL_SCALE_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return dql_x_bits(type);
    }
}

DQL_INLINE bool dql_is_integer(dql_type type) {
    enum { INTEGER = true, FLOAT = false };
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, KIND, zero_bits)                                                                    \
    case DQL_##TYPE: return KIND;
        DQL_X_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return false;
    }
}

/* Whether kernels subtract zero points from elements of this type. */
DQL_INLINE bool dql_subtracts(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits, KIND, zero_bits)                                                                    \
    case DQL_##TYPE: return true;
        DQL_SUBTRACTING_TYPES(DQL_CASE)
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

/* The bytes of an element of y. */
DQL_INLINE size_t dql_y_bytes(dql_type type) {
    switch ((int)type) {
#define DQL_CASE(TYPE, name, bits)                                                                                     \
    case DQL_##TYPE: return (bits) / 8;
        DQL_Y_TYPES(DQL_CASE)
#undef DQL_CASE
    default: return 0;
    }
}

/* A pack is the fewest elements that fill whole bytes: four of 2 or 6 bits, two of 4, one of 8 or more. */
DQL_INLINE unsigned dql_pack_length(unsigned bits) {
    return bits % 8 == 0 ? 1 : bits % 4 == 0 ? 2 : bits % 2 == 0 ? 4 : 8;
}

DQL_INLINE unsigned dql_pack_bytes(unsigned bits) {
    return dql_pack_length(bits) * bits / 8;
}

/* Whether a byte may hold several elements, or parts of them. */
DQL_INLINE bool dql_is_packed(dql_type type) {
    return dql_pack_length(dql_x_bits(type)) > 1;
}

/* How many codes a type has: what fits a table is asked by this. */
DQL_INLINE uint64_t dql_codes(dql_type type) {
    return (uint64_t)1 << dql_bits(type);
}

/* Whether y is float16 or bfloat16. Kernels know no y types but these and float32. */
#define DQL_CHECK_Y(TYPE, name, bits) _Static_assert((bits) == 16 || (bits) == 32, "kernels store words or halves");
DQL_Y_TYPES(DQL_CHECK_Y)
#undef DQL_CHECK_Y

DQL_INLINE bool dql_is_half(dql_type y_type) {
    return dql_y_bytes(y_type) == 2;
}

/* The bytes of n elements that are a whole number of packs. */
DQL_INLINE size_t dql_bytes_of(size_t n, unsigned bits) {
    return n / dql_pack_length(bits) * dql_pack_bytes(bits);
}

/* The address of element i, which starts a pack. */
DQL_INLINE const char *dql_address(dql_type type, const void *from, size_t i) {
    return (const char *)from + dql_bytes_of(i, dql_bits(type));
}

/* The place of an element: `skip` elements after the start of the pack at `byte`. */
typedef struct dql_at {
    const char *byte;
    size_t skip;
} dql_at;

DQL_INLINE bool dql_starts_pack(dql_type type, size_t i) {
    return i % dql_pack_length(dql_bits(type)) == 0;
}

DQL_INLINE dql_at dql_at_element(dql_type type, const void *from, size_t i) {
    return (dql_at){dql_address(type, from, i), i % dql_pack_length(dql_bits(type))};
}

/* The place of element i, which starts a pack: loads from there do nothing for other places. */
DQL_INLINE dql_at dql_at_pack(dql_type type, const void *from, size_t i) {
    return (dql_at){dql_address(type, from, i), 0};
}

#endif
