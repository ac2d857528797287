#include "dequantizer.h"

#include "explain.h"
#include <inttypes.h>
#include <string.h>

enum { OLDEST_OPSET = 10, NEWEST_OPSET = 25 };

bool is_onnx_domain(const char *domain) {
    return strcmp(domain, "") == 0 || strcmp(domain, "ai.onnx") == 0;
}

static bool same_domain(const char *a, const char *b) {
    return strcmp(a, b) == 0 || (is_onnx_domain(a) && is_onnx_domain(b));
}

bool find_opset(int64_t *version, opset_list opsets, const char *domain) {
    for (size_t i = 0; i < opsets.count; i++)
        if (same_domain(string_or_empty(opsets.entries[i]->domain), domain)) {
            *version = opsets.entries[i]->version;
            return true;
        }
    return false;
}

static bool check_operator(const Onnx__NodeProto *node, opset_list opsets, const char *file, problem *why) {
    const char *domain = string_or_empty(node->domain), *op = string_or_empty(node->op_type);
    int64_t opset;
    if (strcmp(op, "DequantizeLinear") != 0)
        return unsupported(why, file, "the node is \"%.100s\", not DequantizeLinear", op);
    if (!is_onnx_domain(domain) && strcmp(domain, "com.microsoft") != 0)
        return unsupported(why, file, "DequantizeLinear of the domain \"%.100s\"", domain);
    if (!find_opset(&opset, opsets, domain))
        return fail(why, file, "no opset of the node's domain \"%.100s\" is imported", domain);
    if (is_onnx_domain(domain) && (opset < OLDEST_OPSET || opset > NEWEST_OPSET))
        return unsupported(why, file, "opset %" PRId64 " is not one of %d to %d", opset, OLDEST_OPSET, NEWEST_OPSET);
    return true;
}

/* Types are optional in the oldest files; writers of proto3 leave out an i of 0. */
static bool read_int(int64_t *value, const Onnx__AttributeProto *attribute, const char *file, problem *why) {
    const bool typed = attribute->has_type && attribute->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
    if (string_or_empty(attribute->ref_attr_name)[0] != '\0')
        return unsupported(why, file, "attribute \"%.100s\" is the function's \"%.100s\"", attribute->name,
                           attribute->ref_attr_name);
    if (typed ? attribute->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT : !attribute->has_i)
        return fail(why, file, "attribute \"%.100s\" is not an int", attribute->name);
    *value = attribute->i;
    return true;
}

/* Sets what the node leaves out to its default. */
static bool read_attributes(dequantizer *d, const Onnx__NodeProto *node, problem *why) {
    int64_t output_dtype = 0;
    struct {
        const char *name;
        int64_t *value;
        bool seen;
    } known[] = {
        {"axis", &d->axis, false}, {"block_size", &d->block_size, false}, {"output_dtype", &output_dtype, false}};
    enum { COUNT = sizeof known / sizeof known[0] };

    d->axis = 1;
    d->block_size = 0;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attribute = node->attribute[i];
        size_t k = 0;
        while (k < COUNT && strcmp(known[k].name, string_or_empty(attribute->name)) != 0)
            k++;
        if (k == COUNT)
            return fail(why, d->file, "unknown attribute \"%.100s\"", string_or_empty(attribute->name));
        if (known[k].seen)
            return fail(why, d->file, "attribute \"%s\" appears twice", known[k].name);
        known[k].seen = true;
        if (!read_int(known[k].value, attribute, d->file, why))
            return false;
    }
    if (output_dtype < 0 || output_dtype > INT32_MAX)
        return fail(why, d->file, "output_dtype %" PRId64 " is no type", output_dtype);
    d->output_dtype = (int32_t)output_dtype;
    return true;
}

const char *node_input(const Onnx__NodeProto *node, size_t i) {
    return i < node->n_input ? node->input[i] : "";
}

static bool check_arity(const Onnx__NodeProto *node, const char *file, problem *why) {
    if (node->n_input > 3 || node->n_output > 1)
        return fail(why, file, "the node has %zu inputs and %zu outputs, but 3 and 1 at most are allowed",
                    node->n_input, node->n_output);
    if (node_input(node, 0)[0] == '\0' || node_input(node, 1)[0] == '\0')
        return fail(why, file, "the node has no %s", node_input(node, 0)[0] == '\0' ? "x" : "x_scale");
    if (node->n_output == 0 || node->output[0][0] == '\0')
        return fail(why, file, "the node has no y");
    return true;
}

bool dequantizer_read(dequantizer *d, const Onnx__NodeProto *node, opset_list opsets, const char *file, problem *why) {
    *d = (dequantizer){.file = file};
    return check_operator(node, opsets, file, why) && check_arity(node, file, why) && read_attributes(d, node, why);
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
static bool check_zero(tensor_source zero, const dql_spec *s, problem *why) {
    const Onnx__TensorProto *z = zero.proto;
    if (z == NULL)
        return true;
    if (z->data_type != s->x_type)
        return fail(why, zero.file, "x_zero_point is %s, but x is %s", type_label(z->data_type).text,
                    type_label(s->x_type).text);
    if (!same_shape(z, s->scale_rank, s->scale_shape))
        return fail(why, zero.file, "x_zero_point has shape %s, but x_scale has %s",
                    shape_label(z->n_dims, z->dims).text, shape_label(s->scale_rank, s->scale_shape).text);
    return true;
}

bool dequantizer_plan(dql_plan *plan, const dequantizer *d, const dql_spec *spec, tensor_source zero, problem *why) {
    const dql_status status = dql_plan_init(plan, spec);
    if (status != DQL_OK)
        return explain_refusal(spec, status, d->file, why);
    return check_zero(zero, spec, why);
}
