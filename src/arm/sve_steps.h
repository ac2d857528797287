/* Groups of at least a step: as many elements at once as a vector has bytes, which is four vectors of float32. */
#ifndef DQL_ARM_SVE_STEPS_H
#define DQL_ARM_SVE_STEPS_H

#include "arm/bfloat16_bytes.h"
#include "arm/sve.h"
#include "float8_bytes.h"
#include "kernel_tail.h"

/* ---- elements whose loads make lanes of them ---- */

/* Elements [first, first + LANES) of a step, which are whole packs. */
DQL_INLINE vf32 dequantize_lanes(dql_type x_type, const char *x, size_t first, vf32 scale, vf32 zero) {
    return dequantize_raw(x_type, load(x_type, dql_at_pack(x_type, x, first), LANES), scale, zero);
}

DQL_INLINE void step_by_loads(dql_type x_type, dql_type y_type, const char *x, void *y, vf32 scale, vf32 zero) {
    store_step(y_type, y, dequantize_lanes(x_type, x, 0, scale, zero), dequantize_lanes(x_type, x, LANES, scale, zero),
               dequantize_lanes(x_type, x, 2 * LANES, scale, zero),
               dequantize_lanes(x_type, x, 3 * LANES, scale, zero));
}

/* ---- elements that become lanes by interleaving bytes ---- */

DQL_INLINE svuint16_t halves_of(svuint8_t low, svuint8_t high, bool second) {
    return svreinterpret_u16_u8(second ? svzip2_u8(low, high) : svzip1_u8(low, high));
}

DQL_INLINE vf32 lanes_of(svuint16_t lower, svuint16_t upper, bool second) {
    return svreinterpret_f32_u16(second ? svzip2_u16(lower, upper) : svzip1_u16(lower, upper));
}

/* Packed integers. Packed floats go by bfloat16, or, if they are not among those types, by loads. */
DQL_INLINE bool is_by_magic_number(dql_type type) {
    return dql_is_packed(type) && dql_is_integer(type);
}

/* A code under the upper half of 2^23 makes a float of both. `zero` is that much more, and what code_sign adds. */
DQL_INLINE void step_by_magic_number(svuint8_t codes, dql_type x_type, void *y, vf32 scale, vf32 zero) {
    if (code_sign(x_type))
        codes = sveor_n_u8_x(svptrue_b8(), codes, code_sign(x_type));
    const svuint16_t a = halves_of(codes, svdup_u8(0), false), b = halves_of(codes, svdup_u8(0), true);
    const svuint16_t upper = svdup_u16(0x4b00);
    store_step(DQL_FLOAT32, y, affine(lanes_of(a, upper, false), scale, zero),
               affine(lanes_of(a, upper, true), scale, zero), affine(lanes_of(b, upper, false), scale, zero),
               affine(lanes_of(b, upper, true), scale, zero));
}

/* ---- float8 and float4, by way of bfloat16, which has all their numbers ---- */

DQL_INLINE bool is_by_bfloat16(dql_type type) {
    return type == DQL_FLOAT8E4M3FN || type == DQL_FLOAT8E4M3FNUZ || type == DQL_FLOAT8E5M2FNUZ ||
           type == DQL_FLOAT4E2M1;
}

/* What steps take from elements to their scale: the exponents of types with UZ are one less than those of the types
 * without it. */
DQL_INLINE float factor_of(dql_type type) {
    if (dql_bits(type) == 6)
        return unbias_of_float6(type);
    return type == DQL_FLOAT8E4M3FNUZ || type == DQL_FLOAT8E5M2FNUZ ? 0.5f : 1;
}

/* 16 bytes to pick from. What is past them is 0, in vectors of every length. */
DQL_INLINE svuint8_t pick_from(const uint8_t *table, svuint8_t index) {
    return svtbl_u8(svld1_u8(svptrue_pat_b8(SV_VL16), table), index);
}

