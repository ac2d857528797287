#include "node.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPH_NODE = 1, NODE_OP_TYPE = 4 };

static bool find_node(node *n, problem *why) {
    const size_t count = wire_count(n->m.graph, GRAPH_NODE);
    const view op = wire_string(wire_string(n->m.graph, GRAPH_NODE), NODE_OP_TYPE);
    if (count != 1)
        return unsupported(why, n->m.file, "the graph has %zu nodes, not one", count);
    if (!view_equals(op, "DequantizeLinear"))
        return unsupported(why, n->m.file, "the node is \"%s\", not DequantizeLinear", quoted(op).text);
    return placed_node_read(&n->placed, &n->m, &n->m.sites[0], why);
}

static bool name_y(node *n, problem *why) {
    const view y = n->placed.op.y;
    n->y_name = strndup((const char *)y.data, y.size);
    return n->y_name != NULL || fail(why, n->m.file, "no memory");
}

bool node_load(node *n, const char *file, problem *why) {
    *n = (node){0};
    if (!model_load(&n->m, file, why))
        return false;
    if (find_node(n, why) && name_y(n, why))
        return true;
    node_free(n);
    return false;
}

void node_free(node *n) {
    free(n->y_name);
    model_free(&n->m);
    *n = (node){0};
}

static bool needs_file(const value *v) {
    return !v->is_initializer;
}

size_t node_file_count(const node *n) {
    view rest = n->m.graph;
    size_t count = 0;
    for (const value *v; (v = model_next_input(&n->m, &rest)) != NULL;)
        count += needs_file(v);
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

static bool check_type(const Onnx__TypeProto *type, view name, tensor_source s, problem *why) {
    if (type->value_case == ONNX__TYPE_PROTO__VALUE__NOT_SET)
        return true;
    if (type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return fail(why, s.file, "input \"%s\" of the model is not a tensor", quoted(name).text);
    const Onnx__TypeProto__Tensor *declared = type->tensor_type;
    if (declared->elem_type != 0 && declared->elem_type != s.proto->data_type)
        return fail(why, s.file, "is %s, but the model's input \"%s\" is %s", type_label(s.proto->data_type).text,
                    quoted(name).text, type_label(declared->elem_type).text);
    if (declared->shape != NULL && !same_dims(declared->shape, s.proto))
        return fail(why, s.file, "has shape %s, which is not that of the model's input \"%s\"",
                    shape_label(s.proto->n_dims, s.proto->dims).text, quoted(name).text);
    return true;
}

/* An input's file must hold what the model says of the input; a dim may be a variable there (some writers say -1),
 * or the shape be left out.
 */
static bool check_declared(const value *input, tensor_source s, const node *n, problem *why) {
    if (input->declared.size == 0)
        return true;
    Onnx__TypeProto *type = unpack_message(&onnx__type_proto__descriptor, input->declared, n->m.file, why);
    if (type == NULL)
        return false;
    const bool ok = check_type(type, input->name, s, why);
    onnx__type_proto__free_unpacked(type, NULL);
    return ok;
}

/* The file that is for an input of the graph. */
static size_t file_of(const value *input, const node *n) {
    view rest = n->m.graph;
    size_t file = 0;
    for (const value *v; (v = model_next_input(&n->m, &rest)) != NULL && v != input;)
        file += needs_file(v);
    return file;
}

static bool find_operand(operands *o, size_t i, const node *n, char *const files[], problem *why) {
    value *v = n->placed.operands[i];
    if (v == NULL || (!v->is_input && !v->is_initializer))
        return fail(why, n->m.file, "\"%s\" is neither an input of the graph nor an initializer",
                    quoted(n->placed.op.inputs[i]).text);
    if (v->is_ambiguous) {
        placed_node_refuse(&n->placed, i, why_not_constant(&n->m, v), why);
        why->unsupported = false;
        return false;
    }
    if (!needs_file(v))
        return constant_tensor(&o->of[i], &n->m, v, why);
    const size_t file = file_of(v, n);
    if (file >= o->loaded_count || o->loaded[file] == NULL)
        return fail(why, n->m.file, "has no file for the input \"%s\"", quoted(v->name).text);
    o->of[i] = (tensor_source){o->loaded[file], files[file], NULL, NULL};
    return check_declared(v, o->of[i], n, why);
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
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(&n->placed, i) && !find_operand(o, i, n, files, why))
            return false;
    return true;
}

bool operands_load(operands *o, const node *n, char *const files[], size_t count, problem *why) {
    const size_t needed = node_file_count(n);
    *o = (operands){0};
    if (count != needed)
        return fail(why, n->m.file, "needs %zu input file%s, but got %zu", needed, needed == 1 ? "" : "s", count);
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
    tensor decoded[OPERANDS] = {{0}};
    bool ok = tensor_create(&r->y, r->spec.y_type, r->spec.rank, r->spec.shape, n->m.file, why);
    for (size_t i = 0; ok && i < OPERANDS; i++)
        ok = o->of[i].proto == NULL || tensor_decode(&decoded[i], o->of[i], why);
    if (ok) {
        const dql_status status =
            dql_run(plan, decoded[X].data, decoded[X_SCALE].data, decoded[X_ZERO_POINT].data, r->y.data);
        if (status != DQL_OK)
            ok = fail(why, n->m.file, "%s", dql_status_text(status));
    }
    for (size_t i = 0; i < OPERANDS; i++)
        tensor_free(&decoded[i]);
    if (!ok)
        result_free(r);
    return ok;
}

bool node_run(const node *n, const operands *o, result *r, problem *why) {
    dql_plan plan;
    *r = (result){0};
    if (!dequantizer_plan_tensors(&plan, &r->spec, &n->placed.op, o->of, NULL, why))
        return false;
    r->isa = dql_plan_isa(&plan);
    return run_plan(&plan, n, o, r, why);
}

void result_free(result *r) {
    tensor_free(&r->y);
}
