/* The scalar ISA: one element at a time, on every CPU; the fallback, and what every other ISA must equal. */
#include "scalar/element.h"

#include <math.h>

typedef float vf32;
#define LANES ((size_t)1)

DQL_INLINE vf32 splat(float f) {
    return f;
}

DQL_INLINE vf32 load(dql_type type, const void *from, size_t i, size_t n) {
    (void)n;
    return load_element(type, from, i);
}

DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    (void)type;
    return raw == raw ? raw : NAN;
}

DQL_INLINE vf32 zero_vector(dql_type type, vf32 entries) {
    (void)type;
    return entries;
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t entry) {
    (void)type;
    return f32_from_bits((uint32_t)entry);
}

DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    (void)type;
    return (raw - zero) * scale;
}

DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t phase) {
    (void)n, (void)group_length, (void)phase;
    return read_f32(from, 0); /* not reached: no group is shorter than one lane */
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    (void)n;
    store_element(type, to, i, v);
}

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    (void)x_type, (void)y_type, (void)p, (void)group_length;
    return false;
}

#include "kernel_table.h"

const dql_kernels dql_isa_scalar = {DQL_KERNEL_TABLE};
