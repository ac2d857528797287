#include "operand.h"

#include "dlpack.h"
#include "pack.h"
#include <string.h>

void operand_release(operand *o) {
    Py_CLEAR(o->array);
}

/* ---- shapes ---- */

size_t dims_count(const dims *shape) {
    size_t count = 1;
    bool overflows = false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] == 0)
            return 0;
        overflows |= shape->dims[i] < 0 || __builtin_mul_overflow(count, (uint64_t)shape->dims[i], &count);
    }
    return overflows ? SIZE_MAX : count;
}

bool dims_equal(const dims *a, const dims *b) {
    for (int i = 0; a->rank == b->rank && i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return a->rank == b->rank;
}

PyObject *dims_tuple(const dims *shape) {
    PyObject *tuple = PyTuple_New(shape->rank);
    for (int i = 0; tuple && i < shape->rank; i++) {
        PyObject *dim = PyLong_FromLongLong(shape->dims[i]);
        if (!dim)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, dim);
    }
    return tuple;
}

static bool dim_of_object(int64_t *dim, PyObject *object, const char *argument) {
    PyObject *number = PyNumber_Index(object);
    int overflow = 0;
    *dim = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : -1;
    Py_XDECREF(number);
    if (!number)
        return false;
    if (overflow || *dim < 0) {
        PyErr_Format(PyExc_ValueError, "%s: %R is no dim: these are from 0 to 2**63 - 1", argument, object);
        return false;
    }
    return true;
}

bool dims_of_object(dims *shape, PyObject *object, const char *argument) {
    if (PyIndex_Check(object)) {
        shape->rank = 1;
        return dim_of_object(&shape->dims[0], object, argument);
    }
    const Py_ssize_t rank = PySequence_Check(object) && !PyUnicode_Check(object) ? PySequence_Size(object) : -1;
    if (rank < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is an int or a sequence of ints, not %R", argument, object);
        return false;
    }
    if (rank > MOST_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s has %zd dims: arrays have at most %d", argument, rank, MOST_DIMS);
        return false;
    }
    shape->rank = (int)rank;
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        const bool ok = item && dim_of_object(&shape->dims[i], item, argument);
        Py_XDECREF(item);
        if (!ok)
            return false;
    }
    return true;
}

static void take_shape(operand *o) {
    o->shape.rank = PyArray_NDIM(o->array);
    for (int i = 0; i < o->shape.rank; i++)
        o->shape.dims[i] = PyArray_DIM(o->array, i);
}

/* ---- arrays of what callers give ---- */

/* What an object may have that is no array. */
enum { DLPACK, ARRAY, ARRAY_INTERFACE, PROTOCOLS };

static bool knows(PyObject *object, int protocol) {
    static const char *const names[] = {"__dlpack__", "__array__", "__array_interface__"};
    static PyObject *interned[PROTOCOLS]; /* Python's cache of attributes keeps each new string that it is asked for */
    if (!interned[protocol])
        interned[protocol] = PyUnicode_InternFromString(names[protocol]);
    PyObject *attribute = interned[protocol] ? PyObject_GetAttr(object, interned[protocol]) : NULL;
    PyErr_Clear();
    Py_XDECREF(attribute);
    return attribute != NULL;
}

static bool see_dlpack(operand *o, PyObject *object, const char *argument) {
    dlpack_tensor tensor;
    if (!dlpack_import(&tensor, object, argument))
        return false;
    o->array = tensor.array;
    take_shape(o);
    o->type = tensor.type;
    o->unpacked = tensor.type && is_packed_type(tensor.type) && tensor.in_a_byte == 1;
    if (tensor.in_a_byte > 1 && o->shape.rank > 0)
        o->shape.dims[o->shape.rank - 1] *= tensor.in_a_byte;
    return true;
}

static bool see_buffer(operand *o, PyObject *object, const char *argument) {
    PyObject *memory = PyMemoryView_FromObject(object);
    o->array = memory ? (PyArrayObject *)PyArray_FromAny(memory, NULL, 0, 0, 0, NULL) : NULL;
    Py_XDECREF(memory);
    if (!o->array) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: NumPy can't read this buffer: %R", argument, object);
        return false;
    }
    take_shape(o);
    return true;
}

/* Sees or, for scalars and what only knows __array__, makes an array. Sets array and shape, and the type where DLPack
 * has said it. */
