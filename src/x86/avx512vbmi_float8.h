/* float8, 64 elements at a time: of the two bytes that an output begins with, each is picked from a table of the 128
 * magnitudes. Over long groups these are the finished halves. Else they are the upper half of the decoded number, since
 * every float8 number is a bfloat16, and the scale is still to come. */
#ifndef DQL_X86_AVX512VBMI_FLOAT8_H
#define DQL_X86_AVX512VBMI_FLOAT8_H

#include "x86/avx512vbmi_planes.h"

#include "kernel_tail.h"
#include "scalar/float8_tables.h"

enum {
    STEP8 = 64,            /* elements */
    FINISHED8_GROUP = 512, /* of a group from which on tables of finished halves are worth their making */
};

typedef struct two_bytes {
    __m512i low, high;
} two_bytes;

/* The index of a code is the code with these bits the other way round: all magnitudes where -0 is NaN. */
DQL_INLINE uint8_t flip_of_index(dql_type type) {
    return type == DQL_FLOAT8E4M3FNUZ || type == DQL_FLOAT8E5M2FNUZ ? 0x7f : 0;
}

/* The bytes of all magnitudes, by their index. */
typedef struct planes {
    __m512i low[2], high[2];
} planes;

DQL_INLINE planes decoded_planes(dql_type type) {
    const uint8_t *p = type == DQL_FLOAT8E4M3FN     ? dql_float8e4m3fn_planes
                       : type == DQL_FLOAT8E4M3FNUZ ? dql_float8e4m3fnuz_planes
                       : type == DQL_FLOAT8E5M2     ? dql_float8e5m2_planes
                                                    : dql_float8e5m2fnuz_planes;
    return (planes){{_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64)},
                    {_mm512_loadu_si512(p + 128), _mm512_loadu_si512(p + 192)}};
}

DQL_INLINE planes finished_planes(dql_type x_type, dql_type y_type, vf32 scale) {
    _Alignas(64) uint16_t halves[128];
    planes p;
    finish_halves(x_type, y_type, halves, 128, flip_of_index(x_type), scale, zero_splat(x_type, 0));
    split_halves(halves, &p.low[0], &p.high[0]);
    split_halves(halves + 64, &p.low[1], &p.high[1]);
    return p;
}

/* Negative numbers are the positive ones with another sign. Where -0 is NaN, the index of its code is all ones, and
 * what is not picked keeps its index: 0xff, and without the sign 0x7f, are the bytes of a NaN in every format. */
DQL_INLINE two_bytes pick_bytes(dql_type type, const planes *p, __m512i codes) {
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    two_bytes b;
    if (flip_of_index(type)) {
        codes = _mm512_xor_si512(codes, _mm512_set1_epi8((char)flip_of_index(type)));
        const __mmask64 numbers = _mm512_cmpneq_epi8_mask(codes, _mm512_set1_epi8(-1));
        b.low = _mm512_mask2_permutex2var_epi8(p->low[0], codes, numbers, p->low[1]);
        b.high = _mm512_mask2_permutex2var_epi8(p->high[0], codes, numbers, p->high[1]);
    } else {
        b.low = _mm512_permutex2var_epi8(p->low[0], codes, p->low[1]);
        b.high = _mm512_permutex2var_epi8(p->high[0], codes, p->high[1]);
    }
    b.high = _mm512_ternarylogic_epi64(b.high, codes, sign, 0x78 /* a ^ (b & c) */);
    return b;
}

/* ---- finished halves ---- */

DQL_INLINE void float8_finished(dql_type x_type, dql_type y_type, const char *x, char *y, size_t steps, float scale) {
    const planes p = finished_planes(x_type, y_type, splat(scale));
    for (; steps; steps--, x += STEP8, y += 2 * STEP8) {
        const two_bytes b = pick_bytes(x_type, &p, load_for_halves(x));
        _mm512_storeu_si512(y, _mm512_unpacklo_epi8(b.low, b.high));
        _mm512_storeu_si512(y + 64, _mm512_unpackhi_epi8(b.low, b.high));
    }
}

/* ---- decoded numbers ---- */

/* Ordered so that interleaving the bytes of the planes within 128-bit lanes gives dwords of which the lower halves are
 * in order, and the upper ones. */
DQL_INLINE two_bytes decode_64(dql_type type, const planes *p, const char *x) {
    const __m512i order =
        _mm512_set_epi64(0x3f2f3e2e3d2d3c2c, 0x1f0f1e0e1d0d1c0c, 0x3b2b3a2a39293828, 0x1b0b1a0a19091808,
                         0x3727362635253424, 0x1707160615051404, 0x3323322231213020, 0x1303120211011000);
    return pick_bytes(type, p, _mm512_permutexvar_epi8(order, _mm512_loadu_si512(x)));
}

/* Where each scale serves one vector, it is a part of the instruction. */
DQL_INLINE vf32 splat_for(size_t group_length, float scale) {
    return group_length == LANES ? splat_once(scale) : splat(scale);
}

/* Vector k of four has scale[16 * k / group_length]. */
DQL_INLINE void scale_64(dql_type y_type, two_bytes b, char *y, const float *scale, size_t group_length) {
    const __m512i halves[] = {_mm512_unpacklo_epi8(b.low, b.high), _mm512_unpackhi_epi8(b.low, b.high)};
#pragma GCC unroll 2
    for (size_t k = 0; k < 2; k++) {
        const vf32 even = _mm512_castsi512_ps(_mm512_slli_epi32(halves[k], 16));
        const vf32 odd = _mm512_castsi512_ps(_mm512_and_si512(halves[k], _mm512_set1_epi32((int)0xffff0000)));
        store_two(y_type, y, 2 * LANES * k,
                  _mm512_mul_ps(even, splat_for(group_length, scale[2 * LANES * k / group_length])),
                  _mm512_mul_ps(odd, splat_for(group_length, scale[(2 * k + 1) * LANES / group_length])));
    }
}

