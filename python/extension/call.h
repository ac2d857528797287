#ifndef DQL_PYTHON_CALL_H
#define DQL_PYTHON_CALL_H

#include "run.h"

/* A node: what a plan is made of. */
typedef struct {
    const element_type *x_type, *scale_type, *y_type;
    dims shape, scale_shape;
    int64_t axis, block_size;
    int store, isa; /* dql_store, dql_isa */
} node;

/* Makes the plan of j, and sets what else of it follows from the node. False with a TypeError or ValueError. */
bool plan_node(job *j, const node *n);

/* A ValueError of what the library says, and of what it says that. NULL. */
PyObject *raise_status(dql_status status, const node *n);

/* An argument `isa`, or none. False with a TypeError or ValueError. */
bool take_isa(int *isa, PyObject *object);

/* An argument `threads`: how many; none is 1, and 0 is one for each CPU. False with a TypeError or ValueError. */
bool take_threads(size_t *threads, PyObject *object);

/* What a call reads and writes. */
typedef struct {
    operand x, scale, zero, out;
} operands;

void operands_release(operands *o);

/* Points j at the operands. */
void use_operands(job *j, const operands *o);

/* A new array for y, in `out`. */
bool make_out(operands *o, const element_type *type, const dims *shape);

/* Refuses an out that overlaps what is read, unless it is x itself where `in_place` says that this works: from `begin`
 * on, so many elements of y. */
bool check_overlap(const operands *o, size_t bytes, bool in_place);

/* What a call returns: `given`, or the array of o->out, or NULL with an exception. New reference. */
PyObject *result_of(dql_status status, const node *n, const operands *o, PyObject *given);

/* Runs all of j, on threads, without the GIL if that is worth it; y goes to o->out. The array, or `given`, or NULL with
 * an exception. Releases nothing. */
PyObject *run_call(const job *j, const node *n, operands *o, size_t threads, PyObject *given);

/* Whether a call that writes so many bytes gives other threads the interpreter. */
bool is_long(size_t bytes);

/* A tuple of the types that the library takes in a role: 0 x, 1 scale, 2 y. New reference. */
PyObject *types_of_role(int role);

PyObject *available_isas(void);

#endif
