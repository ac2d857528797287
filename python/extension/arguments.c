#include "arguments.h"

#include <stdint.h>

static bool intern_names(signature *s) {
    for (int i = 0; i < s->count; i++)
        if (!s->keys[i] && !(s->keys[i] = PyUnicode_InternFromString(s->names[i])))
            return false;
    return true;
}

static int find_name(const signature *s, PyObject *name) {
    for (int i = 0; i < s->count; i++)
        if (s->keys[i] == name) /* as it is for names that are written in a call */
            return i;
    for (int i = 0; i < s->count; i++)
        if (PyUnicode_Compare(s->keys[i], name) == 0)
            return i;
    return -1;
}

static bool take_keyword(const signature *s, PyObject *name, PyObject *value, PyObject **values) {
    const int i = find_name(s, name);
    if (i < 0)
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", s->function, name);
    else if (values[i])
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument %R", s->function, name);
    else {
        values[i] = value;
        return true;
    }
    return false;
}

bool take_arguments(signature *s, PyObject *const *arguments, Py_ssize_t count, PyObject *names, PyObject **values) {
    if (!s->keys[s->count - 1] && !intern_names(s))
        return false;
    if (count > s->by_place) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments but %zd were given", s->function, s->by_place,
                     count);
        return false;
    }
    for (int i = 0; i < s->count; i++)
        values[i] = i < count ? arguments[i] : NULL;
    const Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++)
        if (!take_keyword(s, PyTuple_GetItem(names, i), arguments[count + i], values))
            return false;
    for (int i = 0; i < s->required; i++)
        if (!values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", s->function, s->names[i]);
            return false;
        }
    for (int i = s->required; i < s->count; i++)
        if (values[i] == Py_None)
            values[i] = NULL;
    return true;
}

bool take_int(long long *number, PyObject *object, long long otherwise, const char *argument) {
    *number = otherwise;
    if (!object)
        return true;
    PyObject *index = PyNumber_Index(object);
    if (!index) {
        PyErr_Format(PyExc_TypeError, "%s is an int, not %R", argument, object);
        return false;
    }
    int overflow;
    *number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow)
        PyErr_Format(PyExc_ValueError, "%s: %R is beyond 64 bits", argument, object);
    return !overflow;
}

bool take_size(size_t *size, PyObject *object, size_t otherwise, const char *argument) {
    long long number = 0;
    *size = otherwise;
    if (!object)
        return true;
    if (!take_int(&number, object, 0, argument))
        return false;
    if (number < 0)
        PyErr_Format(PyExc_ValueError, "%s is at least 0, not %R", argument, object);
    *size = (size_t)number;
    return number >= 0;
}
