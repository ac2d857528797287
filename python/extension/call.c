#include "call.h"

#include "arguments.h"
#include <string.h>

_Static_assert(sizeof(npy_intp) == sizeof(int64_t), "dims of arrays are passed on as they are: 64-bit machines only");

/* ---- what the library takes ---- */

static bool is_taken(int x, int scale, int y) {
    dql_plan plan;
    const dql_spec spec = {.x_type = x, .scale_type = scale, .y_type = y};
    return dql_plan_init(&plan, &spec) == DQL_OK;
}

static bool is_taken_with_some(int role, int number) {
    for (const element_type *a = element_types; a->name; a++)
        for (const element_type *b = element_types; b->name; b++)
            if (role == 0   ? is_taken(number, a->number, b->number)
                : role == 1 ? is_taken(a->number, number, b->number)
                            : is_taken(a->number, b->number, number))
                return true;
    return false;
}

static bool append_string(PyObject *list, const char *string) {
    PyObject *name = PyUnicode_FromString(string);
    const bool ok = name && PyList_Append(list, name) == 0;
    Py_XDECREF(name);
    return ok;
}

static PyObject *tuple_of_list(PyObject *list, bool ok) {
    PyObject *tuple = ok ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

PyObject *types_of_role(int role) {
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (const element_type *type = element_types; ok && type->name; type++)
        ok = !is_taken_with_some(role, type->number) || append_string(list, type->name);
    return tuple_of_list(list, ok);
}

PyObject *available_isas(void) {
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (int isa = DQL_ISA_AUTO + 1; ok && dql_isa_name((dql_isa)isa); isa++)
        ok = !dql_isa_available((dql_isa)isa) || append_string(list, dql_isa_name((dql_isa)isa));
    return tuple_of_list(list, ok);
}

/* ---- errors ---- */

static PyObject *refuse_type(const char *argument, const element_type *type, int role) {
    PyObject *taken = types_of_role(role);
    if (taken)
        PyErr_Format(PyExc_TypeError, "%s is %s; dql takes %R", argument, type->name, taken);
    Py_XDECREF(taken);
    return NULL;
}

static PyObject *raise_type(const node *n) {
    if (!is_taken_with_some(0, n->x_type->number))
        return refuse_type("x", n->x_type, 0);
    if (!is_taken_with_some(1, n->scale_type->number))
        return refuse_type("scale", n->scale_type, 1);
    if (n->y_type == n->scale_type)
        return PyErr_Format(PyExc_TypeError, "dtype has to be given: y can't be of the scale's type, %s",
                            n->y_type->name);
    return refuse_type("dtype", n->y_type, 2);
}

/* What the library says, and of what. */
PyObject *raise_status(dql_status status, const node *n) {
    PyObject *shape = dims_tuple(&n->shape), *scale_shape = dims_tuple(&n->scale_shape);
    if (shape && scale_shape)
        PyErr_Format(PyExc_ValueError, "%s: x %s %R, scale %s %R, axis %lld, block_size %lld", dql_status_text(status),
                     n->x_type->name, shape, n->scale_type->name, scale_shape, (long long)n->axis,
                     (long long)n->block_size);
    Py_XDECREF(shape);
    Py_XDECREF(scale_shape);
    return NULL;
}

bool plan_node(job *j, const node *n) {
    const dql_spec spec = {.x_type = n->x_type->number,
                           .scale_type = n->scale_type->number,
                           .y_type = n->y_type->number,
                           .store = n->store,
                           .isa = n->isa,
                           .rank = (size_t)n->shape.rank,
                           .shape = n->shape.dims,
                           .scale_rank = (size_t)n->scale_shape.rank,
                           .scale_shape = n->scale_shape.dims,
                           .axis = n->axis,
                           .block_size = n->block_size};
    const dql_status status = dql_plan_init(&j->plan, &spec);
    j->x_type = n->x_type;
    j->y_type = n->y_type;
    if (status == DQL_OK)
        j->count = dql_plan_count(&j->plan);
    else if (status == DQL_ERROR_TYPE)
        raise_type(n);
    else
        raise_status(status, n);
    return status == DQL_OK;
}

/* ---- options ---- */

bool take_isa(int *isa, PyObject *object) {
    *isa = DQL_ISA_AUTO;
    if (!object)
        return true;
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!name) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "isa is a string, not %R", object);
        return false;
    }
    for (int i = DQL_ISA_AUTO; dql_isa_name((dql_isa)i); i++)
        if (strcmp(dql_isa_name((dql_isa)i), name) == 0 && dql_isa_available((dql_isa)i)) {
            *isa = i;
            return true;
        }
    PyObject *isas = available_isas();
    if (isas)
        PyErr_Format(PyExc_ValueError, "isa: %R is not available here; %R are", object, isas);
    Py_XDECREF(isas);
    return false;
}

bool take_threads(size_t *threads, PyObject *object) {
    if (!take_size(threads, object, 1, "threads"))
        return false;
    if (*threads == 0)
        *threads = usable_cpus();
    return true;
}

/* ---- operands ---- */

void operands_release(operands *o) {
    operand_release(&o->x);
    operand_release(&o->scale);
    operand_release(&o->zero);
    operand_release(&o->out);
}

void use_operands(job *j, const operands *o) {
    j->x = operand_data(&o->x);
    j->scale = operand_data(&o->scale);
    j->zero = operand_data(&o->zero);
    j->unpacked = o->x.unpacked;
}

bool make_out(operands *o, const element_type *type, const dims *shape) {
    PyArray_Descr *descr = descr_of_type(type);
    if (!descr)
        return false;
    o->out.array = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, shape->rank,
                                                         (const npy_intp *)shape->dims, NULL, NULL, 0, NULL);
    return o->out.array != NULL;
}

static bool overlaps(const operand *a, const char *out, size_t bytes) {
    const char *begin = operand_data(a);
    return a->array && bytes > 0 && begin < out + bytes && out < begin + PyArray_NBYTES(a->array);
}

bool check_overlap(const operands *o, size_t bytes, bool in_place) {
    const char *out = operand_data(&o->out);
    const char *overlapped = overlaps(&o->x, out, bytes) && !(in_place && out == operand_data(&o->x)) ? "x"
                             : overlaps(&o->scale, out, bytes)                                        ? "scale"
                             : overlaps(&o->zero, out, bytes)                                         ? "zero_point"
                                                                                                      : NULL;
    if (overlapped)
        PyErr_Format(PyExc_ValueError, "out overlaps %s", overlapped);
    return !overlapped;
}

/* ---- running ---- */

bool is_long(size_t bytes) {
    return bytes >= 1 << 14; /* about a microsecond */
}

PyObject *result_of(dql_status status, const node *n, const operands *o, PyObject *given) {
    if (status != DQL_OK)
        return raise_status(status, n);
    PyObject *result = given ? given : (PyObject *)o->out.array;
    Py_INCREF(result);
    return result;
}

PyObject *run_call(const job *j, const node *n, operands *o, size_t threads, PyObject *given) {
    void *y = operand_data(&o->out);
    const bool lets_go = is_long(j->count * bytes_of_type(j->y_type));
    PyThreadState *state = lets_go ? PyEval_SaveThread() : NULL;
    const dql_status status = threads > 1 ? run_on_threads(j, threads, y) : run_range(j, 0, j->count, y);
    if (lets_go)
        PyEval_RestoreThread(state);
    return result_of(status, n, o, given);
}
