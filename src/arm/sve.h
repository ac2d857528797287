/* SVE: as many lanes as the CPU has, and predicates for partial vectors. Nothing here knows how many lanes: the CPU is
 * asked. */
#ifndef DQL_ARM_SVE_H
#define DQL_ARM_SVE_H

#include "bytes.h"
#include "scalar/float8_tables.h"

#include <arm_sve.h>

typedef svfloat32_t vf32; /* raw integers are int32 */
#define LANES ((size_t)svcntw())
#define STEP  ((size_t)svcntb()) /* codes a vector: four vectors of lanes */

DQL_INLINE vf32 splat(float f) {
    return svdup_f32(f);
}

/* The lanes below n. */
DQL_INLINE svbool_t below(size_t n) {
    return n == LANES ? svptrue_b32() : svwhilelt_b32_u64(0, n);
}

/* ---- elements to lanes ---- */

/* n elements of 6 bits, a lane each, in its highest bits. An element is in two bytes. */
DQL_INLINE svint32_t load_6_bits(dql_type type, dql_at at, size_t n) {
    const svbool_t all = svptrue_b32();
    const bit_place first = place_of_bits(type, at);
    const svuint32_t bit = svindex_u32(first.shift, 6), byte = svlsr_n_u32_x(all, bit, 3);
    const svuint32_t two = svadd_n_u32_x(all, svmul_n_u32_x(all, byte, 0x0101), 0xffff0100);
    const svuint8_t bytes = svld1_u8(svwhilelt_b8_u64(0, (first.shift + n * 6 + 7) / 8), (const uint8_t *)first.byte);
    const svuint32_t shift = svsub_u32_x(all, svdup_u32(26), svand_n_u32_x(all, bit, 7));
    const svuint32_t codes = svreinterpret_u32_u8(svtbl_u8(bytes, svreinterpret_u8_u32(two)));
    return svreinterpret_s32_u32(svlsl_u32_x(all, codes, shift));
}

/* The codes of n elements, one a byte, from byte at.skip on: STEP elements that start a pack, or at most LANES. Where
 * these are fewer than bytes, those past the last pack are 0. Not of 6 bits: load_6_bits makes lanes of them. */
DQL_INLINE svuint8_t load_codes(dql_type type, dql_at at, size_t n) {
    const uint8_t *x = (const uint8_t *)at.byte;
    const svbool_t all = svptrue_b8();
    const size_t pack = dql_pack_length(dql_bits(type)), packs = (at.skip + n + pack - 1) / pack;
    if (dql_bits(type) == 8)
        return svld1_u8(n == STEP ? all : svwhilelt_b8_u64(0, packs), x);
    if (dql_bits(type) == 4) {
        const svuint16_t two = svld1ub_u16(n == STEP ? all : svwhilelt_b16_u64(0, packs), x);
        const svuint16_t spread = svorr_u16_x(all, two, svlsl_n_u16_x(all, two, 4));
        return svand_n_u8_x(all, svreinterpret_u8_u16(spread), 0x0f);
    }
    const svuint32_t four = svld1ub_u32(n == STEP ? all : svwhilelt_b32_u64(0, packs), x);
    const svuint32_t pairs = svorr_u32_x(all, four, svlsl_n_u32_x(all, four, 6));
    const svuint32_t spread = svorr_u32_x(all, pairs, svlsl_n_u32_x(all, pairs, 12));
    return svand_n_u8_x(all, svreinterpret_u8_u32(spread), 0x03);
}

/* Bytes [skip, skip + LANES), each as a lane. Index 0xff picks a 0: it is past all vectors or past all codes. */
DQL_INLINE svuint32_t lanes_from_bytes(svuint8_t bytes, size_t skip) {
    const svuint32_t index = svorr_n_u32_x(svptrue_b32(), svindex_u32((uint32_t)skip, 1), 0xffffff00);
    return svreinterpret_u32_u8(svtbl_u8(bytes, svreinterpret_u8_u32(index)));
}

