/* A DequantizeLinear node, what becomes of it, and the tensor that takes its place. */
#ifndef TOOLS_EXPANSION_H
#define TOOLS_EXPANSION_H

#include "rewrite.h"
#include "site.h"

typedef enum {
    EXPANDED,
    LEFT,  /* nothing is known to be wrong with its tensors, but it can't be expanded, or dql can't read it */
    WRONG, /* its tensors are such that nothing can dequantize them */
    FATES
} fate;

typedef struct expansion expansion;
struct expansion {
    placed_node node;
    fate becomes;
    bool is_read, is_constant; /* whether the node is one that dql reads, and all of its operands constants */
    kept_problem reason;       /* why it is not EXPANDED */

    /* Of an EXPANDED one. */
    value *y;
    char *y_name;
    tensor_source operands[OPERANDS];
    expansion *scale_from; /* whose y the scale is; NULL: no other's. x and zero points can't be: a y is a float */
    dql_spec spec;         /* what is written */
    dql_plan plan;
    Onnx__TensorProto head; /* of y as others' scale: its type, which is the node's own, and its dims */
    uint64_t size;          /* bytes of y where it is written */
    bool is_external;       /* y goes to the file of external data */
    uint64_t offset;        /* there */

    /* See expansions.c. */
    enum { UNREAD, WAITING, PLANNED } progress;
    expansion *next; /* in a chain of scales */
    bool is_scale;   /* of another EXPANDED one */
    size_t readers;  /* that still need y as their scale */
    tensor folded;   /* y for them */
};

/* Plans what replaces a node whose scale's own node, if there is one, has been planned: sets all but what is external.
 * Counts the uses of its operands as removed. */
void expansion_plan(expansion *e, expansion *scale_from);
void expansion_free(expansion *e);

/* Whether only nodes that are EXPANDED use y, so that nothing takes the node's place. */
bool expansion_is_dropped(const expansion *e);

/* Makes what is written another type; 0: the node's own. */
bool expansion_change_type(expansion *e, int32_t y_type, problem *why);

/* Why one is not EXPANDED, as a problem that names it; returns false. */
bool expansion_blame(const expansion *e, problem *why);

/* The field that takes the node's place: an initializer, or where there can be none a Constant node. It ends with y,
 * unless y is external, at `location`. No bytes where nothing does. The caller frees its head. */
bool expansion_edit(edit *replacement, const expansion *e, const char *location, problem *why);

#endif
