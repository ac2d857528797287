/* float6 in groups of 32 elements, or of at least 64: 64 at a time, which are 16 packs. */
#ifndef DQL_ARM_NEON_FLOAT6_H
#define DQL_ARM_NEON_FLOAT6_H

#include "arm/neon.h"
#include "arm/neon_table16.h"
#include "kernel_tail.h"

enum { STEP64 = 64, HALF_STEP = 32 };

/* The codes of 32 elements, then of 32 more. */
typedef struct codes64 {
    codes32 first, second;
} codes64;

DQL_INLINE codes64 load_codes64(const char *x) {
    const uint8x16x3_t b = load_thirds(x);
    const uint8x16_t low = vdupq_n_u8(0x3f);
    const uint8x16_t first = vandq_u8(b.val[0], low),
                     second = vandq_u8(vsraq_n_u8(vshlq_n_u8(b.val[1], 2), b.val[0], 6), low),
                     third = vandq_u8(vsraq_n_u8(vshlq_n_u8(b.val[2], 4), b.val[1], 4), low),
                     fourth = vshrq_n_u8(b.val[2], 2);
    return (codes64){{vzip1q_u8(first, third), vzip1q_u8(second, fourth)},
                     {vzip2q_u8(first, third), vzip2q_u8(second, fourth)}};
}

/* ---- by multiplication ---- */

DQL_INLINE void half_step_by_products(dql_type y_type, const table64 *bf16, codes32 c, char *y, float scale) {
    const uint8x16_t a = vzip1q_u8(c.even, c.odd), b = vzip2q_u8(c.even, c.odd);
    store(y_type, y, 0, LANES, times(from_bf16(pick_from_64(bf16, a)), splat(scale)));
    store(y_type, y, LANES, LANES, times(from_bf16(pick_from_64(bf16, b)), splat(scale)));
}

/* The first 32 elements have a scale, and the second ones another. */
DQL_INLINE void step_by_products(dql_type y_type, const table64 *bf16, const char *x, char *y, const float scale[2]) {
    const codes64 c = load_codes64(x);
    half_step_by_products(y_type, bf16, c.first, y, scale[0]);
    half_step_by_products(y_type, bf16, c.second, y + HALF_STEP * dql_y_bytes(y_type), scale[1]);
}

/* ---- halves by a table of the outputs of all codes: their lower bytes, and their upper ones ---- */

/* By way of memory, since gcc otherwise makes tables of four registers anew for each use. */
DQL_INLINE table64 make_table64(dql_type x_type, dql_type y_type, float scale) {
    uint8_t low[64], high[64];
    for (uint8_t code = 0; code < 64; code += LANES) {
        const vf32 values = raw_from_codes(x_type, vaddq_u8(vld1q_u8(every_code), vdupq_n_u8(code)));
        const table16 t = planes_of(y_type, times(values, splat(scale)));
        vst1q_u8(low + code, t.plane[0]);
        vst1q_u8(high + code, t.plane[1]);
    }
    return (table64){vld1q_u8_x4(low), vld1q_u8_x4(high)};
}

DQL_INLINE void half_step_by_table(const table64 *t, codes32 c, char *y) {
    store_interleaved(y, vqtbl4q_u8(t->low, c.even), vqtbl4q_u8(t->high, c.even), vqtbl4q_u8(t->low, c.odd),
                      vqtbl4q_u8(t->high, c.odd));
}

DQL_INLINE void step_by_table(const table64 *t, const char *x, char *y) {
    const codes64 c = load_codes64(x);
    half_step_by_table(t, c.first, y);
    half_step_by_table(t, c.second, y + 2 * HALF_STEP);
}

/* ---- groups ---- */

/* Elements of a row from k on, which starts a pack, as many steps as there are before `end`. Returns the next k. */
DQL_INLINE size_t float6_steps(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end) {
    enum { WORTH_A_TABLE = 2 };
    const char *x = dql_address(x_type, row.x, row.i + k);
    char *y = row.y + k * dql_y_bytes(y_type);
    size_t steps = (end - k) / STEP64;
    const size_t next = k + steps * STEP64;
    if (dql_is_half(y_type) && steps >= WORTH_A_TABLE) {
        const table64 t = make_table64(x_type, y_type, *row.scale);
        for (; steps; steps--, x += dql_bytes_of(STEP64, 6), y += STEP64 * dql_y_bytes(y_type))
            step_by_table(&t, x, y);
    }
    const table64 bf16 = bf16_of_float6(x_type);
    const float scale[] = {*row.scale, *row.scale};
    for (; steps; steps--, x += dql_bytes_of(STEP64, 6), y += STEP64 * dql_y_bytes(y_type))
        step_by_products(y_type, &bf16, x, y, scale);
    return next;
}

/* Vectors, the last of which is a part, for what is before the start of a pack and what steps leave: one loop, so that
 * it is there once. */
DQL_INLINE void group_of_float6(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables) {
    (void)tables;
    const size_t skip = -(row.i + k) % 4;
    size_t stop = end - k >= STEP64 + skip ? k + skip : end;
    for (;; stop = end) {
        dequantize_tail(x_type, y_type, row, k, stop, count);
        if (stop == end)
            return;
        k = float6_steps(x_type, y_type, row, stop, end);
    }
}

DQL_INLINE void vectors_of_float6(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                  const void *tables) {
    (void)tables;
    dequantize_tail(x_type, y_type, row, k, end, count);
}

/* A row of groups of 32 that starts a pack, two of them at a time. */
DQL_INLINE void row_of_half_steps(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                  const void *tables) {
    const table64 bf16 = bf16_of_float6(x_type);
    for (; count >= STEP64; count -= STEP64) {
        step_by_products(y_type, &bf16, row.x, row.y, row.scale);
        row.x += dql_bytes_of(STEP64, 6);
        row.y += STEP64 * dql_y_bytes(y_type);
        row.scale += 2;
    }
    dql_for_groups(x_type, y_type, row, count, group_length, vectors_of_float6, tables);
}

/* Computes a panel of such groups, or does nothing and returns false. */
DQL_INLINE bool try_float6(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (dql_bits(x_type) != 6)
        return false;
    if (group_length == HALF_STEP && dql_starts_pack(x_type, panel->i | panel->x_stride))
        dql_for_rows(x_type, y_type, panel, HALF_STEP, row_of_half_steps, NULL);
    else if (group_length >= STEP64)
        dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_of_float6, NULL);
    else
        return false;
    return true;
}

#endif