/* What turns the codes of signed packed types into numbers from 0 on. */
DQL_INLINE uint8_t code_sign(dql_type type) {
    return type == DQL_INT4 ? 8 : type == DQL_INT2 ? 2 : 0;
}

/* float16 with fewer bits of both kinds and another bias: lanes that have a code in their highest bits. */
DQL_INLINE vf32 from_small_float(svint32_t codes, unsigned bits, unsigned mantissa_bits, float unbias) {
    const svbool_t all = svptrue_b32();
    const unsigned missing = 10 - mantissa_bits;
    const svuint32_t shifted = svreinterpret_u32_s32(svasr_n_s32_x(all, codes, 32 - bits - missing));
    const svuint32_t halves = svand_n_u32_x(all, shifted, 0x8000 | ((1u << (bits - 1)) - 1) << missing);
    return svmul_n_f32_x(all, svcvt_f32_f16_x(all, svreinterpret_f16_u32(halves)), unbias);
}

/* What the numbers of float6 are to be multiplied by where their bits were moved to float16. */
DQL_INLINE float unbias_of_float6(dql_type type) {
    return type == DQL_FLOAT6E2M3 ? 0x1p14f : 0x1p12f;
}

/* Codes of packed types, but of 6 bits. */
DQL_INLINE vf32 raw_from_codes(dql_type type, svuint32_t codes) {
    const svbool_t all = svptrue_b32();
    if (type == DQL_FLOAT4E2M1)
        return from_small_float(svreinterpret_s32_u32(svlsl_n_u32_x(all, codes, 28)), 4, 1, 0x1p14f);
    return svreinterpret_f32_u32(svsub_n_u32_x(all, sveor_n_u32_x(all, codes, code_sign(type)), code_sign(type)));
}

/* The upper byte of float16. */
DQL_INLINE vf32 from_e5m2(svuint32_t codes) {
    const svbool_t all = svptrue_b32();
    return svcvt_f32_f16_x(all, svreinterpret_f16_u32(svlsl_n_u32_x(all, codes, 8)));
}

/* The exponent of float32; the least and the greatest code have a mantissa too. */
DQL_INLINE vf32 from_e8m0(svuint32_t codes) {
    const svbool_t all = svptrue_b32();
    const svuint32_t exponents = svlsl_n_u32_x(all, codes, 23);
    const svbool_t ends = svorr_b_z(all, svcmpeq_n_u32(all, codes, 0), svcmpeq_n_u32(all, codes, 0xff));
    return svreinterpret_f32_u32(svorr_n_u32_m(ends, exponents, 0x400000));
}

DQL_INLINE vf32 load(dql_type type, dql_at at, size_t n) {
    if (dql_bits(type) == 6)
        return from_small_float(load_6_bits(type, at, n), 6, type == DQL_FLOAT6E2M3 ? 3 : 2, unbias_of_float6(type));
    if (dql_is_packed(type))
        return raw_from_codes(type, lanes_from_bytes(load_codes(type, at, n), at.skip));
    const svbool_t p = below(n), all = svptrue_b32();
    const uint8_t *p8 = (const uint8_t *)at.byte;
    const uint16_t *p16 = (const uint16_t *)(const void *)at.byte;
    const uint32_t *p32 = (const uint32_t *)(const void *)at.byte;
    switch ((int)type) {
    case DQL_INT8: return svreinterpret_f32_s32(svld1sb_s32(p, (const int8_t *)p8));
    case DQL_UINT8: return svreinterpret_f32_u32(svld1ub_u32(p, p8));
    case DQL_INT16: return svreinterpret_f32_s32(svld1sh_s32(p, (const int16_t *)p16));
    case DQL_UINT16: return svreinterpret_f32_u32(svld1uh_u32(p, p16));
    case DQL_INT32: return svreinterpret_f32_u32(svld1_u32(p, p32));
    case DQL_FLOAT8E4M3FN: return svld1_gather_u32index_f32(p, dql_float8e4m3fn, svld1ub_u32(p, p8));
    case DQL_FLOAT8E4M3FNUZ: return svld1_gather_u32index_f32(p, dql_float8e4m3fnuz, svld1ub_u32(p, p8));
    case DQL_FLOAT8E5M2: return from_e5m2(svld1ub_u32(p, p8));
    case DQL_FLOAT8E5M2FNUZ: return svld1_gather_u32index_f32(p, dql_float8e5m2fnuz, svld1ub_u32(p, p8));
    case DQL_FLOAT32: return svreinterpret_f32_u32(svld1_u32(p, p32));
    case DQL_FLOAT16: return svcvt_f32_f16_x(all, svreinterpret_f16_u32(svld1uh_u32(p, p16)));
    case DQL_BFLOAT16: return svreinterpret_f32_u32(svlsl_n_u32_x(all, svld1uh_u32(p, p16), 16));
    case DQL_FLOAT8E8M0: return from_e8m0(svld1ub_u32(p, p8));
    default: return splat(0); /* not reached */
    }
}

