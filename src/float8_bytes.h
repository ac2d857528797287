/* The two bytes of the bfloat16 that a code of float8e4m3fn is. Shifted, a code is one with another bias: its exponent
 * is rebased, which is wrong where that is 0, and for NaN. Those nine magnitudes have numbers 0 to 8 if 1 is added to
 * them in 7 bits, and tables have their bits that are wrong, and 0 for all other numbers:
 *
 *     low  = code << 4 ^ wrong_low[number], high = rebased[code >> 4] ^ wrong_high[number] */
#ifndef DQL_FLOAT8_BYTES_H
#define DQL_FLOAT8_BYTES_H

#include <stdint.h>

static const uint8_t dql_e4m3_rebased[16] = {0x3c, 0x3d, 0x3e, 0x3f, 0x40, 0x41, 0x42, 0x43,
                                             0xbc, 0xbd, 0xbe, 0xbf, 0xc0, 0xc1, 0xc2, 0xc3};
/* NaN, 0, 1, ... 7 */
static const uint8_t dql_e4m3fn_wrong_low[16] = {0, 0, 0x10, 0xa0, 0xf0, 0x40, 0x70, 0x20, 0x10};
static const uint8_t dql_e4m3fn_wrong_high[16] = {0x3c, 0x3c, 0x07, 0x07, 0x07};

#endif