/* A code, shifted, is a bfloat16 with another bias: the exponents are rebased, which is wrong where they are 0, and for
 * NaN. For those codes, in some order, tables have the bits that are wrong. */
DQL_INLINE void decode_e4m3(dql_type type, svuint8_t codes, svuint8_t *low, svuint8_t *high) {
    /* 0, NaN, 1, -1, ... 7, -7 */
    static const uint8_t fnuz_low[16] = {0,    0xc0, 0x10, 0x10, 0xa0, 0xa0, 0xf0, 0xf0,
                                         0x40, 0x40, 0x70, 0x70, 0x20, 0x20, 0x10, 0x10};
    static const uint8_t fnuz_high[16] = {0x3c, 0xc3, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07};
    const svbool_t all = svptrue_b8();
    const svuint8_t number =
        type == DQL_FLOAT8E4M3FN
            ? svand_n_u8_x(all, svadd_u8_x(all, codes, svreinterpret_u8_u16(in_register(0x0101))), 0x7f)
            : svorr_u8_x(all, svlsl_n_u8_x(all, codes, 1), svlsr_n_u8_x(all, codes, 7));
    const uint8_t *wrong_low = type == DQL_FLOAT8E4M3FN ? dql_e4m3fn_wrong_low : fnuz_low;
    const uint8_t *wrong_high = type == DQL_FLOAT8E4M3FN ? dql_e4m3fn_wrong_high : fnuz_high;
    *low = sveor_u8_x(all, svlsl_n_u8_x(all, codes, 4), pick_from(wrong_low, number));
    *high = sveor_u8_x(all, pick_from(dql_e4m3_rebased, svlsr_n_u8_x(all, codes, 4)), pick_from(wrong_high, number));
}

DQL_INLINE void decode_e5m2fnuz(svuint8_t codes, svuint8_t *low, svuint8_t *high) {
    const svbool_t all = svptrue_b8();
    const svuint8_t number = svorr_u8_x(all, svlsl_n_u8_x(all, codes, 1), svlsr_n_u8_x(all, codes, 7));
    const svuint8_t shifted = svreinterpret_u8_s8(svasr_n_s8_x(all, svreinterpret_s8_u8(codes), 3));
    const svuint8_t rebased = svadd_n_u8_x(all, svand_n_u8_x(all, shifted, 0x8f), 0x38);
    *low = sveor_u8_x(all, svlsl_n_u8_x(all, codes, 5), pick_from(e5m2fnuz_wrong_low, number));
    *high = sveor_u8_x(all, rebased, pick_from(e5m2fnuz_wrong_high, number));
}

DQL_INLINE void decode(dql_type type, svuint8_t codes, svuint8_t *low, svuint8_t *high) {
    switch ((int)type) {
    case DQL_FLOAT8E4M3FN:
    case DQL_FLOAT8E4M3FNUZ: decode_e4m3(type, codes, low, high); return;
    case DQL_FLOAT8E5M2FNUZ: decode_e5m2fnuz(codes, low, high); return;
    default: *low = pick_from(e2m1_low, codes), *high = pick_from(e2m1_high, codes); return;
    }
}

DQL_INLINE void step_by_bfloat16(svuint8_t codes, dql_type x_type, dql_type y_type, void *y, vf32 scale) {
    const svbool_t all = svptrue_b32();
    svuint8_t low, high;
    decode(x_type, codes, &low, &high);
    const svuint16_t a = halves_of(low, high, false), b = halves_of(low, high, true), lower = svdup_u16(0);
    store_step(y_type, y, svmul_f32_x(all, lanes_of(lower, a, false), scale),
               svmul_f32_x(all, lanes_of(lower, a, true), scale), svmul_f32_x(all, lanes_of(lower, b, false), scale),
               svmul_f32_x(all, lanes_of(lower, b, true), scale));
}

/* ---- float6: a pack a lane ---- */

