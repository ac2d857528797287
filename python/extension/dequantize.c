#include "dequantize.h"

#include "arguments.h"
#include "call.h"

const char dequantize_doc[] =
    "dequantize(x, scale, zero_point=None, *, axis=1, block_size=0, dtype=None, x_type=None, shape=None, out=None, "
    "threads=None, isa=None)\n"
    "--\n\n"
    "ONNX DequantizeLinear: y = (x - zero_point) * scale, rounded to float32 and then to dtype.\n"
    "\n"
    "x           Quantized elements, of any shape: an array of int8, uint8, int16, uint16, int32 or of the types of\n"
    "            ml_dtypes that dql.info().x_types names; an object with __dlpack__ (a CPU tensor of PyTorch) or the "
    "buffer\n"
    "            protocol; or bytes, see x_type. Non-contiguous and byte-swapped arrays are copied, others are read "
    "where\n"
    "            they are, memory maps too.\n"
    "scale       float32, float16, bfloat16 or float8_e8m0fnu; or a number or list of numbers, which become float32.\n"
    "            Per tensor: shape (), or one element. Per axis: shape (x.shape[axis],). Blocked: x's shape, but for\n"
    "            ceil(x.shape[axis] / block_size) on the axis.\n"
    "zero_point  Of x's type and scale's shape; or an int or list of ints. Of float types it can only be 0.\n"
    "axis        In [-x.ndim, x.ndim); 1 is ONNX's default.\n"
    "block_size  Elements of the axis that share a scale; 0: not blocked.\n"
    "dtype       y's: float32, float16 or bfloat16, as a dtype, a scalar type or a string; the scale's if not given.\n"
    "x_type      What bytes hold, such as \"uint4\" or \"float8e4m3fn\": x, and zero_point too, may then be uint8 "
    "arrays or\n"
    "            buffers, in which elements of less than 8 bits are packed over the flattened tensor, the first in "
    "the\n"
    "            lowest bits.\n"
    "shape       x's, where x is bytes; needed unless x_type has 8 bits.\n"
    "out         Where y is written: a writeable C-contiguous array, or an object with __dlpack__, of x's shape and "
    "dtype.\n"
    "            It may be x itself, seen as another type of the same size, and must not overlap the inputs "
    "otherwise.\n"
    "threads     How many; 0: one for each CPU that the process may run on. Each takes slices of 1 MiB of y.\n"
    "isa         One of dql.isas(); all give the same bits (but for the sign and payload of NaNs).\n"
    "\n"
    "Returns out, or a new C-contiguous array of x's shape; 0-d for a scalar. Raises TypeError for types, ValueError "
    "for\n"
    "shapes and values; its text has both. Other threads of Python run meanwhile, if y has 16 KiB or more.";

enum { X, SCALE, ZERO_POINT, AXIS, BLOCK_SIZE, DTYPE, X_TYPE, SHAPE, OUT, THREADS, ISA, ARGUMENTS };

static signature takes = {
    .function = "dequantize",
    .names = {"x", "scale", "zero_point", "axis", "block_size", "dtype", "x_type", "shape", "out", "threads", "isa"},
    .count = ARGUMENTS,
    .by_place = 3,
    .required = 2};

static bool take_x(operands *o, PyObject *const *v) {
    const element_type *declared = NULL;
    dims shape;
    if (v[X_TYPE] && !(declared = type_of_object(v[X_TYPE], "x_type")))
        return false;
    if (v[SHAPE] && !dims_of_object(&shape, v[SHAPE], "shape"))
        return false;
    return operand_x(&o->x, v[X], declared, v[SHAPE] ? &shape : NULL);
}

static bool take_operands(operands *o, PyObject *const *v) {
    return take_x(o, v) && operand_scale(&o->scale, v[SCALE], NULL, NULL) &&
           operand_zero(&o->zero, v[ZERO_POINT], &o->x, &o->scale.shape);
}

static bool take_node(node *n, const operands *o, PyObject *const *v) {
    long long axis, block_size;
    n->x_type = o->x.type;
    n->scale_type = o->scale.type;
    n->y_type = v[DTYPE] ? type_of_object(v[DTYPE], "dtype") : o->scale.type;
    n->shape = o->x.shape;
    n->scale_shape = o->scale.shape;
    if (!n->y_type || !take_int(&axis, v[AXIS], 1, "axis") || !take_int(&block_size, v[BLOCK_SIZE], 0, "block_size"))
        return false;
    n->axis = axis;
    n->block_size = block_size;
    return take_isa(&n->isa, v[ISA]);
}

static bool take_out(operands *o, const node *n, const job *j, PyObject *object) {
    if (!object)
        return make_out(o, n->y_type, &n->shape);
    const size_t size = bytes_of_type(n->y_type);
    return operand_out(&o->out, object, n->y_type, &n->shape) &&
           check_overlap(o, j->count * size, !o->x.unpacked && n->x_type->bits == 8 * size);
}

static PyObject *dequantize_operands(operands *o, PyObject *const *v) {
    job j;
    node n;
    size_t threads;
    if (!take_operands(o, v) || !take_node(&n, o, v) || !take_threads(&threads, v[THREADS]))
        return NULL;
    const size_t count = dims_count(&n.shape), size = bytes_of_type(n.y_type);
    const bool in_parts = count < SIZE_MAX / size && is_streamed_in_parts(count * size, o->x.unpacked, threads);
    n.store = in_parts ? DQL_STORE_STREAM : DQL_STORE_AUTO;
    if (!plan_node(&j, &n) || !take_out(o, &n, &j, v[OUT]))
        return NULL;
    use_operands(&j, o);
    return run_call(&j, &n, o, threads, v[OUT]);
}

PyObject *dequantize(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    (void)module;
    PyObject *values[ARGUMENTS];
    if (!take_arguments(&takes, arguments, count, names, values))
        return NULL;
    operands o;
    o.x.array = o.scale.array = o.zero.array = o.out.array = NULL;
    PyObject *y = dequantize_operands(&o, values);
    operands_release(&o);
    return y;
}
