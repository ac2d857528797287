/* The element types of DequantizeLinear, in ONNX's numbers, which are dql's, and in those of ONNX Runtime's C API. */
#ifndef DQL_ONNXRUNTIME_TYPES_H
#define DQL_ONNXRUNTIME_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* What a tensor of a type can be; a mask. */
typedef enum { ROLE_X = 1, ROLE_SCALE = 2, ROLE_Y = 4 } role;

typedef struct element_type {
    const char *name;
    int32_t onnx; /* dql_type */
    int api;
    uint8_t roles;
    uint8_t bytes; /* of an element, for types that y may have */
} element_type;

extern const element_type element_types[];
extern const size_t element_type_count;

/* By the API's number; NULL if dql does not take the type. */
const element_type *element_type_of(int api);

#endif
