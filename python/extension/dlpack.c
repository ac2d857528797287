#include "dlpack.h"

#include "operand.h"

#include <stdint.h>
#include <string.h>

/* ---- DLPack's memory layout, versions 0.2 to 1.x ---- */

enum { DEVICE_CPU = 1, DEVICE_CUDA_HOST = 3, DEVICE_ROCM_HOST = 11 };
enum { CODE_INT = 0, CODE_UINT = 1, CODE_FLOAT = 2, CODE_BFLOAT = 4 };
enum { FLAG_READ_ONLY = 1, FLAG_SUBBYTE_PADDED = 4 };

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} dl_data_type;

typedef struct {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    dl_data_type dtype;
    int64_t *shape, *strides; /* in elements; strides may be NULL: dense */
    uint64_t byte_offset;
} dl_tensor;

typedef struct {
    dl_tensor tensor;
    void *context;
    void (*deleter)(void *);
} dl_managed;

typedef struct {
    uint32_t major, minor;
    void *context;
    void (*deleter)(void *);
    uint64_t flags;
    dl_tensor tensor;
} dl_managed_versioned;

/* ---- element types ---- */

static const char *const names_of_codes[] = {
    [10] = "float8e4m3fn", [11] = "float8e4m3fnuz", [12] = "float8e5m2", [13] = "float8e5m2fnuz",
    [14] = "float8e8m0",   [15] = "float6e2m3",     [16] = "float6e3m2", [17] = "float4e2m1"};

static const element_type *type_of_dl(dl_data_type dtype) {
    char name[16];
    const char *prefix = dtype.code == CODE_INT      ? "int"
                         : dtype.code == CODE_UINT   ? "uint"
                         : dtype.code == CODE_FLOAT  ? "float"
                         : dtype.code == CODE_BFLOAT ? "bfloat"
                                                     : NULL;
    if (prefix) {
        PyOS_snprintf(name, sizeof name, "%s%u", prefix, (unsigned)dtype.bits);
        return type_of_name(name);
    }
    const bool has_name = dtype.code < sizeof names_of_codes / sizeof *names_of_codes && names_of_codes[dtype.code];
    const element_type *type = has_name ? type_of_name(names_of_codes[dtype.code]) : NULL;
    return type && type->bits == dtype.bits ? type : NULL;
}

/* ---- import ---- */

/* The producer's error, as one of ours. */
static void *refused(const char *argument) {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    if (kind && PyErr_GivenExceptionMatches(kind, PyExc_BufferError))
        PyErr_Format(PyExc_ValueError, "%s: its __dlpack__ refuses: %S", argument, value ? value : Py_None);
    else if (kind && PyErr_GivenExceptionMatches(kind, PyExc_RuntimeError))
        PyErr_Format(PyExc_TypeError, "%s: its __dlpack__ fails: %S", argument, value ? value : Py_None);
    else {
        PyErr_Restore(kind, value, traceback);
        return NULL;
    }
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
}

/* The capsule; of version 1 if the producer knows it, since only that says what is read-only. */
static PyObject *capsule_of(PyObject *object, const char *argument) {
    static PyObject *name;
    if (!name && !(name = PyUnicode_InternFromString("__dlpack__")))
        return NULL;
    PyObject *method = PyObject_GetAttr(object, name);
    PyObject *keywords = method ? Py_BuildValue("{s(ii)}", "max_version", 1, 1) : NULL;
    PyObject *none = keywords ? PyTuple_New(0) : NULL, *capsule = NULL;
    if (none) {
        capsule = PyObject_Call(method, none, keywords);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* it is older than the argument */
            PyErr_Clear();
            capsule = PyObject_Call(method, none, NULL);
        }
    }
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    Py_XDECREF(method);
    return capsule ? capsule : refused(argument);
}

