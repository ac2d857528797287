#ifndef DQL_PYTHON_DEQUANTIZE_H
#define DQL_PYTHON_DEQUANTIZE_H

#include "numpy.h"

extern const char dequantize_doc[];

/* dql.dequantize, as a vectorcall with keywords. */
PyObject *dequantize(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

#endif
