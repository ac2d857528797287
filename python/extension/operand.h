#ifndef DQL_PYTHON_OPERAND_H
#define DQL_PYTHON_OPERAND_H

#include "types.h"
#include <stdint.h>

enum { MOST_DIMS = 64 }; /* of NumPy 2's arrays; NumPy 1 has 32, and says so itself */

/* A shape, wherever it comes from. */
typedef struct {
    int rank;
    int64_t dims[MOST_DIMS];
} dims;

/* A tensor that a caller gave, as the library can read it: dense and in the CPU's byte order. */
typedef struct {
    PyArrayObject *array; /* owned; NULL: there is none */
    const element_type *type;
    dims shape;
    bool is_bytes; /* the caller gave bytes, whose type was said elsewhere */
    bool is_flat;  /* an array of one dim, whose shape was said elsewhere */
    bool unpacked; /* elements of less than 8 bits, a byte each */
} operand;

void operand_release(operand *o);

static inline void *operand_data(const operand *o) {
    return o->array ? PyArray_DATA(o->array) : NULL;
}

/* Elements of a shape; SIZE_MAX if they can't be counted. A zero dim makes none, whatever the others are. */
size_t dims_count(const dims *shape);
bool dims_equal(const dims *a, const dims *b);

/* A shape as a tuple; new reference. */
PyObject *dims_tuple(const dims *shape);

/* An int or a sequence of ints. False with a TypeError or ValueError. */
bool dims_of_object(dims *shape, PyObject *object, const char *argument);

/* Each takes an argument, and is false with a TypeError or ValueError that names it.
 *
 * x is an array of one of the library's types, or bytes (uint8) that hold elements of `declared`; else declared is NULL
 * or the array's type. `shape` is NULL, or the shape of the elements, which an array has to have, too, unless it is
 * flat. */
bool operand_x(operand *o, PyObject *object, const element_type *declared, const dims *shape);

/* The same; or a number or list of numbers, which become float32. */
bool operand_scale(operand *o, PyObject *object, const element_type *declared, const dims *shape);

/* Of x's type, as bytes only if x is; or an int or a list of ints. `shape` is the scale's; it may be flat if x is. None
 * gives an operand without an array. */
bool operand_zero(operand *o, PyObject *object, const operand *x, const dims *shape);

/* An array, or a tensor with __dlpack__, of this type and shape, that y may be written to as it is. */
bool operand_out(operand *o, PyObject *object, const element_type *type, const dims *shape);

/* The same, but for the shape: two dims, of which only the last has to be dense. `stride`: elements between rows. */
bool operand_out_rows(operand *o, PyObject *object, const element_type *type, const dims *shape, size_t *stride);

#endif
