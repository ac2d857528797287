/* What a DequantizeLinear node asks for, and whether dql does it. */
#ifndef TOOLS_DEQUANTIZER_H
#define TOOLS_DEQUANTIZER_H

#include "tensor.h"
#include <dql/dql.h>

typedef struct {
    const char *file; /* to blame; not owned */
    int64_t axis;
    int64_t block_size;
    int32_t output_dtype; /* 0: the scale's type */
} dequantizer;

/* The operator sets that a model or a function imports. */
typedef struct {
    Onnx__OperatorSetIdProto *const *entries;
    size_t count;
} opset_list;

/* ONNX has two names for the domain of its own operators; "" is one of them. */
bool is_onnx_domain(const char *domain);

/* Sets *version to the one that is imported of a domain's operators, false if none is. */
bool find_opset(int64_t *version, opset_list opsets, const char *domain);

/* Reads the attributes of a node; refuses one of another operator, domain or opset. */
bool dequantizer_read(dequantizer *d, const Onnx__NodeProto *node, opset_list opsets, const char *file, problem *why);

/* The name of an input of a node; "" where it is left out. */
const char *node_input(const Onnx__NodeProto *node, size_t i);

/* The call for these tensors. Its shapes are theirs. */
dql_spec dequantizer_spec(const dequantizer *d, const Onnx__TensorProto *x, const Onnx__TensorProto *scale);

/* Makes the plan of such a spec, and checks the type and shape of the zero points; zero.proto may be NULL. */
bool dequantizer_plan(dql_plan *plan, const dequantizer *d, const dql_spec *spec, tensor_source zero, problem *why);

#endif
