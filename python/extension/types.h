#ifndef DQL_PYTHON_TYPES_H
#define DQL_PYTHON_TYPES_H

#include "numpy.h"
#include <stdbool.h>

/* An element type of dql.h. What it may be used as, x, scale or y, only the library says. */
typedef struct {
    const char *name; /* dql's, such as "float4e2m1" */
    int number;       /* dql_type */
    unsigned bits;
} element_type;

/* The types of dql.h; ended by a row without a name. */
extern const element_type element_types[];

/* Each gives NULL where there is none, without an exception. Names are dql's, NumPy's or those of ml_dtypes, such as
 * "float4_e2m1fn". */
const element_type *type_of_number(int number);
const element_type *type_of_name(const char *name);
const element_type *type_of_descr(PyArray_Descr *descr);

/* The type that a caller names: by a string, a dtype, or what NumPy makes a dtype of. NULL with an exception, whose
 * text begins with the argument's name. */
const element_type *type_of_object(PyObject *object, const char *argument);

/* A new reference to the dtype of arrays of this type, whose elements take whole bytes; NULL with an exception. */
PyArray_Descr *descr_of_type(const element_type *type);

/* How many bytes an element takes where it has bytes of its own. */
static inline size_t bytes_of_type(const element_type *type) {
    return (type->bits + 7) / 8;
}

/* Whether elements share bytes in the library's memory. */
static inline bool is_packed_type(const element_type *type) {
    return type->bits < 8;
}

#endif
