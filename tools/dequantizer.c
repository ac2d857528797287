#include "dequantizer.h"

#include "explain.h"
#include "kernel.h"
#include <inttypes.h>
#include <string.h>

enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_I = 3, ATTRIBUTE_TYPE = 20, ATTRIBUTE_REFERENCE = 21 };

const char *const operand_names[OPERANDS] = {"x", "x_scale", "x_zero_point"};
static const char microsoft[] = "com.microsoft";

bool is_onnx_domain(view domain) {
    return domain.size == 0 || view_equals(domain, "ai.onnx");
}

/* The first import of a domain counts. */
static void add_import(opsets *o, view import) {
    const view domain = wire_string(import, OPSET_DOMAIN);
    uint64_t version = 0;
    wire_number(&version, import, OPSET_VERSION);
    if (is_onnx_domain(domain) && !o->has_onnx) {
        o->has_onnx = true;
        o->onnx = (int64_t)version;
    } else if (view_equals(domain, microsoft) && !o->has_microsoft) {
        o->has_microsoft = true;
        o->microsoft = (int64_t)version;
    }
}

opsets opsets_read(view message, unsigned number) {
    opsets o = {0};
    wire_field f;
    while (wire_next(&message, &f))
        if (f.number == number)
            add_import(&o, f.content);
    return o;
}

bool newer_than_known(int64_t ir_version, int64_t opset, const char *file, problem *note) {
    if (opset > NEWEST_OPSET)
        fail(note, file, "note: opset %" PRId64 " is newer than %d: DequantizeLinear is read as opset %d has it", opset,
             NEWEST_OPSET, NEWEST_OPSET);
    else if (ir_version > NEWEST_IR_VERSION)
        fail(note, file, "note: IR version %" PRId64 " is newer than %d: the model is read as one of version %d",
             ir_version, NEWEST_IR_VERSION, NEWEST_IR_VERSION);
    return opset > NEWEST_OPSET || ir_version > NEWEST_IR_VERSION;
}

/* Microsoft's operator has one version, and runtimes load it from models that don't import its domain. */
static bool check_operator(const dequantizer *d, const opsets *imported, problem *why) {
    if (!view_equals(d->op_type, "DequantizeLinear"))
        return unsupported(why, d->file, "the node is \"%s\", not DequantizeLinear", quoted(d->op_type).text);
    if (view_equals(d->domain, microsoft))
        return true;
    if (!is_onnx_domain(d->domain))
        return unsupported(why, d->file, "DequantizeLinear of the domain \"%s\"", quoted(d->domain).text);
    if (!imported->has_onnx)
        return fail(why, d->file, "no opset of ONNX, the node's domain, is imported");
    if (imported->onnx < OLDEST_OPSET)
        return unsupported(why, d->file, "opset %" PRId64 " is older than DequantizeLinear, which came with %d",
                           imported->onnx, OLDEST_OPSET);
    return true;
}

/* Types are optional in the oldest files; writers of proto3 leave out an i of 0. */
static bool read_int(int64_t *value, view attribute, const char *file, problem *why) {
    const view name = wire_string(attribute, ATTRIBUTE_NAME), reference = wire_string(attribute, ATTRIBUTE_REFERENCE);
    uint64_t type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED, i = 0;
    wire_number(&type, attribute, ATTRIBUTE_TYPE);
    const bool has_i = wire_number(&i, attribute, ATTRIBUTE_I);
    if (reference.size > 0)
        return unsupported(why, file, "attribute \"%s\" is the function's \"%s\"", quoted(name).text,
                           quoted(reference).text);
    if (type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED ? type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
                                                                 : !has_i)
        return fail(why, file, "attribute \"%s\" is not an int", quoted(name).text);
    *value = (int64_t)i;
    return true;
}

static bool refuse_attribute(view name, const dequantizer *d, const opsets *imported, problem *why) {
    if (is_onnx_domain(d->domain) && imported->onnx > NEWEST_OPSET)
        return unsupported(why, d->file, "attribute \"%s\" is not known, and opset %" PRId64 " newer than %d",
                           quoted(name).text, imported->onnx, NEWEST_OPSET);
    return fail(why, d->file, "unknown attribute \"%s\"", quoted(name).text);
}