/* The lanes of float16 in lower halves, and of those in upper ones. */
DQL_INLINE vf32 lower_f16(svuint16_t halves, vf32 scale) {
    const svbool_t all = svptrue_b32();
    return svmul_f32_x(all, svcvt_f32_f16_x(all, svreinterpret_f16_u16(halves)), scale);
}

DQL_INLINE vf32 upper_f16(svuint16_t halves, vf32 scale) {
    const svuint32_t words = svreinterpret_u32_u16(halves);
    return lower_f16(svreinterpret_u16_u32(svlsr_n_u32_x(svptrue_b32(), words, 16)), scale);
}

/* Two codes of a pack, moved up to the highest bits of their halves, as float16, but for what unbias_of_float6 is. */
DQL_INLINE svuint16_t f16_from_pairs(dql_type type, svuint16_t pairs, svuint16_t up) {
    const svbool_t all = svptrue_b16();
    const svint16_t top = svreinterpret_s16_u16(svlsl_u16_x(all, pairs, up));
    return type == DQL_FLOAT6E2M3
               ? svand_u16_x(all, svreinterpret_u16_s16(svasr_n_s16_x(all, top, 3)), in_register(0x8f80))
               : svand_u16_x(all, svreinterpret_u16_s16(svasr_n_s16_x(all, top, 2)), in_register(0x9f00));
}

/* The lower half of a lane has the first two bytes of a pack, with its elements 0 and 1; the upper half has the last
 * two, with 2 and 3. */
DQL_INLINE void step_by_packs(dql_type x_type, dql_type y_type, const char *x, void *y, vf32 scale) {
    const svbool_t all = svptrue_b32();
    const svuint8_t bytes = svld1_u8(svwhilelt_b8_u64(0, 3 * LANES), (const uint8_t *)x);
    const svuint8_t order = svreinterpret_u8_u32(svindex_u32(0x02010100, 0x03030303));
    const svuint16_t pairs = svreinterpret_u16_u8(svtbl_u8(bytes, order));
    const svuint16_t even = f16_from_pairs(x_type, pairs, svreinterpret_u16_u32(svdup_u32(0x0006000a))),
                     odd = f16_from_pairs(x_type, pairs, svreinterpret_u16_u32(svdup_u32(0x00000004)));
    const vf32 a = lower_f16(even, scale), b = lower_f16(odd, scale), c = upper_f16(even, scale),
               d = upper_f16(odd, scale);
    if (y_type == DQL_FLOAT32)
        svst4_f32(all, y, svcreate4_f32(a, b, c, d));
    else
        svst2_u32(all, y, svcreate2_u32(halves_side_by_side(y_type, a, b), halves_side_by_side(y_type, c, d)));
}

/* ---- types of at most 16 codes to halves: a table of the outputs of all codes, as a plane of lower bytes and one of
 * upper ones, from which each element picks its own two ---- */

DQL_INLINE bool has_table16(dql_type x_type, dql_type y_type) {
    return dql_codes(x_type) <= 16 && dql_is_half(y_type);
}

/* The outputs of as many codes as there are lanes; past the last code they repeat. */
DQL_INLINE vf32 outputs_from(dql_type x_type, size_t first, vf32 scale, vf32 zero) {
    const uint32_t last = (uint32_t)dql_codes(x_type) - 1;
    const svuint32_t codes = svand_n_u32_x(svptrue_b32(), svindex_u32((uint32_t)first, 1), last);
    return dequantize_raw(x_type, raw_from_codes(x_type, codes), scale, zero);
}

/* Vectors have at least 4 lanes, so four of them have 16 codes. */
DQL_INLINE void make_table16(dql_type x_type, dql_type y_type, vf32 scale, vf32 zero, svuint8_t *low, svuint8_t *high) {
    const svuint16_t a =
        halves_from_pair(y_type, outputs_from(x_type, 0, scale, zero), outputs_from(x_type, LANES, scale, zero));
    const svuint16_t b = halves_from_pair(y_type, outputs_from(x_type, 2 * LANES, scale, zero),
                                          outputs_from(x_type, 3 * LANES, scale, zero));
    *low = svuzp1_u8(svreinterpret_u8_u16(a), svreinterpret_u8_u16(b));
    *high = svuzp2_u8(svreinterpret_u8_u16(a), svreinterpret_u8_u16(b));
}

