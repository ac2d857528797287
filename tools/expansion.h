/* A DequantizeLinear node of constants, and the tensor that takes its place. */
#ifndef TOOLS_EXPANSION_H
#define TOOLS_EXPANSION_H

#include "rewrite.h"
#include "site.h"

typedef struct {
    const site *at;
    char *y_name;
    tensor_source operands[OPERANDS];
    dql_spec spec;
    dql_plan plan;
    uint64_t size;    /* bytes of y */
    bool is_external; /* y goes to the file of external data */
    uint64_t offset;  /* there */
} expansion;

/* Plans what replaces a node. y_type 0: the node's own. Where nothing is wrong, but the node has to stay, it is
 * unsupported. Counts the uses of its operands as removed. Freed after a failure too. */
bool expansion_plan(expansion *e, const model *m, const site *at, int32_t y_type, problem *why);
void expansion_free(expansion *e);

/* The field that takes the node's place: an initializer, or where there can be none a Constant node. It ends with y,
 * unless y is external, at `location`. The caller frees its head. */
bool expansion_edit(edit *replacement, const expansion *e, const model *m, const char *location, problem *why);

#endif
