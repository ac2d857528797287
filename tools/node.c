#include "node.h"

#include "explain.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_OPSET = 10, NEWEST_OPSET = 25 };

/* Keeps the search for the initializers of a graph's inputs from taking quadratic time. */
enum { MOST_INPUTS = 64 };

/* ONNX has two names for its own operators. */
static bool is_onnx_domain(const char *domain) {
    return strcmp(domain, "") == 0 || strcmp(domain, "ai.onnx") == 0;
}

static bool same_domain(const char *a, const char *b) {
    return strcmp(a, b) == 0 || (is_onnx_domain(a) && is_onnx_domain(b));
}

static bool check_operator(const node *n, problem *why) {
    const char *domain = string_or_empty(n->proto->domain), *op = string_or_empty(n->proto->op_type);
    if (strcmp(op, "DequantizeLinear") != 0)
        return unsupported(why, n->file, "the node is \"%.100s\", not DequantizeLinear", op);
    if (!is_onnx_domain(domain) && strcmp(domain, "com.microsoft") != 0)
        return unsupported(why, n->file, "DequantizeLinear of the domain \"%.100s\"", domain);

    for (size_t i = 0; i < n->model->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *opset = n->model->opset_import[i];
        if (!same_domain(string_or_empty(opset->domain), domain))
            continue;
        if (is_onnx_domain(domain) && (opset->version < OLDEST_OPSET || opset->version > NEWEST_OPSET))
            return unsupported(why, n->file, "opset %" PRId64 " is not one of %d to %d", opset->version, OLDEST_OPSET,
                               NEWEST_OPSET);
        return true;
    }
    return fail(why, n->file, "no opset of the node's domain \"%.100s\" is imported", domain);
}

/* Types are optional in the oldest files; writers of proto3 leave out an i of 0. */
static bool read_int(int64_t *value, const node *n, const Onnx__AttributeProto *attribute, problem *why) {
    const bool typed = attribute->has_type && attribute->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
    if (typed ? attribute->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT : !attribute->has_i)
        return fail(why, n->file, "attribute \"%.100s\" is not an int", attribute->name);
    *value = attribute->i;
    return true;
}

/* Sets what the node leaves out to its default. */
static bool read_attributes(node *n, problem *why) {
    int64_t output_dtype = 0;
    struct {
        const char *name;
        int64_t *value;
        bool seen;
    } known[] = {
        {"axis", &n->axis, false}, {"block_size", &n->block_size, false}, {"output_dtype", &output_dtype, false}};
    enum { COUNT = sizeof known / sizeof known[0] };

    n->axis = 1;
    n->block_size = 0;
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        const Onnx__AttributeProto *attribute = n->proto->attribute[i];
        size_t k = 0;
        while (k < COUNT && strcmp(known[k].name, string_or_empty(attribute->name)) != 0)
            k++;
        if (k == COUNT)
            return fail(why, n->file, "unknown attribute \"%.100s\"", string_or_empty(attribute->name));
        if (known[k].seen)
            return fail(why, n->file, "attribute \"%s\" appears twice", known[k].name);
        known[k].seen = true;
        if (!read_int(known[k].value, n, attribute, why))
            return false;
    }
    if (output_dtype < 0 || output_dtype > INT32_MAX)
        return fail(why, n->file, "output_dtype %" PRId64 " is no type", output_dtype);
    n->output_dtype = (int32_t)output_dtype;
    return true;
}

/* The name of an input of the node; "" where it is left out. */
static const char *input_name(const node *n, size_t i) {
    return i < n->proto->n_input ? n->proto->input[i] : "";
}

static bool check_arity(const node *n, problem *why) {
    if (n->proto->n_input > 3 || n->proto->n_output > 1)
        return fail(why, n->file, "the node has %zu inputs and %zu outputs, but 3 and 1 at most are allowed",
                    n->proto->n_input, n->proto->n_output);
    if (input_name(n, 0)[0] == '\0' || input_name(n, 1)[0] == '\0')
        return fail(why, n->file, "the node has no %s", input_name(n, 0)[0] == '\0' ? "x" : "x_scale");
    if (n->proto->n_output == 0 || n->proto->output[0][0] == '\0')
        return fail(why, n->file, "the node has no y");
    return true;
}

