/* The magnitudes of the 6-bit floats, by the lower five bits of their codes. The sixth is the sign. */
#ifndef DQL_FLOAT6_MAGNITUDES_H
#define DQL_FLOAT6_MAGNITUDES_H

#include "types.h"

static const float dql_float6e2m3[32] = {
    0, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f, 1, 1.125f, 1.25f, 1.375f, 1.5f, 1.625f, 1.75f, 1.875f,
    2, 2.25f,  2.5f,  2.75f,  3,    3.25f,  3.5f,  3.75f,  4, 4.5f,   5,     5.5f,   6,    6.5f,   7,     7.5f};
static const float dql_float6e3m2[32] = {
    0, 0.0625f, 0.125f, 0.1875f, 0.25f, 0.3125f, 0.375f, 0.4375f, 0.5f, 0.625f, 0.75f, 0.875f, 1,  1.25f, 1.5f, 1.75f,
    2, 2.5f,    3,      3.5f,    4,     5,       6,      7,       8,    10,     12,    14,     16, 20,    24,   28};

DQL_INLINE const float *dql_float6_magnitudes(dql_type type) {
    return type == DQL_FLOAT6E2M3 ? dql_float6e2m3 : dql_float6e3m2;
}

#endif
