/* Packed types: the finished outputs of all codes of a group, from which each element picks its own, byte by byte;
 * stores interleave the bytes. */
#ifndef DQL_ARM_NEON_TABLE16_H
#define DQL_ARM_NEON_TABLE16_H

#include "arm/neon.h"

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

DQL_INLINE table16 make_table16(dql_type x_type, dql_type y_type, float scale, int32_t zero) {
    static const uint8_t every_code[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vf32 raw = raw_of_codes(x_type, vld1q_u8(every_code));
    const vf32 v = dequantize_raw(x_type, raw, splat(scale), zero_splat(x_type, zero));
    if (y_type != DQL_FLOAT32) {
        const words h = rounded(y_type, v);
        return (table16){{even_bytes(h.a, h.b), odd_bytes(h.a, h.b), vdupq_n_u8(0), vdupq_n_u8(0)}};
    }
    const uint16x8_t a = vreinterpretq_u16_f32(v.a), b = vreinterpretq_u16_f32(v.b), c = vreinterpretq_u16_f32(v.c),
                     d = vreinterpretq_u16_f32(v.d);
    const words lower = {vuzp1q_u16(a, b), vuzp1q_u16(c, d)}, upper = {vuzp2q_u16(a, b), vuzp2q_u16(c, d)};
    return (table16){{even_bytes(lower.a, lower.b), odd_bytes(lower.a, lower.b), even_bytes(upper.a, upper.b),
                      odd_bytes(upper.a, upper.b)}};
}

/* From a byte on, of whose elements some are skipped. */
DQL_INLINE codes32 load_codes32(dql_type type, const char *from, size_t skip) {
    if (dql_x_bits(type) == 2) {
        const uint8x16_t nibbles = nibbles_of(read_codes(type, (dql_at){from, skip}, STEP16));
        return (codes32){nibbles, vshrq_n_u8(nibbles, 2)};
    }
    const uint8x16_t here = vld1q_u8((const uint8_t *)from), low = vdupq_n_u8(0x0f);
    if (skip)
        return (codes32){vshrq_n_u8(here, 4), vandq_u8(vld1q_u8((const uint8_t *)from + 1), low)};
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

DQL_INLINE void store_steps(dql_type x_type, dql_type y_type, const table16 *t, const char *x, size_t skip, char *y,
                            size_t steps) {
    const size_t x_step = STEP16 * dql_x_bits(x_type) / 8, y_step = STEP16 * dql_y_bytes(y_type);
    for (; steps; steps--, x += x_step, y += y_step)
        store_step(y_type, t, load_codes32(x_type, x, skip), y);
}

/* At most 16. */
DQL_INLINE void store_rest(dql_type y_type, const table16 *t, uint8x16_t codes, void *y, size_t k, size_t n) {
    const words low = zip(pick(t, 0, codes), pick(t, 1, codes));
    if (y_type != DQL_FLOAT32) {
        store_16(y, k, n, low);
        return;
    }
    const words high = zip(pick(t, 2, codes), pick(t, 3, codes));
    store_32(y, k, n,
             (vf32){vreinterpretq_f32_u16(vzip1q_u16(low.a, high.a)), vreinterpretq_f32_u16(vzip2q_u16(low.a, high.a)),
                    vreinterpretq_f32_u16(vzip1q_u16(low.b, high.b)),
                    vreinterpretq_f32_u16(vzip2q_u16(low.b, high.b))});
}

DQL_INLINE void dequantize_row_by_table16(dql_type x_type, dql_type y_type, dql_row row, size_t count,
                                          size_t group_length) {
    const size_t a_byte = 8 / dql_x_bits(x_type);
    for (size_t k = 0; k < count; row.scale++, row.zero++) {
        const size_t end = group_length < count - k ? k + group_length : count;
        const table16 t = make_table16(x_type, y_type, *row.scale, *row.zero);
        const size_t steps = (end - k) / STEP16, skip = (row.i + k) % a_byte;
        const char *from = (const char *)row.x + (row.i + k) / a_byte;
        char *to = row.y + k * dql_y_bytes(y_type);
        if (skip == 0)
            store_steps(x_type, y_type, &t, from, 0, to, steps);
        else
            store_steps(x_type, y_type, &t, from, a_byte == 2 ? 1 : skip, to, steps);
        for (k += steps * STEP16; k < end; k += LANES) {
            const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
            store_rest(y_type, &t, load_packed(x_type, row.x, row.i + k, n), row.y, k, n);
        }
        k = end;
    }
}

/* For packed types and groups that are worth a table; else false. */
DQL_INLINE bool dequantize_by_table16(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    if (!dql_is_packed(x_type) || (y_type == DQL_FLOAT32 && group_length < STEP16) ||
        dql_has_small_rows(y_type, p, group_length, LANES))
        return false;
    dql_row row = dql_first_row(x_type, p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(x_type, y_type, p, &row))
        dequantize_row_by_table16(x_type, y_type, row, p->count, group_length);
    return true;
}

#endif