static bool see(operand *o, PyObject *object, const char *argument) {
    *o = (operand){0};
    if (PyArray_Check(object)) {
        Py_INCREF(object);
        o->array = (PyArrayObject *)object;
        take_shape(o);
        return true;
    }
    const bool is_scalar = PyArray_CheckScalar(object);
    if (!is_scalar && knows(object, DLPACK))
        return see_dlpack(o, object, argument);
    if (!is_scalar && PyObject_CheckBuffer(object))
        return see_buffer(o, object, argument);
    if (is_scalar || knows(object, ARRAY) || knows(object, ARRAY_INTERFACE)) {
        o->array = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
        if (!o->array)
            return false;
        take_shape(o);
        return true;
    }
    PyErr_Format(PyExc_TypeError, "%s is an array, an object with __dlpack__ or a buffer, not %R", argument,
                 (PyObject *)Py_TYPE(object));
    return false;
}

/* The library wants dense elements in the CPU's byte order: others are copied. */
static bool make_dense(operand *o) {
    PyArrayObject *array = o->array;
    if (PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISNOTSWAPPED(array))
        return true;
    const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_NOTSWAPPED;
    o->array = (PyArrayObject *)PyArray_CheckFromAny((PyObject *)array, NULL, 0, 0, flags, NULL);
    Py_DECREF((PyObject *)array);
    return o->array != NULL;
}

/* ---- their types ---- */

static bool wrong_type(const operand *o, const char *argument, const char *wanted) {
    if (o->type)
        PyErr_Format(PyExc_TypeError, "%s is %s, not %s", argument, o->type->name, wanted);
    else
        PyErr_Format(PyExc_TypeError, "%s is %S, not %s", argument, (PyObject *)PyArray_DESCR(o->array), wanted);
    return false;
}

/* Finds the type. Bytes may be elements of `declared`, if `bytes_allowed`; NULL: the array says what it is. */
static bool take_type(operand *o, const char *argument, const element_type *declared, bool bytes_allowed) {
    if (!o->type) {
        o->type = type_of_descr(PyArray_DESCR(o->array));
        o->unpacked = o->type && is_packed_type(o->type);
    }
    if (declared && o->type != declared) {
        if (!bytes_allowed || PyArray_TYPE(o->array) != NPY_UBYTE || (o->type && strcmp(o->type->name, "uint8") != 0))
            return wrong_type(o, argument, declared->name);
        o->type = declared;
        o->is_bytes = true;
    }
    return o->type || wrong_type(o, argument, "of a type of dql (see dql.info())");
}

/* ---- their shapes ---- */

static bool wrong_shape(const operand *o, const char *argument, const dims *wanted) {
    PyObject *is = dims_tuple(&o->shape), *ought = wanted ? dims_tuple(wanted) : NULL;
    if (is && ought)
        PyErr_Format(PyExc_ValueError, "%s has shape %R, not %R", argument, is, ought);
    Py_XDECREF(is);
    Py_XDECREF(ought);
    return false;
}

static bool is_one(const dims *shape) {
    return dims_count(shape) == 1;
}

/* Bytes have the size that their elements take, whatever their own shape is. */
static bool take_shape_of_bytes(operand *o, const char *argument, const dims *shape) {
    const size_t is = (size_t)PyArray_NBYTES(o->array), count = dims_count(shape);
    const bool can_be = count < SIZE_MAX / 64;
    const size_t ought = can_be ? packed_size(count, o->type->bits) : 0;
    o->shape = *shape;
    if (can_be && is == ought)
        return true;
    PyObject *tuple = dims_tuple(shape);
    if (tuple && !can_be)
        PyErr_Format(PyExc_ValueError, "%s: no memory holds elements of shape %R", argument, tuple);
    else if (tuple)
        PyErr_Format(PyExc_ValueError, "%s has %zu bytes, but %s of shape %R takes %zu", argument, is, o->type->name,
                     tuple, ought);
    Py_XDECREF(tuple);
    return false;
}

static bool check_shape(operand *o, const char *argument, const dims *shape, bool may_be_flat) {
    if (o->is_bytes)
        return take_shape_of_bytes(o, argument, shape);
    const bool is_flat = may_be_flat && o->shape.rank == 1 && (size_t)o->shape.dims[0] == dims_count(shape);
    if (!dims_equal(&o->shape, shape) && !is_flat && !(is_one(&o->shape) && is_one(shape)))
        return wrong_shape(o, argument, shape);
    o->is_flat = !dims_equal(&o->shape, shape);
    o->shape = *shape;
    return true;
}