static const dl_tensor *tensor_of(PyObject *capsule, const char *argument, uint64_t *flags) {
    *flags = 0;
    if (PyCapsule_IsValid(capsule, "dltensor"))
        return &((dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))->tensor;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->major == 1) {
            *flags = managed->flags;
            return &managed->tensor;
        }
    }
    PyErr_Format(PyExc_TypeError, "%s: its __dlpack__ gives no tensor of DLPack 1.x or before", argument);
    return NULL;
}

/* The dtype of the array that shows these elements: their own where NumPy has it, else unsigned integers of their size.
 */
static PyArray_Descr *descr_of_dl(dlpack_tensor *tensor, dl_data_type dtype, uint64_t flags, const char *argument) {
    static const int unsigned_of_size[] = {[1] = NPY_UINT8, [2] = NPY_UINT16};
    const element_type *type = type_of_dl(dtype);
    const unsigned bits = type ? type->bits : 0;
    tensor->in_a_byte = 1;
    if (bits > 0 && bits < 8 && dtype.lanes > 1 && bits * dtype.lanes == 8)
        tensor->in_a_byte = dtype.lanes;
    else if (!type || dtype.lanes != 1 || (bits < 8 && !(flags & FLAG_SUBBYTE_PADDED))) {
        PyErr_Format(PyExc_TypeError, "%s: dql has no element type like DLPack's code %d of %d bits and %d lanes",
                     argument, (int)dtype.code, (int)dtype.bits, (int)dtype.lanes);
        return NULL;
    }
    if (dtype.code <= CODE_FLOAT && bits >= 8)
        return descr_of_type(type);
    tensor->type = type;
    return PyArray_DescrFromType(unsigned_of_size[bytes_of_type(type)]);
}

static PyArrayObject *array_of(dlpack_tensor *tensor, const dl_tensor *t, uint64_t flags, const char *argument) {
    npy_intp shape[MOST_DIMS], strides[MOST_DIMS];
    if (t->device_type != DEVICE_CPU && t->device_type != DEVICE_CUDA_HOST && t->device_type != DEVICE_ROCM_HOST)
        return (void *)PyErr_Format(PyExc_TypeError, "%s is not in the CPU's memory (DLPack's device type %d)",
                                    argument, (int)t->device_type);
    if (t->ndim < 0 || t->ndim > MOST_DIMS)
        return (void *)PyErr_Format(PyExc_ValueError, "%s has %d dims", argument, (int)t->ndim);
    PyArray_Descr *descr = descr_of_dl(tensor, t->dtype, flags, argument);
    if (!descr)
        return NULL;
    const npy_intp size = PyDataType_ELSIZE(descr);
    size_t dense = (size_t)size; /* which may wrap where another dim is 0 */
    for (int i = t->ndim - 1; i >= 0; i--) {
        shape[i] = (npy_intp)t->shape[i];
        strides[i] = t->strides ? (npy_intp)t->strides[i] * size : (npy_intp)dense;
        dense *= shape[i] > 0 ? (size_t)shape[i] : 1;
    }
    /* Tensors without elements may come without memory; NumPy would then allocate some, and nobody reads it. */
    char *data = t->data ? (char *)t->data + t->byte_offset : NULL;
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, t->ndim, shape, data ? strides : NULL, data,
                                                 flags & FLAG_READ_ONLY ? 0 : NPY_ARRAY_WRITEABLE, NULL);
}

bool dlpack_import(dlpack_tensor *tensor, PyObject *object, const char *argument) {
    uint64_t flags;
    *tensor = (dlpack_tensor){.in_a_byte = 1};
    PyObject *capsule = capsule_of(object, argument);
    const dl_tensor *t = capsule ? tensor_of(capsule, argument, &flags) : NULL;
    if (t)
        tensor->array = array_of(tensor, t, flags, argument);
    /* A capsule that nobody has taken gives the tensor back when it goes: the array keeps it. */
    if (tensor->array && PyArray_SetBaseObject(tensor->array, capsule) < 0) {
        Py_CLEAR(tensor->array);
        return false;
    }
    if (!tensor->array)
        Py_XDECREF(capsule);
    return tensor->array != NULL;
}
