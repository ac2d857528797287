#ifndef DQL_PYTHON_DLPACK_H
#define DQL_PYTHON_DLPACK_H

#include "types.h"

/* A tensor of another library, seen through DLPack without a copy. */
typedef struct {
    PyArrayObject
        *array; /* new reference; holds the tensor. Of integers where NumPy lacks the type; read-only as it is */
    const element_type *type; /* of its elements; NULL: what the array's dtype says, if anything */
    unsigned in_a_byte;       /* how many elements share a byte of the array's last axis; 1: none */
} dlpack_tensor;

/* Sees `object`, which has __dlpack__. False with a TypeError or ValueError whose text begins with the argument's name.
 */
bool dlpack_import(dlpack_tensor *tensor, PyObject *object, const char *argument);

#endif