/* ---- arithmetic ---- */

/* Zero points in int32. */
DQL_INLINE vf32 word_of(dql_type type, vf32 raw) {
    const vf32 nan = svreinterpret_f32_u32(svdup_u32(0x7fc00000));
    return dql_is_scale(type) ? svsel_f32(svcmpuo_f32(svptrue_b32(), raw, raw), nan, raw) : raw;
}

DQL_INLINE vf32 affine(vf32 v, vf32 scale, vf32 zero) {
    return svmul_f32_x(svptrue_b32(), svsub_f32_x(svptrue_b32(), v, zero), scale);
}

/* The last place of a float of this size is 1, so adding an integer of up to 22 bits and a sign to its bits adds it to
 * the float. Conversions do the same, but only in one or two of the units that add. */
#define INT_MAGIC      0x1.8p23f
#define INT_MAGIC_BITS 0x4b400000

/* The words that raw lanes are added to. */
DQL_INLINE vf32 zero_vector(dql_type type, vf32 words) {
    (void)type;
    return svreinterpret_f32_s32(svsubr_n_s32_x(svptrue_b32(), svreinterpret_s32_f32(words), INT_MAGIC_BITS));
}

DQL_INLINE vf32 zero_splat(dql_type type, int32_t word) {
    (void)type;
    return svreinterpret_f32_s32(svdup_s32(INT_MAGIC_BITS - word));
}

DQL_INLINE vf32 dequantize_raw(dql_type type, vf32 raw, vf32 scale, vf32 zero) {
    const svbool_t all = svptrue_b32();
    if (!dql_subtracts(type))
        return svmul_f32_x(all, type == DQL_INT32 ? svcvt_f32_s32_x(all, svreinterpret_s32_f32(raw)) : raw, scale);
    const svuint32_t sum = svadd_u32_x(all, svreinterpret_u32_f32(raw), svreinterpret_u32_f32(zero));
    return affine(svreinterpret_f32_u32(sum), scale, splat(INT_MAGIC));
}

/* (in_group + lane) / group_length by a multiplication, which is exact for numbers this small. */
DQL_INLINE vf32 expand(const void *from, size_t n, size_t group_length, size_t in_group) {
    const svbool_t all = svptrue_b32();
    const svuint32_t place = svindex_u32((uint32_t)in_group, 1);
    const svuint32_t index = svlsr_n_u32_x(all, svmul_n_u32_x(all, place, (uint32_t)(0x7fff / group_length + 1)), 15);
    return svtbl_f32(svreinterpret_f32_u32(svld1_u32(below(n), from)), index);
}

/* ---- lanes to elements ---- */

/* The upper half, rounded up by adding a half, less one if that is even: ties to even. No NaN that gets here has a
 * lower half that would carry. (SVE has no instruction for this without BF16.) */
DQL_INLINE svuint32_t bf16_from_f32(vf32 v) {
    const svbool_t all = svptrue_b32();
    const svuint32_t bits = svreinterpret_u32_f32(v);
    const svuint32_t odd = svand_n_u32_x(all, svlsr_n_u32_x(all, bits, 16), 1);
    return svlsr_n_u32_x(all, svadd_u32_x(all, svadd_n_u32_x(all, bits, 0x7fff), odd), 16);
}

