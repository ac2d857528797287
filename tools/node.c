#include "node.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the search for the initializers of a graph's inputs from taking quadratic time. */
enum { MOST_INPUTS = 64 };

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
    if (n->model != NULL && find_node(n, why) &&
        dequantizer_read(&n->op, n->proto, (opset_list){n->model->opset_import, n->model->n_opset_import}, file, why))
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
    return find_operand(&o->x, node_input(n->proto, 0), o, n, files, why) &&
           find_operand(&o->scale, node_input(n->proto, 1), o, n, files, why) &&
           (node_input(n->proto, 2)[0] == '\0' || find_operand(&o->zero, node_input(n->proto, 2), o, n, files, why));
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
    *r = (result){.spec = dequantizer_spec(&n->op, o->x.proto, o->scale.proto)};
    if (!dequantizer_plan(&plan, &n->op, &r->spec, o->zero, why))
        return false;
    r->isa = dql_plan_isa(&plan);
    return run_plan(&plan, n, o, r, why);
}

void result_free(result *r) {
    tensor_free(&r->y);
}
