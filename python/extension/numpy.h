/* Python's stable ABI and NumPy's C API, included before anything else. */
#ifndef DQL_PYTHON_NUMPY_H
#define DQL_PYTHON_NUMPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION     NPY_1_23_API_VERSION /* the oldest NumPy that the package runs with */
#define PY_ARRAY_UNIQUE_SYMBOL dql_numpy_api
#ifndef DQL_IMPORTS_NUMPY /* which one file does */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif
