/* A model of one DequantizeLinear node: find it, gather its operands, run it. */
#ifndef TOOLS_NODE_H
#define TOOLS_NODE_H

#include "site.h"

typedef struct {
    model m;
    placed_node placed;
    char *y_name;
} node;

/* What the node is run on. */
typedef struct {
    Onnx__TensorProto **loaded; /* from the input files */
    size_t loaded_count;
    tensor_source of[OPERANDS]; /* no proto: left out */
} operands;

typedef struct {
    dql_spec spec; /* its shapes are those of the operands */
    dql_isa isa;
    tensor y;
} result;

/* Loads a model whose graph is one DequantizeLinear node, and reads the node. `n` must stay where it is. */
bool node_load(node *n, const char *file, problem *why);
void node_free(node *n);

/* How many input files the node needs: one for each input of the graph that has no initializer. */
size_t node_file_count(const node *n);

/* Loads the input files, in the order of the graph's inputs, and finds the node's operands in them and in the model. */
bool operands_load(operands *o, const node *n, char *const files[], size_t count, problem *why);
void operands_free(operands *o);

/* Dequantizes. `r` must be freed before the operands. */
bool node_run(const node *n, const operands *o, result *r, problem *why);
void result_free(result *r);

#endif
