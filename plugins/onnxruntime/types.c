#include "types.h"

#include "dql/dql.h"

/* To add a type, add its row. The API appended its numbers in another order than ONNX did: 24 to 26 differ. It has none
 * yet for float6e2m3 and float6e3m2. */
const element_type element_types[] = {
    {"float32", DQL_FLOAT32, 1, ROLE_SCALE | ROLE_Y, 4},
    {"uint8", DQL_UINT8, 2, ROLE_X, 0},
    {"int8", DQL_INT8, 3, ROLE_X, 0},
    {"uint16", DQL_UINT16, 4, ROLE_X, 0},
    {"int16", DQL_INT16, 5, ROLE_X, 0},
    {"int32", DQL_INT32, 6, ROLE_X, 0},
    {"float16", DQL_FLOAT16, 10, ROLE_SCALE | ROLE_Y, 2},
    {"bfloat16", DQL_BFLOAT16, 16, ROLE_SCALE | ROLE_Y, 2},
    {"float8e4m3fn", DQL_FLOAT8E4M3FN, 17, ROLE_X, 0},
    {"float8e4m3fnuz", DQL_FLOAT8E4M3FNUZ, 18, ROLE_X, 0},
    {"float8e5m2", DQL_FLOAT8E5M2, 19, ROLE_X, 0},
    {"float8e5m2fnuz", DQL_FLOAT8E5M2FNUZ, 20, ROLE_X, 0},
    {"uint4", DQL_UINT4, 21, ROLE_X, 0},
    {"int4", DQL_INT4, 22, ROLE_X, 0},
    {"float4e2m1", DQL_FLOAT4E2M1, 23, ROLE_X, 0},
    {"uint2", DQL_UINT2, 24, ROLE_X, 0},
    {"int2", DQL_INT2, 25, ROLE_X, 0},
    {"float8e8m0", DQL_FLOAT8E8M0, 26, ROLE_SCALE, 0},
};
const size_t element_type_count = sizeof element_types / sizeof *element_types;

const element_type *element_type_of(int api) {
    for (size_t i = 0; i < element_type_count; i++)
        if (element_types[i].api == api)
            return &element_types[i];
    return NULL;
}
