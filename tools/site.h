/* A DequantizeLinear node in its place in a model. */
#ifndef TOOLS_SITE_H
#define TOOLS_SITE_H

#include "constant.h"

typedef struct {
    const model *m;
    const site *at;
    dequantizer op;
    value *operands[OPERANDS]; /* NULL where nothing has the name */
} placed_node;

/* A node that dql can't do is read as far as its names. */
bool placed_node_read(placed_node *p, const model *m, const site *at, problem *why);

/* Whether the node has an operand: x_zero_point may be left out. */
bool placed_node_has(const placed_node *p, size_t operand);

/* Refuses an operand, as in `x "name" is computed`; what is not wrong is unsupported. Returns false. */
bool placed_node_refuse(const placed_node *p, size_t operand, const char *reason, problem *why);

#endif