/* Sets what the node leaves out to its default. */
static bool read_attributes(dequantizer *d, view node, const opsets *imported, problem *why) {
    int64_t output_dtype = 0;
    struct {
        const char *name;
        int64_t *value;
        bool seen;
    } known[] = {
        {"axis", &d->axis, false}, {"block_size", &d->block_size, false}, {"output_dtype", &output_dtype, false}};
    enum { COUNT = sizeof known / sizeof known[0] };
    wire_field f;

    d->axis = 1;
    d->block_size = 0;
    while (wire_next(&node, &f)) {
        if (f.number != NODE_ATTRIBUTE)
            continue;
        const view name = wire_string(f.content, ATTRIBUTE_NAME);
        size_t k = 0;
        while (k < COUNT && !view_equals(name, known[k].name))
            k++;
        if (k == COUNT)
            return refuse_attribute(name, d, imported, why);
        if (known[k].seen)
            return fail(why, d->file, "attribute \"%s\" appears twice", known[k].name);
        known[k].seen = true;
        if (!read_int(known[k].value, f.content, d->file, why))
            return false;
    }
    if (output_dtype < 0 || output_dtype > INT32_MAX)
        return fail(why, d->file, "output_dtype %" PRId64 " is no type", output_dtype);
    d->output_dtype = (int32_t)output_dtype;
    return true;
}

static void read_names(dequantizer *d, view node) {
    size_t input = 0;
    wire_field f;
    d->op_type = wire_string(node, NODE_OP_TYPE);
    d->domain = wire_string(node, NODE_DOMAIN);
    d->y = wire_string(node, NODE_OUTPUT);
    while (wire_next(&node, &f))
        if (f.number == NODE_INPUT && input < OPERANDS)
            d->inputs[input++] = f.content;
}

static bool check_arity(const dequantizer *d, view node, problem *why) {
    const size_t inputs = wire_count(node, NODE_INPUT), outputs = wire_count(node, NODE_OUTPUT);
    if (inputs > OPERANDS)
        return fail(why, d->file, "the node has %zu inputs, more than %d", inputs, OPERANDS);
    if (outputs > 1)
        return fail(why, d->file, "the node has %zu outputs, not one", outputs);
    if (d->inputs[X].size == 0 || d->inputs[X_SCALE].size == 0)
        return fail(why, d->file, "the node has no %s", d->inputs[X].size == 0 ? "x" : "x_scale");
    return d->y.size > 0 || fail(why, d->file, "the node has no y");
}

bool dequantizer_read(dequantizer *d, view node, const opsets *imported, const char *file, problem *why) {
    *d = (dequantizer){.file = file};
    read_names(d, node);
    return check_operator(d, imported, why) && check_arity(d, node, why) && read_attributes(d, node, imported, why);
}

dql_spec dequantizer_spec(const dequantizer *d, const Onnx__TensorProto *x, const Onnx__TensorProto *scale) {
    return (dql_spec){
        .x_type = x->data_type,
        .scale_type = scale->data_type,
        .y_type = d->output_dtype != 0 ? d->output_dtype : scale->data_type,
        .rank = x->n_dims,
        .shape = x->dims,
        .scale_rank = scale->n_dims,
        .scale_shape = scale->dims,
        .axis = d->axis,
        .block_size = d->block_size,
    };
}

static bool is_one_element(size_t rank, const int64_t *dims) {
    return rank == 0 || (rank == 1 && dims[0] == 1);
}

static bool same_shape(const Onnx__TensorProto *t, size_t rank, const int64_t *dims) {
    return (is_one_element(t->n_dims, t->dims) && is_one_element(rank, dims)) ||
           (t->n_dims == rank && (rank == 0 || memcmp(t->dims, dims, rank * sizeof *dims) == 0));
}