static bool find_node(node *n, problem *why) {
    const Onnx__GraphProto *graph = n->model->graph;
    if (graph == NULL)
        return fail(why, n->file, "has no graph: not an ONNX model");
    if (graph->n_node != 1)
        return unsupported(why, n->file, "the graph has %zu nodes, not one", graph->n_node);
    if (graph->n_input > MOST_INPUTS)
        return unsupported(why, n->file, "the graph has %zu inputs", graph->n_input);
    n->proto = graph->node[0];
    return true;
}

bool node_load(node *n, const char *file, problem *why) {
    *n = (node){.file = file, .model = load_model(file, why)};
    if (n->model != NULL && find_node(n, why) && check_operator(n, why) && check_arity(n, why) &&
        read_attributes(n, why))
        return true;
    node_free(n);
    return false;
}

void node_free(node *n) {
    if (n->model != NULL)
        onnx__model_proto__free_unpacked(n->model, NULL);
    n->model = NULL;
}

static const Onnx__TensorProto *find_initializer(const Onnx__GraphProto *graph, const char *name) {
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (strcmp(string_or_empty(graph->initializer[i]->name), name) == 0)
            return graph->initializer[i];
    return NULL;
}

static bool needs_file(const Onnx__GraphProto *graph, size_t input) {
    return find_initializer(graph, string_or_empty(graph->input[input]->name)) == NULL;
}

size_t node_file_count(const node *n) {
    const Onnx__GraphProto *graph = n->model->graph;
    size_t count = 0;
    for (size_t i = 0; i < graph->n_input; i++)
        count += needs_file(graph, i);
    return count;
}

static bool same_dims(const Onnx__TensorShapeProto *shape, const Onnx__TensorProto *t) {
    if (shape->n_dim != t->n_dims)
        return false;
    for (size_t i = 0; i < shape->n_dim; i++)
        if (shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
            shape->dim[i]->dim_value >= 0 && shape->dim[i]->dim_value != t->dims[i])
            return false;
    return true;
}

/* An input's file must hold what the model says of the input; a dim may be a variable there (some writers say -1),
 * or the shape be left out.
 */
