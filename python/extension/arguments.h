#ifndef DQL_PYTHON_ARGUMENTS_H
#define DQL_PYTHON_ARGUMENTS_H

#include "numpy.h"
#include <stdbool.h>

enum { MOST_ARGUMENTS = 12 };

/* What a function takes: names in order, of which the first may also be given by place, and must be given. */
typedef struct {
    const char *function;
    const char *names[MOST_ARGUMENTS];
    int count, by_place, required;
    PyObject *keys[MOST_ARGUMENTS]; /* the names, interned on first use */
} signature;

/* Sorts the arguments of a vectorcall into `values`, which has a place for each name: borrowed, NULL for what was not
 * given or is None where None means that (all but the required ones). False with a TypeError. */
bool take_arguments(signature *s, PyObject *const *arguments, Py_ssize_t count, PyObject *names, PyObject **values);

/* An int of this argument, or `otherwise` if there is none. False with a TypeError or ValueError. */
bool take_int(long long *number, PyObject *object, long long otherwise, const char *argument);

/* The same, of at least 0. */
bool take_size(size_t *size, PyObject *object, size_t otherwise, const char *argument);

#endif
