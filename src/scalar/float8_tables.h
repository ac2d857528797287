/* float8 decoded: the float32 value of each of the 256 codes. */
#ifndef DQL_SCALAR_FLOAT8_TABLES_H
#define DQL_SCALAR_FLOAT8_TABLES_H

extern const float dql_float8e4m3fn[256];
extern const float dql_float8e4m3fnuz[256];
extern const float dql_float8e5m2[256];
extern const float dql_float8e5m2fnuz[256];

#endif
