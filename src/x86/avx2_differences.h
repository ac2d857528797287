/* The differences of two integer codes of 4 bits, -15 to 15. */
#ifndef DQL_X86_AVX2_DIFFERENCES_H
#define DQL_X86_AVX2_DIFFERENCES_H

#include <stdint.h>

enum { LEAST_DIFFERENCE = -15 };

static const _Alignas(64) float differences[] = {-15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0,
                                                 1,   2,   3,   4,   5,   6,   7,  8,  9,  10, 11, 12, 13, 14, 15};

/* A byte of each in bfloat16, which has them all. */
#define LOG2(n)      ((n) >= 8 ? 3 : (n) >= 4 ? 2 : (n) >= 2 ? 1 : 0)
#define MAGNITUDE(n) ((127 + LOG2(n)) << 7 | ((n) * (128 >> LOG2(n)) & 0x7f))
#define BFLOAT16(n)  ((n) == 0 ? 0 : (n) > 0 ? MAGNITUDE(n) : 0x8000 | MAGNITUDE(-(n)))
#define LOW(n)       (BFLOAT16(n) & 0xff)
#define HIGH(n)      (BFLOAT16(n) >> 8)

/* Row z - z_least: code k less zero point z, for the codes in their order, in which those of int4 from 8 on are -8 to
 * -1. */
#define EIGHT(byte, n)                                                                                                 \
    byte(n), byte((n) + 1), byte((n) + 2), byte((n) + 3), byte((n) + 4), byte((n) + 5), byte((n) + 6), byte((n) + 7)
#define ROW(byte, z, eighth)                                                                                           \
    { EIGHT(byte, -(z)), EIGHT(byte, eighth - (z)) }
#define ROWS_4(byte, z, eighth)                                                                                        \
    ROW(byte, z, eighth), ROW(byte, z + 1, eighth), ROW(byte, z + 2, eighth), ROW(byte, z + 3, eighth)
#define ROWS_16(byte, z, eighth)                                                                                       \
    ROWS_4(byte, z, eighth), ROWS_4(byte, z + 4, eighth), ROWS_4(byte, z + 8, eighth), ROWS_4(byte, z + 12, eighth)

static const _Alignas(64) uint8_t int4_low[16][16] = {ROWS_16(LOW, -8, -8)};
static const _Alignas(64) uint8_t int4_high[16][16] = {ROWS_16(HIGH, -8, -8)};
static const _Alignas(64) uint8_t uint4_low[16][16] = {ROWS_16(LOW, 0, 8)};
static const _Alignas(64) uint8_t uint4_high[16][16] = {ROWS_16(HIGH, 0, 8)};

#undef LOG2
#undef MAGNITUDE
#undef BFLOAT16
#undef LOW
#undef HIGH
#undef EIGHT
#undef ROW
#undef ROWS_4
#undef ROWS_16

#endif
