/* A DequantizeLinear node in its place in a model. */
#ifndef TOOLS_SITE_H
#define TOOLS_SITE_H

#include "constant.h"

enum { OPERANDS = 3 };

typedef struct {
    const model *m;
    const site *at;
    Onnx__NodeProto *node;
    dequantizer op;
    value *operands[OPERANDS]; /* x, x_scale, x_zero_point; NULL where nothing has the name */
} placed_node;

/* A node that dql can't do is read as far as its names: freed after a failure too. */
bool placed_node_read(placed_node *p, const model *m, const site *at, problem *why);
void placed_node_free(placed_node *p);

bool placed_node_has(const placed_node *p, size_t operand);

/* Whether all operands are constants; says which one is not, and why. */
bool placed_node_is_constant(const placed_node *p, problem *why);

#endif