/* ---- x ---- */

bool operand_x(operand *o, PyObject *object, const element_type *declared, const dims *shape) {
    if (!see(o, object, "x") || !take_type(o, "x", declared, true) || !make_dense(o))
        return false;
    if (shape)
        return check_shape(o, "x", shape, true);
    if (o->is_bytes && o->type->bits != 8) {
        PyErr_Format(PyExc_TypeError, "x is bytes that hold %s: shape has to say how many", o->type->name);
        return false;
    }
    return true;
}

/* ---- scale ---- */

static bool is_weak(PyObject *object) {
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyList_Check(object) || PyTuple_Check(object);
}

/* Numbers of Python, rounded once; what NumPy would make of None, strings and the like is no scale. */
static bool take_weak_scale(operand *o, PyObject *object) {
    *o = (operand){0};
    PyArrayObject *numbers = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (!numbers)
        return false;
    if (PyArray_ISFLOAT(numbers) || PyArray_ISINTEGER(numbers) || PyArray_SIZE(numbers) == 0) {
        const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_FORCECAST;
        o->array = (PyArrayObject *)PyArray_FromArray(numbers, PyArray_DescrFromType(NPY_FLOAT), flags);
    } else
        PyErr_Format(PyExc_TypeError, "scale is an array, a number or a list of numbers, not %R", object);
    Py_DECREF((PyObject *)numbers);
    if (!o->array)
        return false;
    take_shape(o);
    return true;
}

bool operand_scale(operand *o, PyObject *object, const element_type *declared, const dims *shape) {
    if (is_weak(object) ? !take_weak_scale(o, object) : !see(o, object, "scale"))
        return false;
    return take_type(o, "scale", declared, !!declared) && make_dense(o) &&
           (!shape || check_shape(o, "scale", shape, false));
}

/* ---- zero points ---- */

/* Signed and unsigned integers say so in their names; floats have the zero point 0 only. */
static void range_of(const element_type *type, long long *least, long long *most) {
    *least = strncmp(type->name, "int", 3) == 0 ? -(1LL << (type->bits - 1)) : 0;
    *most = *least ? -1 - *least : strncmp(type->name, "uint", 4) == 0 ? (1LL << type->bits) - 1 : 0;
}

static void write_code(unsigned char *to, long long value, size_t size) {
    const int32_t word = (int32_t)value;
    const int16_t half = (int16_t)value;
    const int8_t byte = (int8_t)value;
    memcpy(to, size == 4 ? (const void *)&word : size == 2 ? (const void *)&half : (const void *)&byte, size);
}

/* Codes of x's type, each in bytes of its own, from an array of int64. */
static PyArrayObject *codes_of_ints(PyArrayObject *ints, const element_type *type) {
    static const int dtypes[] = {[1] = NPY_UINT8, [2] = NPY_UINT16, [4] = NPY_INT32};
    const size_t size = bytes_of_type(type);
    PyArrayObject *codes = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(ints), PyArray_DIMS(ints), dtypes[size]);
    const long long *values = PyArray_DATA(ints);
    long long least, most;
    range_of(type, &least, &most);
    for (npy_intp i = 0; codes && i < PyArray_SIZE(ints); i++) {
        if (values[i] < least || values[i] > most) {
            PyErr_Format(PyExc_ValueError, "zero_point %lld is no %s: these are from %lld to %lld", values[i],
                         type->name, least, most);
            Py_CLEAR(codes);
        } else
            write_code((unsigned char *)PyArray_DATA(codes) + (size_t)i * size, values[i], size);
    }
    return codes;
}

