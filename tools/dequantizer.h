/* What a DequantizeLinear node asks for, and whether dql does it. */
#ifndef TOOLS_DEQUANTIZER_H
#define TOOLS_DEQUANTIZER_H

#include "tensor.h"
#include <dql/dql.h>

/* The inputs of the node, and their names in ONNX. */
enum { X, X_SCALE, X_ZERO_POINT, OPERANDS };
extern const char *const operand_names[OPERANDS];

/* The newest of ONNX that dql is made for. What is newer is read too, as far as types and attributes are known; but
 * somebody has to look at it: newer_than_known says so. */
enum { OLDEST_OPSET = 10, NEWEST_OPSET = 28, NEWEST_IR_VERSION = 14 };

/* The versions of the operators that a model or a function imports, of ONNX's domain and of Microsoft's. */
typedef struct {
    bool has_onnx, has_microsoft;
    int64_t onnx, microsoft;
} opsets;

/* The OperatorSetIdProtos in the fields of this number of a message. */
opsets opsets_read(view message, unsigned number);

/* Whether something of a file is newer than what dql is made for; `note` says what. 0: none. */
bool newer_than_known(int64_t ir_version, int64_t opset, const char *file, problem *note);

/* Both names of the domain of ONNX's own operators. */
bool is_onnx_domain(view domain);

typedef struct {
    const char *file;      /* to blame; not owned */
    view op_type, domain;  /* these three are in the node */
    view inputs[OPERANDS]; /* the names; of no bytes where one is left out */
    view y;
    int64_t axis;
    int64_t block_size;
    int32_t output_dtype; /* 0: the scale's type */
} dequantizer;

/* Reads a NodeProto; refuses one of another operator, domain or opset. The names are there after a failure too. */
bool dequantizer_read(dequantizer *d, view node, const opsets *imported, const char *file, problem *why);

/* The call for these tensors. Its shapes are theirs. */
dql_spec dequantizer_spec(const dequantizer *d, const Onnx__TensorProto *x, const Onnx__TensorProto *scale);

/* Whether dql takes the types of a spec, of any shape. */
bool dequantizer_takes_types(const dequantizer *d, const dql_spec *spec, problem *why);

/* Checks the type and shape of the zero points of a spec; zero may be NULL. */
bool dequantizer_check_zero(const dequantizer *d, const dql_spec *spec, const Onnx__TensorProto *zero, problem *why);

/* Makes the plan of such a spec, and checks the type and shape of the zero points; zero may be NULL. */
bool dequantizer_plan(dql_plan *plan, const dequantizer *d, const dql_spec *spec, const Onnx__TensorProto *zero,
                      problem *why);

/* The same for tensors that have data, which is checked first: after this, dequantizing them can't fail for what is
 * wrong with them. A proto of `computed` is only the head of what is still to be computed. */
bool dequantizer_plan_tensors(dql_plan *plan, dql_spec *spec, const dequantizer *d, const tensor_source of[OPERANDS],
                              const Onnx__TensorProto *computed, problem *why);

#endif
