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

/* a[0], b[0], c[0], d[0], a[1], ... */
DQL_INLINE void store_interleaved(void *to, uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16x4_t all = {{a, b, c, d}};
    vst4q_u8(to, all);
}

#else

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

DQL_INLINE uint16x8_t f16_from_f32(float32x4_t a, float32x4_t b) {
    return vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(a)), vreinterpret_u16_f16(vcvt_f16_f32(b)));
}

DQL_INLINE float32x4_t f32_from_low_f16(uint16x8_t h) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(h)));
}

DQL_INLINE float32x4_t f32_from_high_f16(uint16x8_t h) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(h)));
}

/* SIMDe's own goes byte by byte. */
DQL_INLINE void store_interleaved(void *to, uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    uint8_t *p = to;
    const uint16x8_t ab = vreinterpretq_u16_u8(vzip1q_u8(a, b)), ab_next = vreinterpretq_u16_u8(vzip2q_u8(a, b));
    const uint16x8_t cd = vreinterpretq_u16_u8(vzip1q_u8(c, d)), cd_next = vreinterpretq_u16_u8(vzip2q_u8(c, d));
    vst1q_u8(p, vreinterpretq_u8_u16(vzip1q_u16(ab, cd)));
    vst1q_u8(p + 16, vreinterpretq_u8_u16(vzip2q_u16(ab, cd)));
    vst1q_u8(p + 32, vreinterpretq_u8_u16(vzip1q_u16(ab_next, cd_next)));
    vst1q_u8(p + 48, vreinterpretq_u8_u16(vzip2q_u16(ab_next, cd_next)));
}

#endif

#endif
