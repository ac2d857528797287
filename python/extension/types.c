#include "types.h"

#include <stdlib.h>
#include <string.h>

/* CMake makes the rows of dql.h, so that a type is named in one place. */
const element_type element_types[] = {
#include "element_types.inc"
    {NULL, 0, 0}};

/* ---- names ---- */

const element_type *type_of_number(int number) {
    for (const element_type *type = element_types; type->name; type++)
        if (type->number == number)
            return type;
    return NULL;
}

static const element_type *type_of_exact_name(const char *name, size_t length) {
    for (const element_type *type = element_types; type->name; type++)
        if (strlen(type->name) == length && memcmp(type->name, name, length) == 0)
            return type;
    return NULL;
}

/* ml_dtypes writes float4_e2m1fn for float4e2m1, and float8_e8m0fnu for float8e8m0: it says of each format what it
 * lacks (finite, unsigned), and ONNX only where two formats differ in that. */
const element_type *type_of_name(const char *name) {
    char plain[32];
    size_t length = 0;
    for (; *name && length < sizeof plain; name++)
        if (*name != '_')
            plain[length++] = *name;
    const element_type *type = type_of_exact_name(plain, length);
    for (size_t suffix = 2; !type && suffix <= 3 && suffix < length; suffix++)
        if (memcmp(plain + length - suffix, "fnu", suffix) == 0)
            type = type_of_exact_name(plain, length - suffix);
    return type;
}

/* ---- dtypes ---- */

/* NumPy's numbers of types that packages register are few, and one type's never changes. */
enum { USER_TYPES = 256 };
static const element_type *known_user_types[USER_TYPES];

static const element_type *type_of_user_descr(PyArray_Descr *descr) {
    const size_t index = (size_t)(descr->type_num - NPY_USERDEF);
    if (index < USER_TYPES && known_user_types[index])
        return known_user_types[index];
    PyObject *name = PyObject_GetAttrString((PyObject *)descr->typeobj, "__name__");
    const char *utf8 = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const element_type *type = utf8 ? type_of_name(utf8) : NULL;
    Py_XDECREF(name);
    PyErr_Clear();
    if (type && bytes_of_type(type) != (size_t)PyDataType_ELSIZE(descr))
        type = NULL;
    if (type && index < USER_TYPES)
        known_user_types[index] = type;
    return type;
}

const element_type *type_of_descr(PyArray_Descr *descr) {
    static const char *const names[] = {
        [NPY_BYTE] = "int8",    [NPY_UBYTE] = "uint8",   [NPY_SHORT] = "int16",  [NPY_INT] = "int32",
        [NPY_HALF] = "float16", [NPY_USHORT] = "uint16", [NPY_FLOAT] = "float32"};
    static const element_type *known[sizeof names / sizeof *names];
    const int number = descr->type_num;
    if (number >= NPY_USERDEF)
        return type_of_user_descr(descr);
    if (number == NPY_LONG && sizeof(long) == 4)
        return type_of_name("int32");
    if (number < 0 || (size_t)number >= sizeof names / sizeof *names || !names[number])
        return NULL;
    if (!known[number])
        known[number] = type_of_name(names[number]);
    return known[number];
}

const element_type *type_of_object(PyObject *object, const char *argument) {
    const element_type *type = NULL;
    PyArray_Descr *descr = NULL;
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        if (!name)
            return NULL;
        type = type_of_name(name);
    } else if (object != Py_None && PyArray_DescrConverter(object, &descr)) {
        type = type_of_descr(descr);
        Py_DECREF((PyObject *)descr);
    }
    PyErr_Clear();
    if (!type)
        PyErr_Format(PyExc_TypeError, "%s: dql has no element type %R", argument, object);
    return type;
}

/* ---- from a type ---- */

/* The attribute of ml_dtypes whose name means the type: the module is asked for its names, so that new types are found.
 */
static PyObject *ml_dtypes_class(const element_type *type) {
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    PyObject *names = module ? PyObject_Dir(module) : NULL, *found = NULL;
    for (Py_ssize_t i = 0; names && !found && i < PyList_Size(names); i++) {
        PyObject *name = PyList_GetItem(names, i);
        const char *utf8 = PyUnicode_AsUTF8AndSize(name, NULL);
        if (utf8 && type_of_name(utf8) == type)
            found = PyObject_GetAttr(module, name);
    }
    if (!found && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "this ml_dtypes has no %s", type->name);
    Py_XDECREF(names);
    Py_XDECREF(module);
    return found;
}

static PyArray_Descr *find_descr(const element_type *type) {
    static const int numbers[] = {NPY_INT8, NPY_UINT8, NPY_INT16, NPY_UINT16, NPY_INT32, NPY_FLOAT16, NPY_FLOAT32};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        PyArray_Descr *descr = PyArray_DescrFromType(numbers[i]);
        if (!descr || type_of_descr(descr) == type)
            return descr;
        Py_DECREF((PyObject *)descr);
    }
    PyArray_Descr *descr = NULL;
    PyObject *class = ml_dtypes_class(type);
    if (class && !PyArray_DescrConverter(class, &descr))
        descr = NULL;
    Py_XDECREF(class);
    return descr;
}

PyArray_Descr *descr_of_type(const element_type *type) {
    enum { NUMBERS = 64 };
    static PyArray_Descr *known[NUMBERS]; /* each holds a reference, for good */
    PyArray_Descr *descr = type->number < NUMBERS ? known[type->number] : NULL;
    if (!descr) {
        descr = find_descr(type);
        if (descr && type->number < NUMBERS) {
            Py_INCREF((PyObject *)descr);
            known[type->number] = descr;
        }
        return descr;
    }
    Py_INCREF((PyObject *)descr);
    return descr;
}
