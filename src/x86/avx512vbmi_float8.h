/* float8, 64 elements at a time: of the two bytes that an output begins with, each is picked from a table of the 128
 * magnitudes. For halves these are the finished outputs of a run; for float32 they are the upper half of the decoded
 * number, since every float8 number is a bfloat16, and the scale is still to come. */
#ifndef DQL_X86_AVX512VBMI_FLOAT8_H
#define DQL_X86_AVX512VBMI_FLOAT8_H

#include "x86/avx512vbmi_planes.h"

#include "scalar/float8_tables.h"

/* Elements of a run from which on tables of finished halves are worth their making. */
enum { FLOAT8_HALVES_RUN = 256 };

typedef struct planes {
    __m512i low[2], high[2]; /* bytes */
} planes;

/* Where -0 is NaN, tables are read backwards: codes are inverted but for the sign, so that a NaN is 0xff. */
DQL_INLINE bool minus_zero_is_nan(dql_type type) {
    return type == DQL_FLOAT8E4M3FNUZ || type == DQL_FLOAT8E5M2FNUZ;
}

DQL_INLINE planes in_reading_order(dql_type type, planes p) {
    if (!minus_zero_is_nan(type))
        return p;
    const __m512i up = _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                                        0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
    const __m512i down = _mm512_sub_epi8(_mm512_set1_epi8(63), up);
    return (planes){{_mm512_permutexvar_epi8(down, p.low[1]), _mm512_permutexvar_epi8(down, p.low[0])},
                    {_mm512_permutexvar_epi8(down, p.high[1]), _mm512_permutexvar_epi8(down, p.high[0])}};
}

DQL_INLINE planes decoded_planes(dql_type type) {
    const uint8_t *bytes = type == DQL_FLOAT8E4M3FN     ? dql_float8e4m3fn_planes
                           : type == DQL_FLOAT8E4M3FNUZ ? dql_float8e4m3fnuz_planes
                           : type == DQL_FLOAT8E5M2     ? dql_float8e5m2_planes
                                                        : dql_float8e5m2fnuz_planes;
    return in_reading_order(type, (planes){{_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes + 64)},
                                           {_mm512_loadu_si512(bytes + 128), _mm512_loadu_si512(bytes + 192)}});
}

DQL_INLINE planes finished_planes(dql_type x_type, dql_type y_type, vf32 scale) {
    _Alignas(64) uint16_t halves[128];
    planes p;
    finish_halves(x_type, y_type, halves, 128, scale, splat_zero(x_type, 0));
    split_halves(halves, &p.low[0], &p.high[0]);
    split_halves(halves + 64, &p.low[1], &p.high[1]);
    return in_reading_order(x_type, p);
}

/* The two bytes of 64 codes. Negative numbers are the positive ones with another sign. */
DQL_INLINE void pick_bytes(dql_type type, const planes *p, __m512i codes, __m512i *low, __m512i *high) {
    __m512i positive;
    if (minus_zero_is_nan(type)) { /* which stays as it is: all ones */
        codes = _mm512_xor_si512(codes, _mm512_set1_epi8(0x7f));
        const __mmask64 number = _mm512_cmpneq_epi8_mask(codes, _mm512_set1_epi8((char)0xff));
        *low = _mm512_mask2_permutex2var_epi8(p->low[0], codes, number, p->low[1]);
        positive = _mm512_mask2_permutex2var_epi8(p->high[0], codes, number, p->high[1]);
        *high = _mm512_ternarylogic_epi64(positive, codes, _mm512_set1_epi8((char)0x80), 0x78);
        return;
    }
    *low = _mm512_permutex2var_epi8(p->low[0], codes, p->low[1]);
    positive = _mm512_permutex2var_epi8(p->high[0], codes, p->high[1]);
    *high = _mm512_ternarylogic_epi64(positive, codes, _mm512_set1_epi8((char)0x80), 0x78 /* a ^ (b & c) */);
}

/* Codes are ordered so that interleaving the bytes of outputs within 128-bit lanes leaves: */
DQL_INLINE __m512i load_codes(dql_type y_type, const char *x) {
    if (y_type != DQL_FLOAT32)
        return load_for_halves(x);
    /* dwords of which the lower halves are in order, and the upper ones */
    const __m512i order =
        _mm512_set_epi64(0x3f2f3e2e3d2d3c2c, 0x1f0f1e0e1d0d1c0c, 0x3b2b3a2a39293828, 0x1b0b1a0a19091808,
                         0x3727362635253424, 0x1707160615051404, 0x3323322231213020, 0x1303120211011000);
    return _mm512_permutexvar_epi8(order, _mm512_loadu_si512(x));
}

DQL_INLINE void float8_64(dql_type x_type, dql_type y_type, const planes *p, const char *x, char *y, vf32 scale) {
    __m512i low, high;
    pick_bytes(x_type, p, load_codes(y_type, x), &low, &high);
    const __m512i halves[] = {_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)};
    if (y_type != DQL_FLOAT32) {
        _mm512_storeu_si512(y, halves[0]);
        _mm512_storeu_si512(y + 64, halves[1]);
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        const vf32 a = _mm512_castsi512_ps(_mm512_slli_epi32(halves[k], 16));
        const vf32 b = _mm512_castsi512_ps(_mm512_and_si512(halves[k], _mm512_set1_epi32((int)0xffff0000)));
        _mm512_storeu_ps(y + 128 * k, _mm512_mul_ps(a, scale));
        _mm512_storeu_ps(y + 128 * k + 64, _mm512_mul_ps(b, scale));
    }
}

/* For float8, if the first run is long enough; else false. Zero points are 0. */
DQL_INLINE bool dequantize_float8(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count,
                                  size_t run, const float *scale) {
    const size_t least = y_type == DQL_FLOAT32 ? 64 : FLOAT8_HALVES_RUN, y_size = y_type == DQL_FLOAT32 ? 4 : 2;
    const bool is_float8 = !dql_is_integer(x_type) && dql_x_bits(x_type) == 8;
    if (!is_float8 || run < least || count < least)
        return false;
    const planes decoded = decoded_planes(x_type);
    for (size_t k = 0, end; k < count; k = end, scale++) {
        end = run < count - k ? k + run : count;
        if (end - k >= least) {
            const vf32 s = splat(*scale);
            const planes p = y_type == DQL_FLOAT32 ? decoded : finished_planes(x_type, y_type, s);
            for (; end - k >= 64; k += 64)
                float8_64(x_type, y_type, &p, (const char *)x + i + k, (char *)y + y_size * k, s);
        }
        dequantize_rest(x_type, y_type, x, i, y, k, end, *scale, 0);
    }
    return true;
}

#endif
