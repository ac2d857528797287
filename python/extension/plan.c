#include "plan.h"

#include "arguments.h"
#include "call.h"
#include <stddef.h>
#include <string.h>

static const char plan_doc[] =
    "Plan(shape, scale_shape=(), *, x_type, scale_type='float32', dtype=None, axis=1, block_size=0, isa=None, "
    "store='auto')\n"
    "--\n\n"
    "A checked call of dequantize, for many tensors of one shape, or for parts of one.\n"
    "\n"
    "shape, scale_shape  Of x, and of scale and zero_point: ints, or sequences of them.\n"
    "x_type, scale_type  As dtypes, scalar types or strings.\n"
    "dtype               y's; the scale's if not given.\n"
    "axis, block_size, isa  As dequantize has them.\n"
    "store               'auto': past the caches if a call writes more than the last-level cache holds, which parts\n"
    "                    of an x that has to be packed never do; 'cached': never;\n"
    "                    'stream': always, for parts of a large tensor that nobody reads at once.\n"
    "\n"
    "Raises TypeError or ValueError, as dequantize does. A plan never changes; threads may share it.";

typedef struct {
    PyObject_HEAD node n;
    job j; /* without operands */
} plan_object;

/* ---- making one ---- */

static bool take_store(int *store, const char *name) {
    static const char *const names[] = {"auto", "cached", "stream"};
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *store = i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "store is 'auto', 'cached' or 'stream', not '%s'", name);
    return false;
}

static bool take_types(node *n, PyObject *x_type, PyObject *scale_type, PyObject *dtype) {
    n->x_type = type_of_object(x_type, "x_type");
    n->scale_type = !n->x_type ? NULL : scale_type ? type_of_object(scale_type, "scale_type") : type_of_name("float32");
    n->y_type = dtype && dtype != Py_None && n->scale_type ? type_of_object(dtype, "dtype") : n->scale_type;
    return n->y_type != NULL;
}

static PyObject *plan_new(PyTypeObject *class, PyObject *arguments, PyObject *names) {
    static char *keys[] = {"shape", "scale_shape", "x_type", "scale_type", "dtype",
                           "axis",  "block_size",  "isa",    "store",      NULL};
    PyObject *shape, *scale_shape = NULL, *x_type = NULL, *scale_type = NULL, *dtype = NULL, *isa = NULL;
    PyObject *axis_object = NULL, *block_size_object = NULL;
    long long axis, block_size;
    const char *store = "auto";
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O|O$OOOOOOs:Plan", keys, &shape, &scale_shape, &x_type,
                                     &scale_type, &dtype, &axis_object, &block_size_object, &isa, &store))
        return NULL;
    if (!take_int(&axis, axis_object, 1, "axis") || !take_int(&block_size, block_size_object, 0, "block_size"))
        return NULL;
    if (!x_type)
        return PyErr_Format(PyExc_TypeError, "Plan() missing required argument 'x_type'");
    plan_object *plan = (plan_object *)PyType_GenericAlloc(class, 0);
    node *n = plan ? &plan->n : NULL;
    if (plan && (!dims_of_object(&n->shape, shape, "shape") ||
                 (scale_shape && !dims_of_object(&n->scale_shape, scale_shape, "scale_shape")) ||
                 !take_types(n, x_type, scale_type, dtype) || !take_isa(&n->isa, isa == Py_None ? NULL : isa) ||
                 !take_store(&n->store, store)))
        Py_CLEAR(plan);
    if (plan) {
        n->axis = axis;
        n->block_size = block_size;
        if (!plan_node(&plan->j, n))
            Py_CLEAR(plan);
    }
    return (PyObject *)plan;
}

static void plan_dealloc(PyObject *self) {
    PyTypeObject *class = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(class, Py_tp_free);
    release(self);
    Py_DECREF(class);
}

/* ---- running it ---- */

static bool take_plan_operands(operands *o, const node *n, PyObject *const *v) {
    return operand_x(&o->x, v[0], n->x_type, &n->shape) &&
           operand_scale(&o->scale, v[1], n->scale_type, &n->scale_shape) &&
           operand_zero(&o->zero, v[2], &o->x, &n->scale_shape);
}

