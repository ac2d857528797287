/* The primitives of kernel_template.h for vectors of one element, which is what scalar code is. */
#ifndef DQL_SCALAR_VECTOR_H
#define DQL_SCALAR_VECTOR_H

#include "scalar/element.h"

#include <math.h>

typedef float vf32;
#define LANES ((size_t)1)

DQL_INLINE vf32 splat(float f) {
    return f;
}

DQL_INLINE vf32 load(dql_type type, dql_at at, size_t n) {
    (void)n;
    return load_element(type, at.byte, at.skip);
}

DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    (void)type;
    return raw == raw ? raw : NAN;
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t word) {
    (void)type;
    return f32_from_bits((uint32_t)word);
}

DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    return (dql_subtracts(type) ? raw - zero : raw) * scale;
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    (void)n;
    store_element(type, to, i, v);
}

/* What kernel_template.h asks for beside these, for editors and checks that open it: scalar.c has loops of its own. */
DQL_INLINE vf32 zero_vector(dql_type type, vf32 words) {
    (void)type;
    return words;
}

enum { CAN_STREAM = false };

DQL_INLINE void store_past(dql_type type, void *to, size_t i, vf32 v) {
    store(type, to, i, LANES, v);
}

DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t in_group) {
    (void)n, (void)group_length, (void)in_group;
    return read_f32(from, 0);
}

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    (void)x_type, (void)y_type, (void)panel, (void)group_length;
    return false;
}

#endif
