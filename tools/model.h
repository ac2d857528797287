/* What names mean in a model, and where they are used: read from its bytes, which stay where they are. */
#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include "dequantizer.h"
#include "file.h"

enum { NO_SCOPE = -1, NO_SITE = -1 };

/* A graph or a model-local function. A graph in a node's attribute sees the names of the scope around it. */
typedef struct {
    ptrdiff_t parent; /* in scopes */
    bool is_function;
    view name;
    opsets imported;
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
    ptrdiff_t site;            /* the DequantizeLinear whose y it is; NO_SITE: none */
    view field;                /* the field of the graph that is its initializer or Constant node */
    view content;              /* what is in it */
    view input;                /* the field of the graph that makes it an input */
    view declared;             /* its TypeProto; NULL if there is none */
    Onnx__TensorProto *tensor; /* see constant.h */
    judgement found;           /* of the tensor */
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
    window in;
    view bytes; /* its, of which large raw_data is not read */
    view graph; /* a GraphProto */
    int64_t ir_version;
    int64_t newest_opset;      /* of ONNX's operators, of all that are imported */
    bool constant_inputs;      /* set by the caller: inputs of the model with initializers are constants */
    bool constant_is_function; /* a function of the model's own takes the place of ONNX's operators of that name */
    bool onnx_is_function, microsoft_is_function; /* the same for both DequantizeLinears */
    scope *scopes;                                /* the first is the model's graph */
    value *values;                                /* in order of scope and name */
    site *sites;                                  /* in the order of the file */
    use *uses;
    size_t scope_count, value_count, site_count, use_count;
} model;

bool model_load(model *m, const char *file, problem *why);
void model_free(model *m);

/* The value that a name has in a scope, its own or that of a scope around it: NULL if it has none. */
value *model_find(const model *m, size_t in, view name);

/* Whether only what the caller has done away with used a value, so that nothing of it need stay. */
bool value_is_abandoned(const model *m, const value *v);

/* Makes one value of what is said of a name in different places, and counts its uses: the last step of model_load. */
void model_resolve(model *m);

/* Takes the next input of the model's graph off `rest`, which begins as m->graph: NULL at the end. */
value *model_next_input(const model *m, view *rest);

/* Whether the model is newer than what dql is made for; `note` says how. */
bool model_is_newer(const model *m, problem *note);

#endif
