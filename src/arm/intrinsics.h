/* NEON's intrinsics: the compiler's on AArch64, SIMDe's elsewhere. */
#ifndef DQL_ARM_INTRINSICS_H
#define DQL_ARM_INTRINSICS_H

#include "kernel.h"

#ifdef __aarch64__

#include <arm_neon.h>

DQL_INLINE uint16x8_t f16_from_f32(float32x4_t a, float32x4_t b) {
    return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(a), b));
}

DQL_INLINE float32x4_t f32_from_low_f16(uint16x8_t h) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(h)));
}

DQL_INLINE float32x4_t f32_from_high_f16(uint16x8_t h) {
    return vcvt_high_f32_f16(vreinterpretq_f16_u16(h));
}

/* The lower lanes of v widened, less those of zero; and the upper ones. */
#define DEFINE_MINUS(type, narrow, wide)                                                                               \
    DQL_INLINE wide minus_low_##type(narrow v, narrow zero) {                                                          \
        return vsubl_##type(vget_low_##type(v), vget_low_##type(zero));                                                \
    }                                                                                                                  \
    DQL_INLINE wide minus_high_##type(narrow v, narrow zero) {                                                         \
        return vsubl_high_##type(v, zero);                                                                             \
    }
DEFINE_MINUS(s8, int8x16_t, int16x8_t)
DEFINE_MINUS(u8, uint8x16_t, uint16x8_t)
DEFINE_MINUS(s16, int16x8_t, int32x4_t)
DEFINE_MINUS(u16, uint16x8_t, uint32x4_t)
#undef DEFINE_MINUS

/* a[0], b[0], c[0], d[0], a[1], ... */
DQL_INLINE void store_interleaved(void *to, uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16x4_t all = {{a, b, c, d}};
    vst4q_u8(to, all);
}

/* Every third byte, from each of the first three on. */
DQL_INLINE uint8x16x3_t load_thirds(const char *p) {
    return vld3q_u8((const uint8_t *)p);
}

#else

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

/* ---- SIMDe's own of these go lane by lane, or through vectors of 64 bits, which gcc 12 gets wrong on POWER ---- */

#define DEFINE_MINUS(type, narrow, wide, widened)                                                                      \
    DQL_INLINE wide minus_low_##type(narrow v, narrow zero) {                                                          \
        return vsubq_##widened(widen_##type(vzip1q_##type(v, v)), widen_##type(vzip1q_##type(zero, zero)));            \
    }                                                                                                                  \
    DQL_INLINE wide minus_high_##type(narrow v, narrow zero) {                                                         \
        return vsubq_##widened(widen_##type(vzip2q_##type(v, v)), widen_##type(vzip2q_##type(zero, zero)));            \
    }
#define widen_s8(twice)  vshrq_n_s16(vreinterpretq_s16_s8(twice), 8)
#define widen_u8(twice)  vshrq_n_u16(vreinterpretq_u16_u8(twice), 8)
#define widen_s16(twice) vshrq_n_s32(vreinterpretq_s32_s16(twice), 16)
#define widen_u16(twice) vshrq_n_u32(vreinterpretq_u32_u16(twice), 16)
DEFINE_MINUS(s8, int8x16_t, int16x8_t, s16)
DEFINE_MINUS(u8, uint8x16_t, uint16x8_t, u16)
DEFINE_MINUS(s16, int16x8_t, int32x4_t, s32)
DEFINE_MINUS(u16, uint16x8_t, uint32x4_t, u32)
#undef DEFINE_MINUS
#undef widen_s8
#undef widen_u8
#undef widen_s16
#undef widen_u16

DQL_INLINE uint32x4_t where(uint32x4_t condition, uint32_t value, uint32x4_t otherwise) {
    return vbslq_u32(condition, vdupq_n_u32(value), otherwise);
}

/* In lanes of 32 bits. To nearest, ties to even: by hand where the result is normal, by adding 0.5 where it is
 * subnormal, in units of 2^-24. */