/* dql takes the type and shape of the zero points for granted. */
bool dequantizer_check_zero(const dequantizer *d, const dql_spec *s, const Onnx__TensorProto *zero, problem *why) {
    if (zero == NULL)
        return true;
    if (zero->data_type != s->x_type)
        return fail(why, d->file, "x_zero_point is %s, but x is %s", type_label(zero->data_type).text,
                    type_label(s->x_type).text);
    if (!same_shape(zero, s->scale_rank, s->scale_shape))
        return fail(why, d->file, "x_zero_point has shape %s, but x_scale has %s",
                    shape_label(zero->n_dims, zero->dims).text, shape_label(s->scale_rank, s->scale_shape).text);
    return true;
}

bool dequantizer_takes_types(const dequantizer *d, const dql_spec *spec, problem *why) {
    const dql_spec scalar = {.x_type = spec->x_type, .scale_type = spec->scale_type, .y_type = spec->y_type};
    dql_plan plan;
    const dql_status status = dql_plan_init(&plan, &scalar);
    return status == DQL_OK || explain_refusal(&scalar, status, d->file, why);
}

bool dequantizer_plan(dql_plan *plan, const dequantizer *d, const dql_spec *spec, const Onnx__TensorProto *zero,
                      problem *why) {
    const dql_status status = dql_plan_init(plan, spec);
    if (status != DQL_OK)
        return explain_refusal(spec, status, d->file, why);
    return dequantizer_check_zero(d, spec, zero, why);
}

/* ---- zero points of float types, which have to be 0 ---- */

static bool check_zero_numbers(const tensor *zero, const char *file, problem *why) {
    enum { AT_ONCE = 256 };
    const int64_t count = (int64_t)zero->count;
    const float one = 1;
    float numbers[AT_ONCE];
    dql_plan plan;
    const dql_spec spec = {
        .x_type = zero->type, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32, .rank = 1, .shape = &count};
    dql_status status = dql_plan_init(&plan, &spec);
    for (size_t begin = 0; status == DQL_OK && begin < zero->count; begin += AT_ONCE) {
        const size_t end = zero->count - begin < AT_ONCE ? zero->count : begin + AT_ONCE;
        status = dql_run_range(&plan, zero->data, &one, NULL, begin, end, numbers);
        for (size_t i = begin; status == DQL_OK && i < end; i++)
            if (numbers[i - begin] != 0)
                return fail(why, file, "x_zero_point has %g, but a zero point of a float type is 0",
                            (double)numbers[i - begin]);
    }
    return status == DQL_OK || fail(why, file, "%s", dql_status_text(status));
}

static bool check_float_zero(tensor_source zero, problem *why) {
    tensor t;
    if (zero.proto == NULL || dql_is_integer((dql_type)zero.proto->data_type) ||
        (zero.found != NULL && zero.found->is_zero))
        return true;
    if (!tensor_decode(&t, zero, why))
        return false;
    const bool ok = check_zero_numbers(&t, zero.file, why);
    if (zero.found != NULL)
        zero.found->is_zero = ok;
    tensor_free(&t);
    return ok;
}

bool dequantizer_plan_tensors(dql_plan *plan, dql_spec *spec, const dequantizer *d, const tensor_source of[OPERANDS],
                              const Onnx__TensorProto *computed, problem *why) {
    for (size_t i = 0; i < OPERANDS; i++)
        if (of[i].proto != NULL ? of[i].proto->data_type == 0 : i != X_ZERO_POINT)
            return fail(why, of[i].file, "%s has no type", operand_names[i]);
    *spec = dequantizer_spec(d, of[X].proto, of[X_SCALE].proto);
    if (!dequantizer_takes_types(d, spec, why))
        return false;
    for (size_t i = 0; i < OPERANDS; i++)
        if (of[i].proto != NULL && of[i].proto != computed && !tensor_check(of[i], why))
            return false;
    return dequantizer_plan(plan, d, spec, of[X_ZERO_POINT].proto, why) && check_float_zero(of[X_ZERO_POINT], why);
}