DQL_INLINE void step_by_table16(svuint8_t codes, void *y, svuint8_t low, svuint8_t high) {
    const svuint8_t lower = svtbl_u8(low, codes), upper = svtbl_u8(high, codes);
    svst1_vnum_u16(svptrue_b16(), y, 0, halves_of(lower, upper, false));
    svst1_vnum_u16(svptrue_b16(), y, 1, halves_of(lower, upper, true));
}

/* ---- all of them ---- */

DQL_INLINE void step(dql_type x_type, dql_type y_type, const char *x, void *y, vf32 scale, vf32 zero, svuint8_t low,
                     svuint8_t high) {
    const dql_at at = {x, 0};
    if (has_table16(x_type, y_type))
        step_by_table16(load_codes(x_type, at, STEP), y, low, high);
    else if (is_by_bfloat16(x_type))
        step_by_bfloat16(load_codes(x_type, at, STEP), x_type, y_type, y, scale);
    else if (is_by_magic_number(x_type))
        step_by_magic_number(load_codes(x_type, at, STEP), x_type, y, scale, zero);
    else if (dql_bits(x_type) == 6)
        step_by_packs(x_type, y_type, x, y, scale);
    else
        step_by_loads(x_type, y_type, x, y, scale, zero);
}

/* Elements of a row from k on, as many steps as there are before `end`, of the row's first scale; x's first one starts
 * a pack. Returns the next k. */
DQL_INLINE size_t dequantize_steps(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end) {
    const size_t x_step = dql_bytes_of(STEP, dql_bits(x_type)), y_step = STEP * dql_y_bytes(y_type);
    const float scale = *row.scale;
    const int32_t zero = *row.zero;
    const char *from = dql_address(x_type, row.x, row.i + k);
    char *to = row.y + k * dql_y_bytes(y_type);
    svuint8_t low = svdup_u8(0), high = low;
    vf32 s = splat(scale), z = zero_splat(x_type, zero);
    if (has_table16(x_type, y_type))
        make_table16(x_type, y_type, s, z, &low, &high);
    else if (is_by_magic_number(x_type))
        z = svreinterpret_f32_s32(svdup_s32(0x4b000000 + code_sign(x_type) + zero));
    if (factor_of(x_type) != 1) {
        const float product = scale * factor_of(x_type);
        if (product / factor_of(x_type) != scale && scale == scale) /* too small or too large a scale */
            return k;
        s = splat(product);
    }
    size_t left = end - k; /* k beside it would take two instructions more in the loop */
    for (; left >= 2 * STEP; left -= 2 * STEP, from += 2 * x_step, to += 2 * y_step) {
        step(x_type, y_type, from, to, s, z, low, high);
        step(x_type, y_type, from + x_step, to + y_step, s, z, low, high);
    }
    if (left >= STEP) {
        step(x_type, y_type, from, to, s, z, low, high);
        left -= STEP;
    }
    return end - left;
}

/* Steps, and in vectors, the last of which is a part, what is before the start of a pack and what steps leave: one
 * loop, so that it is there once. */
DQL_INLINE void group_by_steps(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                               const void *tables) {
    (void)tables;
    const size_t pack = dql_pack_length(dql_bits(x_type)), skip = (pack - (row.i + k) % pack) % pack;
    size_t stop = end - k >= STEP + skip ? k + skip : end;
    for (;; stop = end) {
        dequantize_tail(x_type, y_type, row, k, stop, count);
        if (stop == end)
            return;
        k = dequantize_steps(x_type, y_type, row, stop, end);
    }
}

#endif