/* A scale for each `group_length` elements: 16 or 32. The bytes of the next step are picked before this one is scaled,
 * since they don't wait for anything. */
DQL_INLINE void float8_decoded(dql_type x_type, dql_type y_type, const planes *p, const char *x, char *y, size_t steps,
                               size_t group_length, const float *scale) {
    two_bytes next = decode_64(x_type, p, x);
    for (; steps; steps--, y += STEP8 * dql_y_bytes(y_type), scale += STEP8 / group_length) {
        const two_bytes b = next;
        x += steps > 1 ? STEP8 : 0;
        next = decode_64(x_type, p, x);
        scale_64(y_type, b, y, scale, group_length);
    }
}

/* The same of groups of whole steps, whose scale stays in a register. */
DQL_INLINE void float8_decoded_long(dql_type x_type, dql_type y_type, const planes *p, const char *x, char *y,
                                    size_t steps, size_t group_length, const float *scale) {
    two_bytes next = decode_64(x_type, p, x);
    for (;; scale++) {
        const float s = *scale; /* y may alias it */
        const size_t own = group_length / STEP8 < steps ? group_length / STEP8 : steps;
        steps -= own;
        for (size_t left = steps ? own : own - 1; left; left--, y += STEP8 * dql_y_bytes(y_type)) {
            const two_bytes b = next;
            x += STEP8;
            next = decode_64(x_type, p, x);
            scale_64(y_type, b, y, &s, STEP8);
        }
        if (steps == 0) {
            scale_64(y_type, next, y, &s, STEP8);
            return;
        }
    }
}

DQL_INLINE void group_of_float8(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    const size_t steps = (end - k) / STEP8, next = k + steps * STEP8;
    const char *const x = row.x + k;
    char *const y = row.y + dql_y_bytes(y_type) * k;
    if (dql_is_half(y_type) && end - k >= FINISHED8_GROUP)
        float8_finished(x_type, y_type, x, y, steps, *row.scale);
    else if (steps)
        float8_decoded_long(x_type, y_type, tables, x, y, steps, next - k, row.scale);
    dequantize_tail(x_type, y_type, row, next, end, count);
}

/* Groups of 16, 32, or whole steps, as far as whole steps go; rows have at least one. Moves the row past them, and
 * returns how many elements are left: less than a step, so they begin a group, or are in one. */
DQL_INLINE size_t steps_of_float8(dql_type x_type, dql_type y_type, dql_row *row, size_t count, size_t group_length,
                                  const void *tables) {
    const size_t steps = count / STEP8, done = steps * STEP8;
    if (group_length == 16)
        float8_decoded(x_type, y_type, tables, row->x, row->y, steps, 16, row->scale);
    else if (group_length == 32)
        float8_decoded(x_type, y_type, tables, row->x, row->y, steps, 32, row->scale);
    else
        float8_decoded_long(x_type, y_type, tables, row->x, row->y, steps, group_length, row->scale);
    row->x += done;
    row->y += done * dql_y_bytes(y_type);
    row->scale += done / group_length;
    return count - done;
}

/* Steps go across groups, where these are not worth tables of their own. */
DQL_INLINE void row_of_float8(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                              const void *tables) {
    const bool finished = dql_is_half(y_type) && group_length >= FINISHED8_GROUP;
    if (!finished && (group_length == 16 || group_length == 32 || group_length % STEP8 == 0))
        count = steps_of_float8(x_type, y_type, &row, count, group_length, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, group_of_float8, tables);
}

/* A small row of whole steps. */
DQL_INLINE void small_row_of_float8(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                    const void *tables) {
    for (size_t k = 0; k < count; k += STEP8)
        scale_64(y_type, decode_64(x_type, tables, row.x + k), row.y + 4 * k, row.scale + k / group_length,
                 group_length);
}

DQL_INLINE void small_rows_of_float8(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length,
                                     const planes *decoded) {
    if (group_length == 16)
        dql_for_small_rows(x_type, y_type, panel, 16, small_row_of_float8, decoded);
    else if (group_length == 32)
        dql_for_small_rows(x_type, y_type, panel, 32, small_row_of_float8, decoded);
    else if (group_length == STEP8)
        dql_for_small_rows(x_type, y_type, panel, STEP8, small_row_of_float8, decoded);
    else
        dql_for_small_rows(x_type, y_type, panel, 2 * STEP8, small_row_of_float8, decoded); /* no other is small */
}

/* For float8 in long enough groups, or in blocks; else false. Zero points are 0. */
DQL_INLINE bool try_float8(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    const bool is_float8 = !dql_is_integer(x_type) && dql_x_bits(x_type) == 8;
    if (!is_float8 || (group_length < STEP8 && group_length != 16 && group_length != 32) || panel->count < STEP8)
        return false;
    const bool small = dql_has_small_rows(y_type, panel, group_length, LANES);
    if (small && (x_type == DQL_FLOAT8E5M2 || panel->count % STEP8)) /* e5m2 is float16 already */
        return false;
    const planes decoded = decoded_planes(x_type);
    if (small)
        small_rows_of_float8(x_type, y_type, panel, group_length, &decoded);
    else
        dql_for_rows(x_type, y_type, panel, group_length, row_of_float8, &decoded);
    return true;
}

#endif