/* Of a part of y, where x has its elements from `begin` on. */
static bool may_be_in_place(const operands *o, const node *n, size_t begin) {
    return begin == 0 && !o->x.unpacked && n->x_type->bits == 8 * bytes_of_type(n->y_type);
}

static const char run_doc[] =
    "run($self, /, x, scale, zero_point=None, *, out=None, threads=None)\n"
    "--\n\n"
    "Dequantizes a whole tensor. The arguments are those of dequantize, of the plan's types and shapes; bytes (uint8 "
    "arrays,\n"
    "buffers) may hold elements of x_type, and x may be flat. Returns out, or a new array of the plan's shape.";

enum { RUN_OUT = 3, RUN_THREADS, RUN_ARGUMENTS };
static signature run_takes = {.function = "run",
                              .names = {"x", "scale", "zero_point", "out", "threads"},
                              .count = RUN_ARGUMENTS,
                              .by_place = 3,
                              .required = 2};

static PyObject *run_operands(const plan_object *plan, operands *o, PyObject *const *v) {
    const node *n = &plan->n;
    const size_t size = bytes_of_type(n->y_type);
    job j = plan->j;
    size_t threads;
    if (!take_plan_operands(o, n, v) || !take_threads(&threads, v[RUN_THREADS]))
        return NULL;
    if (n->store == DQL_STORE_AUTO && is_streamed_in_parts(j.count * size, o->x.unpacked, threads)) {
        node streamed = *n;
        streamed.store = DQL_STORE_STREAM;
        if (!plan_node(&j, &streamed))
            return NULL;
    }
    if (!v[RUN_OUT] ? !make_out(o, n->y_type, &n->shape)
                    : !operand_out(&o->out, v[RUN_OUT], n->y_type, &n->shape) ||
                          !check_overlap(o, j.count * size, may_be_in_place(o, n, 0)))
        return NULL;
    use_operands(&j, o);
    return run_call(&j, n, o, threads, v[RUN_OUT]);
}

static void no_operands(operands *o) {
    o->x.array = o->scale.array = o->zero.array = o->out.array = NULL;
}

static PyObject *plan_run(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    PyObject *v[RUN_ARGUMENTS];
    operands o;
    if (!take_arguments(&run_takes, arguments, count, names, v))
        return NULL;
    no_operands(&o);
    PyObject *y = run_operands((const plan_object *)self, &o, v);
    operands_release(&o);
    return y;
}

/* ---- a range of it ---- */

static const char run_range_doc[] =
    "run_range($self, /, x, scale, zero_point=None, *, begin=0, end=None, out=None)\n"
    "--\n\n"
    "Dequantizes the elements [begin, end) of the flattened tensor; end is its size if not given. x, scale and "
    "zero_point\n"
    "are those of the whole tensor. Returns out, or a new array, of shape (end - begin,). Any cut gives the same bits.";

enum { RANGE_BEGIN = 3, RANGE_END, RANGE_OUT, RANGE_ARGUMENTS };
static signature range_takes = {.function = "run_range",
                                .names = {"x", "scale", "zero_point", "begin", "end", "out"},
                                .count = RANGE_ARGUMENTS,
                                .by_place = 3,
                                .required = 2};

/* What a part of a tensor is: as of dql_run_rows. A range is one row. */
typedef struct {
    size_t begin, length, rows, x_stride, y_stride;
} part;

static PyObject *run_part(const plan_object *plan, operands *o, const part *p, const dims *shape, PyObject *given) {
    const node *n = &plan->n;
    const size_t size = bytes_of_type(n->y_type), bytes = p->length * p->rows * size;
    job j = plan->j;
    if (!given && !make_out(o, n->y_type, shape))
        return NULL;
    const size_t span = bytes == 0 ? 0 : ((p->rows - 1) * p->y_stride + p->length) * size;
    if (given && !check_overlap(o, span, may_be_in_place(o, n, p->begin) && p->x_stride == p->y_stride))
        return NULL;
    use_operands(&j, o);
    void *y = operand_data(&o->out);
    PyThreadState *state = is_long(bytes) ? PyEval_SaveThread() : NULL;
    const dql_status status = run_rows(&j, p->begin, p->length, p->rows, p->x_stride, y, p->y_stride);
    if (state)
        PyEval_RestoreThread(state);
    return result_of(status, n, o, given);
}

