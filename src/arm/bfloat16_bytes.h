/* The two bytes of the bfloat16 that a code of a small float type is, for the codes that no arithmetic gives. */
#ifndef DQL_ARM_BFLOAT16_BYTES_H
#define DQL_ARM_BFLOAT16_BYTES_H

#include <stdint.h>

/* float4e2m1, code by code. */
static const uint8_t e2m1_low[16] = {0, 0, 0x80, 0xc0, 0, 0x40, 0x80, 0xc0, 0, 0, 0x80, 0xc0, 0, 0x40, 0x80, 0xc0};
static const uint8_t e2m1_high[16] = {0,    0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40,
                                      0x80, 0xbf, 0xbf, 0xbf, 0xc0, 0xc0, 0xc0, 0xc0};

/* float8e5m2fnuz: a code shifted right by 3 with its sign is a bfloat16 with another bias. Its exponent is rebased,
 * which is wrong where that is 0, and for NaN. The code rotated left by one numbers those; for them tables have the
 * bits that are wrong, and 0 for all other numbers. In this order: 0, NaN, 1, -1, 2, -2, 3, -3. */
static const uint8_t e5m2fnuz_wrong_low[16] = {0, 0xc0, 0xa0, 0xa0, 0x40, 0x40, 0x20, 0x20};
static const uint8_t e5m2fnuz_wrong_high[16] = {0x38, 0xc7, 0x0f, 0x0f};

#endif
