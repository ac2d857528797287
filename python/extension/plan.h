#ifndef DQL_PYTHON_PLAN_H
#define DQL_PYTHON_PLAN_H

#include "numpy.h"

/* The class dql.Plan; new reference. */
PyObject *make_plan_class(void);

#endif
