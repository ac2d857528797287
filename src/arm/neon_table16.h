/* Types of at most 16 codes: a table of the outputs of all codes of a group, from which each element picks its own,
 * byte by byte; stores interleave the bytes. */
#ifndef DQL_ARM_NEON_TABLE16_H
#define DQL_ARM_NEON_TABLE16_H

#include "arm/neon.h"
#include "kernel_drivers.h"

/* Byte b of output k is byte k of plane b: two of halves, four of float32. */
typedef struct table16 {
    uint8x16_t plane[4];
} table16;

/* 32 codes: of even elements and of odd ones. */
typedef struct codes32 {
    uint8x16_t even, odd;
} codes32;

enum { STEP16 = 32 };

DQL_INLINE uint8x16_t even_bytes(uint16x8_t a, uint16x8_t b) {
    return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

DQL_INLINE uint8x16_t odd_bytes(uint16x8_t a, uint16x8_t b) {
    return vuzp2q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

static const uint8_t every_code[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* The outputs of 16 codes as planes. */
DQL_INLINE table16 planes_of(dql_type y_type, vf32 v) {
    if (y_type != DQL_FLOAT32) {
        const u16x16 h = rounded(y_type, v);
        return (table16){{even_bytes(h.a, h.b), odd_bytes(h.a, h.b), vdupq_n_u8(0), vdupq_n_u8(0)}};
    }
    const uint16x8_t a = vreinterpretq_u16_f32(v.a), b = vreinterpretq_u16_f32(v.b), c = vreinterpretq_u16_f32(v.c),
                     d = vreinterpretq_u16_f32(v.d);
    const u16x16 lower = {vuzp1q_u16(a, b), vuzp1q_u16(c, d)}, upper = {vuzp2q_u16(a, b), vuzp2q_u16(c, d)};
    return (table16){{even_bytes(lower.a, lower.b), odd_bytes(lower.a, lower.b), even_bytes(upper.a, upper.b),
                      odd_bytes(upper.a, upper.b)}};
}

DQL_INLINE table16 make_table16(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    const vf32 values16 = raw_from_codes(x_type, vld1q_u8(every_code));
    return planes_of(y_type, dequantize_raw(x_type, values16, splat(scale), zero_splat(x_type, zero)));
}

DQL_INLINE codes32 load_codes32(dql_type type, dql_at at) {
    if (dql_bits(type) == 2) {
        const uint8x16_t nibbles = nibbles_of(read_packed(type, at, STEP16));
        return (codes32){nibbles, vshrq_n_u8(nibbles, 2)};
    }
    const uint8x16_t here = vld1q_u8((const uint8_t *)at.byte), low = vdupq_n_u8(0x0f);
    if (at.skip)
        return (codes32){vshrq_n_u8(here, 4), vandq_u8(vld1q_u8((const uint8_t *)at.byte + 1), low)};
    return (codes32){vandq_u8(here, low), vshrq_n_u8(here, 4)};
}

DQL_INLINE uint8x16_t pick(const table16 *t, int plane, uint8x16_t codes) {
    return vqtbl1q_u8(t->plane[plane], codes);
}

DQL_INLINE void store_floats(const table16 *t, uint8x16_t codes, char *y) {
    store_interleaved(y, pick(t, 0, codes), pick(t, 1, codes), pick(t, 2, codes), pick(t, 3, codes));
}

DQL_INLINE void store_step(dql_type y_type, const table16 *t, codes32 c, char *y) {
    if (y_type == DQL_FLOAT32) {
        store_floats(t, vzip1q_u8(c.even, c.odd), y);
        store_floats(t, vzip2q_u8(c.even, c.odd), y + 64);
    } else {
        store_interleaved(y, pick(t, 0, c.even), pick(t, 1, c.even), pick(t, 0, c.odd), pick(t, 1, c.odd));
    }
}

DQL_INLINE void store_steps(dql_type x_type, dql_type y_type, const table16 *t, dql_at at, char *y, size_t steps) {
    const size_t x_step = dql_bytes_of(STEP16, dql_bits(x_type)), y_step = STEP16 * dql_y_bytes(y_type);
    for (; steps; steps--, at.byte += x_step, y += y_step)
        store_step(y_type, t, load_codes32(x_type, at), y);
}

/* What steps leave of a group, at most 16 elements at a time. */
DQL_INLINE void store_tail(dql_type y_type, const table16 *t, uint8x16_t codes, char *y, size_t n) {
    const u16x16 low = zip(pick(t, 0, codes), pick(t, 1, codes));
    if (y_type != DQL_FLOAT32) {
        store_16(y, n, low);
        return;
    }
    const u16x16 high = zip(pick(t, 2, codes), pick(t, 3, codes));
    store_32(y, n,
             (vf32){vreinterpretq_f32_u16(vzip1q_u16(low.a, high.a)), vreinterpretq_f32_u16(vzip2q_u16(low.a, high.a)),
                    vreinterpretq_f32_u16(vzip1q_u16(low.b, high.b)),
                    vreinterpretq_f32_u16(vzip2q_u16(low.b, high.b))});
}

DQL_INLINE void group_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *tables) {
    (void)tables;
    const table16 t = make_table16(x_type, y_type, *row.scale, *row.zero);
    const size_t steps = (end - k) / STEP16;
    const dql_at at = dql_at_element(x_type, row.x, row.i + k);
    char *y = row.y + k * dql_y_bytes(y_type);
    if (at.skip == 0)
        store_steps(x_type, y_type, &t, (dql_at){at.byte, 0}, y, steps);
    else /* a constant where only one other is possible */
        store_steps(x_type, y_type, &t, (dql_at){at.byte, dql_bits(x_type) == 4 ? 1 : at.skip}, y, steps);
    for (k += steps * STEP16; k < end; k += LANES) {
        const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
        const uint8x16_t codes = load_codes(x_type, dql_at_element(x_type, row.x, row.i + k), n);
        store_tail(y_type, &t, codes, row.y + k * dql_y_bytes(y_type), n);
    }
}

/* Computes a panel whose groups are worth a table, or does nothing and returns false. */
DQL_INLINE bool try_table16(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (dql_codes(x_type) > 16 || (y_type == DQL_FLOAT32 && group_length < STEP16) ||
        dql_has_small_rows(y_type, panel, group_length, LANES))
        return false;
    dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_by_table16, NULL);
    return true;
}

#endif