static PyObject *outside(const plan_object *plan, const char *what) {
    return PyErr_Format(PyExc_ValueError, "%s are not in the tensor's %zu elements", what, plan->j.count);
}

static PyObject *range_of_operands(const plan_object *plan, operands *o, PyObject *const *v) {
    const node *n = &plan->n;
    part p = {.rows = 1};
    size_t end;
    if (!take_plan_operands(o, n, v) || !take_size(&p.begin, v[RANGE_BEGIN], 0, "begin") ||
        !take_size(&end, v[RANGE_END], plan->j.count, "end"))
        return NULL;
    if (p.begin > end || end > plan->j.count)
        return outside(plan, "begin and end");
    p.length = p.x_stride = p.y_stride = end - p.begin;
    const dims shape = {.rank = 1, .dims = {(int64_t)p.length}};
    if (v[RANGE_OUT] && !operand_out(&o->out, v[RANGE_OUT], n->y_type, &shape))
        return NULL;
    return run_part(plan, o, &p, &shape, v[RANGE_OUT]);
}

static PyObject *plan_run_range(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    PyObject *v[RANGE_ARGUMENTS];
    operands o;
    if (!take_arguments(&range_takes, arguments, count, names, v))
        return NULL;
    no_operands(&o);
    PyObject *y = range_of_operands((const plan_object *)self, &o, v);
    operands_release(&o);
    return y;
}

/* ---- rows of it ---- */

static const char rows_doc[] =
    "rows($self, /, x, scale, zero_point=None, *, begin, length, rows, stride=None, out=None)\n"
    "--\n\n"
    "Dequantizes a panel, such as the tile of weights of a matrix product: row r is the `length` elements of the "
    "flattened\n"
    "tensor from begin + r * stride on. x, scale and zero_point are those of the whole tensor; stride is the last dim "
    "of the\n"
    "shape if not given. Returns out, or a new array, of shape (rows, length); the rows of out may be apart, as those "
    "of a\n"
    "view of a larger matrix are.";

enum { ROWS_BEGIN = 3, ROWS_LENGTH, ROWS_ROWS, ROWS_STRIDE, ROWS_OUT, ROWS_ARGUMENTS };
static signature rows_takes = {.function = "rows",
                               .names = {"x", "scale", "zero_point", "begin", "length", "rows", "stride", "out"},
                               .count = ROWS_ARGUMENTS,
                               .by_place = 3,
                               .required = 2};

static bool are_rows_inside(const part *p, size_t count) {
    if (p->length == 0 || p->rows == 0)
        return p->begin <= count;
    if (p->begin > count || p->length > count - p->begin)
        return false;
    return p->x_stride == 0 || p->rows - 1 <= (count - p->begin - p->length) / p->x_stride;
}

static PyObject *rows_of_operands(const plan_object *plan, operands *o, PyObject *const *v) {
    const node *n = &plan->n;
    const size_t last = n->shape.rank ? (size_t)n->shape.dims[n->shape.rank - 1] : 1;
    part p;
    if (!v[ROWS_BEGIN] || !v[ROWS_LENGTH] || !v[ROWS_ROWS])
        return PyErr_Format(PyExc_TypeError, "rows() missing required argument 'begin', 'length' or 'rows'");
    if (!take_plan_operands(o, n, v) || !take_size(&p.begin, v[ROWS_BEGIN], 0, "begin") ||
        !take_size(&p.length, v[ROWS_LENGTH], 0, "length") || !take_size(&p.rows, v[ROWS_ROWS], 0, "rows") ||
        !take_size(&p.x_stride, v[ROWS_STRIDE], last, "stride"))
        return NULL;
    if (!are_rows_inside(&p, plan->j.count))
        return outside(plan, "rows");
    const dims shape = {.rank = 2, .dims = {(int64_t)p.rows, (int64_t)p.length}};
    p.y_stride = p.length;
    if (v[ROWS_OUT] && !operand_out_rows(&o->out, v[ROWS_OUT], n->y_type, &shape, &p.y_stride))
        return NULL;
    return run_part(plan, o, &p, &shape, v[ROWS_OUT]);
}

static PyObject *plan_rows(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    PyObject *v[ROWS_ARGUMENTS];
    operands o;
    if (!take_arguments(&rows_takes, arguments, count, names, v))
        return NULL;
    no_operands(&o);
    PyObject *y = rows_of_operands((const plan_object *)self, &o, v);
    operands_release(&o);
    return y;
}