DQL_INLINE uint16x8_t f16_from_4_f32(float32x4_t v) {
    const uint32x4_t bits = vreinterpretq_u32_f32(v), magnitude = vandq_u32(bits, vdupq_n_u32(0x7fffffff));
    const int32x4_t compared = vreinterpretq_s32_u32(magnitude);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(magnitude, 13), vdupq_n_u32(1));
    const uint32x4_t rebase = vdupq_n_u32(0xfff - ((127u - 15u) << 23));
    const uint32x4_t normal = vshrq_n_u32(vaddq_u32(vaddq_u32(magnitude, odd), rebase), 13);
    const float32x4_t half = vdupq_n_f32(0.5f), sum = vaddq_f32(vreinterpretq_f32_u32(magnitude), half);
    const uint32x4_t small = vsubq_u32(vreinterpretq_u32_f32(sum), vreinterpretq_u32_f32(half));
    uint32x4_t h = vbslq_u32(vcltq_s32(compared, vdupq_n_s32(0x38800000)), small, normal);
    h = where(vcgeq_s32(compared, vdupq_n_s32(0x47800000)), 0x7c00, h);
    h = where(vcgtq_s32(compared, vdupq_n_s32(0x7f800000)), 0x7e00, h);
    return vreinterpretq_u16_u32(vorrq_u32(h, vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(0x8000))));
}

DQL_INLINE uint16x8_t f16_from_f32(float32x4_t a, float32x4_t b) {
    return vuzp1q_u16(f16_from_4_f32(a), f16_from_4_f32(b));
}

/* From lanes of 32 bits. Exponents are rebased; subnormals are counted above 2^-14, which is then subtracted. (To
 * multiply them they would have to be subnormal float32 numbers, which a program may flush.) */
DQL_INLINE float32x4_t f32_from_4_f16(uint16x8_t halves) {
    const uint32x4_t h = vreinterpretq_u32_u16(halves), magnitude = vshlq_n_u32(vandq_u32(h, vdupq_n_u32(0x7fff)), 13);
    const uint32x4_t rebased = vaddq_u32(magnitude, vdupq_n_u32((127u - 15u) << 23)), least = vdupq_n_u32(113u << 23);
    const float32x4_t sum = vreinterpretq_f32_u32(vaddq_u32(magnitude, least));
    const uint32x4_t small = vreinterpretq_u32_f32(vsubq_f32(sum, vreinterpretq_f32_u32(least)));
    const uint32x4_t is_small = vcltq_s32(vreinterpretq_s32_u32(magnitude), vdupq_n_s32(0x400 << 13));
    const uint32x4_t special = vcgeq_s32(vreinterpretq_s32_u32(magnitude), vdupq_n_s32(0x7c00 << 13));
    const uint32x4_t sign = vshlq_n_u32(vandq_u32(h, vdupq_n_u32(0x8000)), 16);
    const uint32x4_t bits = vorrq_u32(vbslq_u32(is_small, small, rebased), vandq_u32(special, vdupq_n_u32(0x7f800000)));
    return vreinterpretq_f32_u32(vorrq_u32(bits, sign));
}

DQL_INLINE float32x4_t f32_from_low_f16(uint16x8_t h) {
    return f32_from_4_f16(vzip1q_u16(h, vdupq_n_u16(0)));
}

DQL_INLINE float32x4_t f32_from_high_f16(uint16x8_t h) {
    return f32_from_4_f16(vzip2q_u16(h, vdupq_n_u16(0)));
}

DQL_INLINE void store_interleaved(void *to, uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    uint8_t *p = to;
    const uint16x8_t ab = vreinterpretq_u16_u8(vzip1q_u8(a, b)), ab_next = vreinterpretq_u16_u8(vzip2q_u8(a, b));
    const uint16x8_t cd = vreinterpretq_u16_u8(vzip1q_u8(c, d)), cd_next = vreinterpretq_u16_u8(vzip2q_u8(c, d));
    vst1q_u8(p, vreinterpretq_u8_u16(vzip1q_u16(ab, cd)));
    vst1q_u8(p + 16, vreinterpretq_u8_u16(vzip2q_u16(ab, cd)));
    vst1q_u8(p + 32, vreinterpretq_u8_u16(vzip1q_u16(ab_next, cd_next)));
    vst1q_u8(p + 48, vreinterpretq_u8_u16(vzip2q_u16(ab_next, cd_next)));
}

DQL_INLINE uint8x16x3_t load_thirds(const char *p) {
    static const uint8_t third[] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45};
    const uint8_t *const b = (const uint8_t *)p;
    const uint8x16x3_t all = {{vld1q_u8(b), vld1q_u8(b + 16), vld1q_u8(b + 32)}};
    const uint8x16_t first = vld1q_u8(third);
    return (uint8x16x3_t){{vqtbl3q_u8(all, first), vqtbl3q_u8(all, vaddq_u8(first, vdupq_n_u8(1))),
                           vqtbl3q_u8(all, vaddq_u8(first, vdupq_n_u8(2)))}};
}

#endif

#endif