DQL_INLINE svuint32_t f16_from_f32(vf32 v) {
    return svreinterpret_u32_f16(svcvt_f16_f32_x(svptrue_b32(), v));
}

DQL_INLINE void store(dql_type type, void *to, size_t i, size_t n, vf32 v) {
    const svbool_t p = below(n);
    uint16_t *p16 = (uint16_t *)to + i;
    switch ((int)type) {
    case DQL_FLOAT32: svst1_f32(p, (float *)to + i, v); return;
    case DQL_FLOAT16: svst1h_u32(p, p16, f16_from_f32(v)); return;
    case DQL_BFLOAT16: svst1h_u32(p, p16, bf16_from_f32(v)); return;
    default: return; /* not reached */
    }
}

/* Nothing here is faster than ordinary stores. */
enum { CAN_STREAM = false };

DQL_INLINE void store_past(dql_type type, void *to, size_t i, vf32 v) {
    store(type, to, i, LANES, v);
}

/* A constant that the compiler doesn't know. Instructions that hold a known one themselves overwrite their operand, and
 * mostly need another one that keeps it. */
DQL_INLINE svuint16_t in_register(uint16_t constant) {
    svuint16_t v = svdup_u16(constant);
    __asm__("" : "+w"(v));
    return v;
}

/* Upper halves of floats, rounded as above: up where the lower ones are more than a half, or a half under an odd one.
 */
DQL_INLINE svuint16_t bf16_from_halves(svuint16_t lower, svuint16_t upper) {
    const svbool_t all = svptrue_b16();
    const svuint16_t one = in_register(1), odd = svand_u16_x(all, upper, one);
    const svbool_t up = svcmpgt_n_u16(all, svorr_u16_x(all, lower, odd), 0x8000);
    return svadd_u16_m(up, upper, one);
}

/* The halves of the lanes of a, then of b. */
DQL_INLINE svuint16_t halves_from_pair(dql_type type, vf32 a, vf32 b) {
    const svuint16_t a_bits = svreinterpret_u16_f32(a), b_bits = svreinterpret_u16_f32(b);
    if (type == DQL_BFLOAT16)
        return bf16_from_halves(svuzp1_u16(a_bits, b_bits), svuzp2_u16(a_bits, b_bits));
    return svuzp1_u16(svreinterpret_u16_u32(f16_from_f32(a)), svreinterpret_u16_u32(f16_from_f32(b)));
}

/* The half of a lane of a, then of the same one of b, in a word. */
DQL_INLINE svuint32_t halves_side_by_side(dql_type type, vf32 a, vf32 b) {
    const svuint16_t a_bits = svreinterpret_u16_f32(a), b_bits = svreinterpret_u16_f32(b);
    if (type == DQL_BFLOAT16)
        return svreinterpret_u32_u16(bf16_from_halves(svtrn1_u16(a_bits, b_bits), svtrn2_u16(a_bits, b_bits)));
    return svreinterpret_u32_u16(
        svtrn1_u16(svreinterpret_u16_u32(f16_from_f32(a)), svreinterpret_u16_u32(f16_from_f32(b))));
}

/* Stores four whole vectors. */
DQL_INLINE void store_step(dql_type type, void *to, vf32 a, vf32 b, vf32 c, vf32 d) {
    const svbool_t all = svptrue_b8();
    if (type == DQL_FLOAT32) {
        svst1_vnum_f32(all, to, 0, a);
        svst1_vnum_f32(all, to, 1, b);
        svst1_vnum_f32(all, to, 2, c);
        svst1_vnum_f32(all, to, 3, d);
    } else {
        svst1_vnum_u16(all, to, 0, halves_from_pair(type, a, b));
        svst1_vnum_u16(all, to, 1, halves_from_pair(type, c, d));
    }
}

#endif