/* ---- slices ---- */

static const char slice_doc[] =
    "slice($self, slices, index, /)\n"
    "--\n\n"
    "(begin, end) of number `index` of `slices` even parts, for run_range: cut at cache lines of y.";

static PyObject *plan_slice(PyObject *self, PyObject *arguments) {
    Py_ssize_t slices, slice;
    size_t begin, end;
    if (!PyArg_ParseTuple(arguments, "nn:slice", &slices, &slice))
        return NULL;
    if (slice < 0 || slice >= slices)
        return PyErr_Format(PyExc_ValueError, "there is no slice %zd of %zd", slice, slices);
    dql_plan_slice(&((const plan_object *)self)->j.plan, (size_t)slices, (size_t)slice, &begin, &end);
    return Py_BuildValue("(nn)", (Py_ssize_t)begin, (Py_ssize_t)end);
}

/* ---- what it is ---- */

static const node *node_of(PyObject *self) {
    return &((const plan_object *)self)->n;
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return dims_tuple(&node_of(self)->shape);
}

static PyObject *get_scale_shape(PyObject *self, void *unused) {
    (void)unused;
    return dims_tuple(&node_of(self)->scale_shape);
}

static PyObject *get_x_type(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(node_of(self)->x_type->name);
}

static PyObject *get_scale_type(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(node_of(self)->scale_type->name);
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return (PyObject *)descr_of_type(node_of(self)->y_type);
}

static PyObject *get_axis(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(node_of(self)->axis);
}

static PyObject *get_block_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(node_of(self)->block_size);
}

static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(((const plan_object *)self)->j.count);
}

static PyObject *get_isa(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dql_isa_name(dql_plan_isa(&((const plan_object *)self)->j.plan)));
}

static PyObject *plan_repr(PyObject *self) {
    const node *n = node_of(self);
    PyObject *shape = dims_tuple(&n->shape), *scale_shape = dims_tuple(&n->scale_shape), *text = NULL;
    if (shape && scale_shape)
        text = PyUnicode_FromFormat(
            "dql.Plan(%R, %R, x_type='%s', scale_type='%s', dtype='%s', axis=%lld, block_size=%lld)", shape,
            scale_shape, n->x_type->name, n->scale_type->name, n->y_type->name, (long long)n->axis,
            (long long)n->block_size);
    Py_XDECREF(shape);
    Py_XDECREF(scale_shape);
    return text;
}

#define FASTCALL(function) ((PyCFunction)(void (*)(void))function), METH_FASTCALL | METH_KEYWORDS

PyObject *make_plan_class(void) {
    static PyMethodDef methods[] = {{"run", FASTCALL(plan_run), run_doc},
                                    {"run_range", FASTCALL(plan_run_range), run_range_doc},
                                    {"rows", FASTCALL(plan_rows), rows_doc},
                                    {"slice", plan_slice, METH_VARARGS, slice_doc},
                                    {NULL, NULL, 0, NULL}};
    static PyGetSetDef attributes[] = {{"shape", get_shape, NULL, "Of x and y: a tuple of ints.", NULL},
                                       {"scale_shape", get_scale_shape, NULL, "Of scale and zero_point.", NULL},
                                       {"x_type", get_x_type, NULL, "dql's name of it, such as 'uint4'.", NULL},
                                       {"scale_type", get_scale_type, NULL, "dql's name of it.", NULL},
                                       {"dtype", get_dtype, NULL, "y's dtype.", NULL},
                                       {"axis", get_axis, NULL, "As it was given.", NULL},
                                       {"block_size", get_block_size, NULL, "As it was given.", NULL},
                                       {"size", get_size, NULL, "Elements of x and y.", NULL},
                                       {"isa", get_isa, NULL, "The ISA that it runs on.", NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
    PyType_Slot slots[] = {{Py_tp_new, (void *)plan_new},
                           {Py_tp_dealloc, (void *)plan_dealloc},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, attributes},
                           {Py_tp_repr, (void *)plan_repr},
                           {Py_tp_doc, (void *)(uintptr_t)plan_doc},
                           {0, NULL}};
    PyType_Spec spec = {
        .name = "dql.Plan", .basicsize = sizeof(plan_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return PyType_FromSpec(&spec);
}