static bool check_declared(const Onnx__ValueInfoProto *input, tensor_source s, problem *why) {
    const char *name = string_or_empty(input->name);
    if (input->type == NULL || input->type->value_case == ONNX__TYPE_PROTO__VALUE__NOT_SET)
        return true;
    if (input->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return fail(why, s.file, "input \"%.100s\" of the model is not a tensor", name);
    const Onnx__TypeProto__Tensor *declared = input->type->tensor_type;
    if (declared->elem_type != 0 && declared->elem_type != s.proto->data_type)
        return fail(why, s.file, "is %s, but the model's input \"%.100s\" is %s", type_label(s.proto->data_type).text,
                    name, type_label(declared->elem_type).text);
    if (declared->shape != NULL && !same_dims(declared->shape, s.proto))
        return fail(why, s.file, "has shape %s, which is not that of the model's input \"%.100s\"",
                    shape_label(s.proto->n_dims, s.proto->dims).text, name);
    return true;
}

/* Sets *input to the index of the graph's input that a file is for, *file to the file's; false if there is none. */
static bool find_input(size_t *input, size_t *file, const Onnx__GraphProto *graph, const char *name) {
    *file = 0;
    for (*input = 0; *input < graph->n_input; (*input)++) {
        if (!needs_file(graph, *input))
            continue;
        if (strcmp(string_or_empty(graph->input[*input]->name), name) == 0)
            return true;
        (*file)++;
    }
    return false;
}

static bool find_operand(tensor_source *s, const char *name, const operands *o, const node *n, char *const files[],
                         problem *why) {
    const Onnx__GraphProto *graph = n->model->graph;
    const Onnx__ValueInfoProto *declared = NULL;
    size_t input, file;
    *s = (tensor_source){find_initializer(graph, name), n->file};
    if (s->proto == NULL && find_input(&input, &file, graph, name)) {
        *s = (tensor_source){o->loaded[file], files[file]};
        declared = graph->input[input];
    }
    if (s->proto == NULL)
        return fail(why, n->file, "\"%.100s\" is neither an input of the graph nor an initializer", name);
    if (s->proto->data_type == 0)
        return fail(why, s->file, "tensor \"%.100s\" has no type", string_or_empty(s->proto->name));
    return declared == NULL || check_declared(declared, *s, why);
}

static bool load_files(operands *o, char *const files[], size_t count, problem *why) {
    o->loaded = calloc(count > 0 ? count : 1, sizeof(Onnx__TensorProto *));
    if (o->loaded == NULL)
        return fail(why, "input files", "no memory");
    for (; o->loaded_count < count; o->loaded_count++) {
        o->loaded[o->loaded_count] = load_tensor(files[o->loaded_count], why);
        if (o->loaded[o->loaded_count] == NULL)
            return false;
    }
    return true;
}

static bool find_operands(operands *o, const node *n, char *const files[], problem *why) {
    return find_operand(&o->x, input_name(n, 0), o, n, files, why) &&
           find_operand(&o->scale, input_name(n, 1), o, n, files, why) &&
           (input_name(n, 2)[0] == '\0' || find_operand(&o->zero, input_name(n, 2), o, n, files, why));
}

bool operands_load(operands *o, const node *n, char *const files[], size_t count, problem *why) {
    *o = (operands){0};
    if (count != node_file_count(n))
        return fail(why, n->file, "needs %zu input file%s, but got %zu", node_file_count(n),
                    node_file_count(n) == 1 ? "" : "s", count);
    if (load_files(o, files, count, why) && find_operands(o, n, files, why))
        return true;
    operands_free(o);
    return false;
}

void operands_free(operands *o) {
    for (size_t i = 0; i < o->loaded_count; i++)
        onnx__tensor_proto__free_unpacked(o->loaded[i], NULL);
    free(o->loaded);
    *o = (operands){0};
}

static dql_spec make_spec(const node *n, const operands *o) {
    const Onnx__TensorProto *x = o->x.proto, *scale = o->scale.proto;
    return (dql_spec){
        .x_type = x->data_type,
        .scale_type = scale->data_type,
        .y_type = n->output_dtype != 0 ? n->output_dtype : scale->data_type,
        .rank = x->n_dims,
        .shape = x->dims,
        .scale_rank = scale->n_dims,
        .scale_shape = scale->dims,
        .axis = n->axis,
        .block_size = n->block_size,
    };
}

static bool is_one_element(const Onnx__TensorProto *t) {
    return t->n_dims == 0 || (t->n_dims == 1 && t->dims[0] == 1);
}

static bool same_shape(const Onnx__TensorProto *a, const Onnx__TensorProto *b) {
    return (is_one_element(a) && is_one_element(b)) ||
           (a->n_dims == b->n_dims && (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0));
}

/* dql takes the type and shape of the zero points for granted. */
static bool check_zero(const operands *o, problem *why) {
    const Onnx__TensorProto *zero = o->zero.proto, *x = o->x.proto, *scale = o->scale.proto;
    if (zero == NULL)
        return true;
    if (zero->data_type != x->data_type)
        return fail(why, o->zero.file, "x_zero_point is %s, but x is %s", type_label(zero->data_type).text,
                    type_label(x->data_type).text);
    if (!same_shape(zero, scale))
        return fail(why, o->zero.file, "x_zero_point has shape %s, but x_scale has %s",
                    shape_label(zero->n_dims, zero->dims).text, shape_label(scale->n_dims, scale->dims).text);
    return true;
}

static bool run_plan(const dql_plan *plan, const node *n, const operands *o, result *r, problem *why) {
    tensor x = {0}, scale = {0}, zero = {0};
    bool ok = tensor_decode(&x, o->x, why) && tensor_decode(&scale, o->scale, why) &&
              (o->zero.proto == NULL || tensor_decode(&zero, o->zero, why)) &&
              tensor_create(&r->y, r->spec.y_type, r->spec.rank, r->spec.shape, n->file, why);
    if (ok) {
        const dql_status status = dql_run(plan, x.data, scale.data, zero.data, r->y.data);
        if (status != DQL_OK)
            ok = fail(why, n->file, "%s", dql_status_text(status));
    }
    tensor_free(&x);
    tensor_free(&scale);
    tensor_free(&zero);
    if (!ok)
        result_free(r);
    return ok;
}

bool node_run(const node *n, const operands *o, result *r, problem *why) {
    dql_plan plan;
    *r = (result){.spec = make_spec(n, o)};
    const dql_status status = dql_plan_init(&plan, &r->spec);
    if (status != DQL_OK)
        return explain_refusal(&r->spec, status, n->file, why);
    r->isa = dql_plan_isa(&plan);
    return check_zero(o, why) && run_plan(&plan, n, o, r, why);
}

void result_free(result *r) {
    tensor_free(&r->y);
}