static bool take_weak_zero(operand *o, PyObject *object, const element_type *type) {
    *o = (operand){0};
    PyArrayObject *numbers = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (!numbers)
        return false;
    if (!PyArray_ISINTEGER(numbers) && PyArray_SIZE(numbers) > 0) {
        Py_DECREF((PyObject *)numbers);
        PyErr_Format(PyExc_TypeError, "zero_point is an array, an int or a list of ints, not %R", object);
        return false;
    }
    /* Of types whose numbers int64 has: NumPy makes uint64 of an int from 2^63 on, which a cast would wrap. */
    if (PyArray_ISUNSIGNED(numbers) && PyArray_ITEMSIZE(numbers) == 8) {
        PyObject *most = PyArray_Max(numbers, NPY_RAVEL_AXIS, NULL);
        const unsigned long long value = most ? PyLong_AsUnsignedLongLong(most) : 0;
        Py_XDECREF(most);
        if (value > INT64_MAX && !PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "zero_point %llu is no %s", value, type->name);
        if (PyErr_Occurred()) {
            Py_DECREF((PyObject *)numbers);
            return false;
        }
    }
    const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_FORCECAST;
    PyArrayObject *ints = (PyArrayObject *)PyArray_FromArray(numbers, PyArray_DescrFromType(NPY_LONGLONG), flags);
    Py_DECREF((PyObject *)numbers);
    o->array = ints ? codes_of_ints(ints, type) : NULL;
    Py_XDECREF((PyObject *)ints);
    if (!o->array)
        return false;
    take_shape(o);
    o->type = type;
    o->unpacked = is_packed_type(type);
    return true;
}

/* Zero points are few: they are packed at once, where elements of x are packed as they are needed. */
static bool pack_zero(operand *o) {
    if (!o->unpacked)
        return true;
    enum { BEYOND = 8 }; /* what pack writes behind them */
    const size_t count = dims_count(&o->shape);
    npy_intp size = (npy_intp)packed_size(count, o->type->bits) + BEYOND;
    PyArrayObject *packed = (PyArrayObject *)PyArray_SimpleNew(1, &size, NPY_UINT8);
    if (packed)
        pack(PyArray_DATA(packed), operand_data(o), count, o->type->bits);
    Py_DECREF((PyObject *)o->array);
    o->array = packed;
    o->unpacked = false;
    return packed != NULL;
}

bool operand_zero(operand *o, PyObject *object, const operand *x, const dims *shape) {
    *o = (operand){0};
    if (!object || object == Py_None)
        return true;
    const bool ok = is_weak(object) ? take_weak_zero(o, object, x->type)
                                    : see(o, object, "zero_point") && take_type(o, "zero_point", x->type, x->is_bytes);
    return ok && make_dense(o) && check_shape(o, "zero_point", shape, x->is_flat) && pack_zero(o);
}

/* ---- out ---- */

static bool see_out(operand *o, PyObject *object, const element_type *type) {
    if (!PyArray_Check(object) && (PyArray_IsScalar(object, Generic) || !knows(object, DLPACK))) {
        *o = (operand){0};
        PyErr_Format(PyExc_TypeError, "out is an array or an object with __dlpack__, not %R",
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    if (!see(o, object, "out") || !take_type(o, "out", type, false))
        return false;
    if (!PyArray_ISWRITEABLE(o->array)) {
        PyErr_SetString(PyExc_ValueError, "out is read-only");
        return false;
    }
    if (!PyArray_ISNOTSWAPPED(o->array)) {
        PyErr_SetString(PyExc_TypeError, "out is not in the CPU's byte order");
        return false;
    }
    return true;
}

bool operand_out(operand *o, PyObject *object, const element_type *type, const dims *shape) {
    if (!see_out(o, object, type))
        return false;
    if (!dims_equal(&o->shape, shape))
        return wrong_shape(o, "out", shape);
    if (!PyArray_IS_C_CONTIGUOUS(o->array)) {
        PyErr_SetString(PyExc_ValueError, "out is not C-contiguous");
        return false;
    }
    return true;
}

bool operand_out_rows(operand *o, PyObject *object, const element_type *type, const dims *shape, size_t *stride) {
    if (!see_out(o, object, type))
        return false;
    if (!dims_equal(&o->shape, shape))
        return wrong_shape(o, "out", shape);
    const npy_intp size = (npy_intp)bytes_of_type(type), rows = (npy_intp)shape->dims[0],
                   length = (npy_intp)shape->dims[1];
    const npy_intp between = rows > 1 ? PyArray_STRIDE(o->array, 0) : length * size;
    const bool is_dense = length < 2 || PyArray_STRIDE(o->array, 1) == size;
    if (rows > 0 && length > 0 && (!is_dense || between < length * size || between % size != 0)) {
        PyErr_SetString(PyExc_ValueError, "out: its rows are not dense, or overlap, or are not whole elements apart");
        return false;
    }
    *stride = rows > 0 && length > 0 ? (size_t)(between / size) : (size_t)length;
    return true;
}
