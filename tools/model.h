/* What names mean in a model, and where they are used: read from its bytes, which stay where they are. */
#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include "dequantizer.h"
#include "file.h"

enum { NO_SCOPE = -1, NO_VALUE = -1 };

/* A graph or a model-local function. A graph in a node's attribute sees the names of the scope around it. */
typedef struct {
    ptrdiff_t parent; /* in scopes */
    bool is_function;
    view name;
    size_t opsets, opset_count; /* in the model's opsets */
} scope;

/* A name of a scope. */
typedef struct {
    size_t scope;
    view name;
    bool is_input, is_initializer, is_constant, is_computed; /* is_constant: by a Constant node. All false: unknown */
    bool is_ambiguous;                                       /* defined twice */
    bool is_output;
    size_t uses;               /* as inputs of nodes, outputs of graphs, and in annotations */
    size_t cast_uses;          /* those as inputs of Cast nodes */
    size_t removed_uses;       /* those that the caller has done away with */
    view field;                /* the field of the graph that is its initializer or Constant node */
    view content;              /* what is in it */
    view declared;             /* its TypeProto; NULL if there is none */
    Onnx__TensorProto *tensor; /* see constant.h */
} value;

/* Somebody needs a name. */
typedef struct {
    size_t scope;
    view name;
    bool by_cast, by_output;
} use;

/* A DequantizeLinear node. */
typedef struct {
    size_t scope;
    view field;   /* of its graph or function */
    view content; /* a NodeProto */
} site;

typedef struct {
    const char *file; /* not owned */
    view bytes;
    int64_t ir_version;
    bool constant_is_function; /* a function of the model's own takes the place of ONNX's operators of that name */
    bool onnx_is_function, microsoft_is_function; /* the same for both DequantizeLinears */
    scope *scopes;                                /* the first is the model's graph */
    value *values;                                /* in order of scope and name */
    site *sites;                                  /* in the order of the file */
    use *uses;
    Onnx__OperatorSetIdProto **opsets;
    size_t scope_count, value_count, site_count, use_count, opset_count;
} model;

bool model_load(model *m, const char *file, problem *why);
void model_free(model *m);

/* The value that a name has in a scope, its own or that of a scope around it: NULL if it has none. */
value *model_find(const model *m, size_t in, view name);

/* Makes one value of what is said of a name in different places, and counts its uses: the last step of model_load. */
void model_resolve(model *m);

opset_list model_opsets(const model *m, size_t in);

/* The string that a field of a message holds, of no bytes if there is none. */
view wire_string(view message, unsigned number);

bool view_equals(view v, const char *text);

#endif
