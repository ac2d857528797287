/* float8 decoded: the float32 value of each of the 256 codes. */
#ifndef DQL_SCALAR_FLOAT8_TABLES_H
#define DQL_SCALAR_FLOAT8_TABLES_H

#include <stdint.h>

extern const float dql_float8e4m3fn[256];
extern const float dql_float8e4m3fnuz[256];
extern const float dql_float8e5m2[256];
extern const float dql_float8e5m2fnuz[256];

/* The 128 magnitudes as bfloat16: their low bytes, then their high bytes. Where -0 is NaN, the greatest come first. */
extern const uint8_t dql_float8e4m3fn_planes[256];
extern const uint8_t dql_float8e4m3fnuz_planes[256];
extern const uint8_t dql_float8e5m2_planes[256];
extern const uint8_t dql_float8e5m2fnuz_planes[256];

#endif
