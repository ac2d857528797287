/* ONNX tensors: from and to TensorProto. */
#ifndef TOOLS_TENSOR_H
#define TOOLS_TENSOR_H

#include "file.h"
#include "onnx_file.h"
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32_t type; /* TensorProto.DataType, and so dql_type */
    size_t rank;
    const int64_t *dims; /* [rank], not owned */
    size_t count;        /* elements */
    size_t size;         /* bytes of data */
    uint8_t *data;       /* as dql has it: the CPU's byte order; 2 and 4-bit elements packed, low bits first */
    bool borrowed;       /* data, or its window, is the TensorProto's */
    window in;           /* in which data is unread, in little-endian order; not open: data is in memory */
} tensor;

/* What has been found out about a tensor, for others who ask: there may be as many as there are bytes in the file. */
typedef struct {
    bool is_checked, is_wrong, is_zero; /* is_zero: as zero points of a float type have to be */
    kept_problem fault;                 /* if it is wrong */
} judgement;

/* A tensor of more dims is unsupported: every node that uses it would look through them again, and no framework makes
 * one. */
enum { MOST_DIMS = 1024 };

/* A TensorProto, and the file that it is in: its external data lies beside that. */
typedef struct {
    const Onnx__TensorProto *proto; /* NULL: none */
    const char *file;
    judgement *found; /* NULL: kept nowhere */
    const window *in; /* in which its raw_data may be unread; NULL: it is in memory */
} tensor_source;

/* Allocates a tensor without filling it. `file` is the one to blame. */
bool tensor_create(tensor *t, int32_t type, size_t rank, const int64_t *dims, const char *file, problem *why);

/* Whether a tensor can be decoded: the one judge of tensors. Reads no external data, but looks whether it is there. */
bool tensor_check(tensor_source s, problem *why);

/* Decodes every encoding of ONNX, after tensor_check: raw_data, typed data, external data. The dims, and where nothing
 * has to be changed the data, remain the TensorProto's. */
bool tensor_decode(tensor *t, tensor_source s, problem *why);

/* The same, but large data stays unread in a window of the tensor, where it is in memory when it has been read. */
bool tensor_open(tensor *t, tensor_source s, problem *why);

/* Writes a TensorProto with raw_data, see output_write_all. `t` is changed in between only. */
bool tensor_write(tensor *t, const char *name, const char *file, const file_set *read, problem *why);

void tensor_free(tensor *t);

/* An element of a type of 8, 16 or 32 bits. */
uint32_t tensor_bits(const tensor *t, size_t i);

/* The value of the bits of a float32, float16 or bfloat16. */
float float_value(int32_t type, uint32_t bits);

/* Bits of an element, 0 of types that are not decoded. */
unsigned type_bits(int32_t type);

/* Bytes of so many elements; those of less than 8 bits are packed. */
size_t bytes_of_elements(int32_t type, size_t count);

/* ONNX stores elements little-endian, dql has the CPU's order. The change is the same both ways. */
void swap_little_endian(int32_t type, uint8_t *data, size_t size);

/* Whether the data is in another file, and an entry of where: NULL if there is none. */
bool is_external(const Onnx__TensorProto *proto);
const char *external_value(const Onnx__TensorProto *proto, const char *key);

/* What is wrong with a shape that count_elements refuses, as in "has a negative dim". */
const char *shape_fault(size_t rank, const int64_t *dims);

/* Elements of a shape; false if it has a negative dim, or more than a size_t counts. */
bool count_elements(size_t *count, size_t rank, const int64_t *dims);

/* A dim that is not known, in labels "?". */
static const int64_t UNKNOWN_DIM = INT64_MIN;

/* Text for messages, "int8" or "int8[2,3]", used as label(...).text. */
typedef struct {
    char text[128];
} label;
label type_label(int32_t type);
label shape_label(size_t rank, const int64_t *dims);
label tensor_label(int32_t type, size_t rank, const int64_t *dims);

#endif
