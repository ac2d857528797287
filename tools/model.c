#include "model.h"

#include <stdlib.h>
#include <string.h>

/* Fields of ONNX's messages. */
enum { MODEL_IR_VERSION = 1, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_TRAINING = 20, MODEL_FUNCTION = 25 };
enum {
    FUNCTION_NAME = 1,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_NODE = 7,
    FUNCTION_OPSET = 9,
    FUNCTION_DOMAIN = 10,
    FUNCTION_VALUE_INFO = 12
};
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE_INFO = 13,
    GRAPH_ANNOTATION = 14,
    GRAPH_SPARSE_INITIALIZER = 15
};
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_GRAPH = 6, ATTRIBUTE_GRAPHS = 11 };
enum { TENSOR_NAME = 8 };
enum { SPARSE_VALUES = 1 };
enum { VALUE_INFO_NAME = 1, VALUE_INFO_TYPE = 2 };
enum { ANNOTATION_NAME = 1, ANNOTATION_ENTRY = 2, ENTRY_VALUE = 2 };

/* ---- lists that grow ---- */

/* Room for one more element; the capacity is the power of two that holds `count`. A list takes at most a multiple of
 * the file's size. */
static void *grow(void *list, size_t count, size_t element, const model *m, problem *why) {
    if (count > 0 && (count & (count - 1)) != 0)
        return list;
    const size_t capacity = count > 0 ? 2 * count : 1;
    const bool allowed = capacity <= wire_memory(m->bytes.size) / element;
    void *longer = allowed ? realloc(list, capacity * element) : NULL;
    if (longer == NULL)
        fail(why, m->file, allowed ? "no memory" : "would take too much memory for its size");
    return longer;
}

/* append_TYPE(model, item, why): one more item of a list of the model. */
#define LIST(type, list, count)                                                                                        \
    static bool append_##type(model *m, type item, problem *why) {                                                     \
        type *longer = grow(m->list, m->count, sizeof *longer, m, why);                                                \
        if (longer == NULL)                                                                                            \
            return false;                                                                                              \
        m->list = longer;                                                                                              \
        m->list[m->count++] = item;                                                                                    \
        return true;                                                                                                   \
    }
LIST(scope, scopes, scope_count)
LIST(value, values, value_count)
LIST(site, sites, site_count)
LIST(use, uses, use_count)
#undef LIST

/* Names that are left out are empty. */
static bool add_value(model *m, value v, problem *why) {
    return v.name.size == 0 || append_value(m, v, why);
}

static bool add_use(model *m, use u, problem *why) {
    return u.name.size == 0 || append_use(m, u, why);
}

/* ---- the walk through the model ---- */

static void note_opset(model *m, const opsets *imported) {
    if (imported->has_onnx && imported->onnx > m->newest_opset)
        m->newest_opset = imported->onnx;
}

static bool add_graph(model *m, view graph, ptrdiff_t parent, problem *why);

static bool add_attribute(model *m, view attribute, size_t in, problem *why) {
    wire_field f;
    while (wire_next(&attribute, &f))
        if ((f.number == ATTRIBUTE_GRAPH || f.number == ATTRIBUTE_GRAPHS) &&
            !add_graph(m, f.content, (ptrdiff_t)in, why))
            return false;
    return true;
}

static bool is_constant_node(const model *m, view node) {
    return view_equals(wire_string(node, NODE_OP_TYPE), "Constant") && is_onnx_domain(wire_string(node, NODE_DOMAIN)) &&
           !m->constant_is_function && wire_count(node, NODE_OUTPUT) == 1;
}

static bool add_node(model *m, const wire_field *field, size_t in, problem *why) {
    view node = field->content;
    const view op = wire_string(node, NODE_OP_TYPE);
    const bool constant = is_constant_node(m, node);
    const bool cast = view_equals(op, "Cast") && is_onnx_domain(wire_string(node, NODE_DOMAIN));
    const bool dequantizes = view_equals(op, "DequantizeLinear");
    const ptrdiff_t at = dequantizes ? (ptrdiff_t)m->site_count : NO_SITE;
    if (dequantizes && !append_site(m, (site){in, field->whole, field->content}, why))
        return false;

    wire_field f;
    while (wire_next(&node, &f)) {
        bool ok = true;
        if (f.number == NODE_INPUT)
            ok = add_use(m, (use){.scope = in, .name = f.content, .by_cast = cast}, why);
        else if (f.number == NODE_OUTPUT)
            ok = add_value(m,
                           (value){.scope = in,
                                   .name = f.content,
                                   .is_constant = constant,
                                   .is_computed = !constant,
                                   .site = at,
                                   .field = field->whole,
                                   .content = field->content},
                           why);
        else if (f.number == NODE_ATTRIBUTE)
            ok = add_attribute(m, f.content, in, why);
        if (!ok)
            return false;
    }
    return true;
}

static value declaration(view value_info, size_t in) {
    return (value){.scope = in,
                   .name = wire_string(value_info, VALUE_INFO_NAME),
                   .site = NO_SITE,
                   .declared = wire_string(value_info, VALUE_INFO_TYPE)};
}

/* A ValueInfoProto of a graph. */
static bool add_declaration(model *m, const wire_field *field, size_t in, problem *why) {
    value v = declaration(field->content, in);
    v.is_input = field->number == GRAPH_INPUT;
    if (v.is_input)
        v.input = field->whole;
    return add_value(m, v, why) &&
           (field->number != GRAPH_OUTPUT || add_use(m, (use){.scope = in, .name = v.name, .by_output = true}, why));
}

static bool add_annotation(model *m, view annotation, size_t in, problem *why) {
    wire_field f;
    while (wire_next(&annotation, &f)) {
        const view name = f.number == ANNOTATION_NAME    ? f.content
                          : f.number == ANNOTATION_ENTRY ? wire_string(f.content, ENTRY_VALUE)
                                                         : (view){NULL, 0};
        if (!add_use(m, (use){.scope = in, .name = name}, why))
            return false;
    }
    return true;
}

static bool add_graph_field(model *m, const wire_field *f, size_t in, problem *why) {
    switch (f->number) {
    case GRAPH_NODE: return add_node(m, f, in, why);
    case GRAPH_INPUT:
    case GRAPH_OUTPUT:
    case GRAPH_VALUE_INFO: return add_declaration(m, f, in, why);
    case GRAPH_ANNOTATION: return add_annotation(m, f->content, in, why);
    case GRAPH_INITIALIZER:
        return add_value(m,
                         (value){.scope = in,
                                 .name = wire_string(f->content, TENSOR_NAME),
                                 .is_initializer = true,
                                 .site = NO_SITE,
                                 .field = f->whole,
                                 .content = f->content},
                         why);
    case GRAPH_SPARSE_INITIALIZER: /* as good as computed: nothing here takes it apart */
        return add_value(m,
                         (value){.scope = in,
                                 .name = wire_string(wire_string(f->content, SPARSE_VALUES), TENSOR_NAME),
                                 .is_computed = true,
                                 .site = NO_SITE},
                         why);
    default: return true;
    }
}

static bool add_graph(model *m, view graph, ptrdiff_t parent, problem *why) {
    const size_t in = m->scope_count;
    const scope s = {.parent = parent,
                     .name = wire_string(graph, GRAPH_NAME),
                     .imported = parent != NO_SCOPE ? m->scopes[parent].imported : opsets_read(m->bytes, MODEL_OPSET)};
    if (!append_scope(m, s, why))
        return false;
    note_opset(m, &s.imported);
    wire_field f;
    while (wire_next(&graph, &f))
        if (!add_graph_field(m, &f, in, why))
            return false;
    return true;
}

static bool add_function_field(model *m, const wire_field *f, size_t in, problem *why) {
    switch (f->number) {
    case FUNCTION_NODE: return add_node(m, f, in, why);
    case FUNCTION_INPUT:
        return add_value(m, (value){.scope = in, .name = f->content, .is_input = true, .site = NO_SITE}, why);
    case FUNCTION_VALUE_INFO: /* younger than some onnx.proto, after which check_wire then hasn't looked into it */
        return check_wire(&onnx__value_info_proto__descriptor, f->content, m->file, why) &&
               add_value(m, declaration(f->content, in), why);
    case FUNCTION_OUTPUT: return add_use(m, (use){.scope = in, .name = f->content, .by_output = true}, why);
    default: return true;
    }
}

static bool add_function(model *m, view function, problem *why) {
    const size_t in = m->scope_count;
    const scope s = {.parent = NO_SCOPE,
                     .is_function = true,
                     .name = wire_string(function, FUNCTION_NAME),
                     .imported = opsets_read(function, FUNCTION_OPSET)};
    if (!append_scope(m, s, why))
        return false;
    note_opset(m, &s.imported);
    wire_field f;
    while (wire_next(&function, &f))
        if (!add_function_field(m, &f, in, why))
            return false;
    return true;
}

static void note_function(model *m, view function) {
    const view name = wire_string(function, FUNCTION_NAME), domain = wire_string(function, FUNCTION_DOMAIN);
    const bool dequantizes = view_equals(name, "DequantizeLinear");
    m->constant_is_function |= view_equals(name, "Constant") && is_onnx_domain(domain);
    m->onnx_is_function |= dequantizes && is_onnx_domain(domain);
    m->microsoft_is_function |= dequantizes && view_equals(domain, "com.microsoft");
}

static bool read_head(model *m, problem *why) {
    view message = m->bytes;
    wire_field f;
    while (wire_next(&message, &f))
        switch (f.number) {
        case MODEL_IR_VERSION: m->ir_version = (int64_t)f.value; break;
        case MODEL_GRAPH: m->graph = f.content; break;
        case MODEL_FUNCTION: note_function(m, f.content); break;
        case MODEL_TRAINING: return unsupported(why, m->file, "has training_info, which may change any of its tensors");
        default: break;
        }
    return m->graph.data != NULL ||
           refuse_file(&onnx__model_proto__descriptor, m->bytes, m->file, "has no graph: not an ONNX model", why);
}

/* The graph is the first scope. */
static bool walk(model *m, problem *why) {
    view message = m->bytes;
    wire_field f;
    if (!read_head(m, why) || !add_graph(m, m->graph, NO_SCOPE, why))
        return false;
    while (wire_next(&message, &f))
        if (f.number == MODEL_FUNCTION && !add_function(m, f.content, why))
            return false;
    return true;
}

value *model_next_input(const model *m, view *rest) {
    wire_field f;
    while (wire_next(rest, &f)) {
        value *v = f.number == GRAPH_INPUT ? model_find(m, 0, wire_string(f.content, VALUE_INFO_NAME)) : NULL;
        if (v != NULL)
            return v;
    }
    return NULL;
}

bool model_is_newer(const model *m, problem *note) {
    return m->site_count > 0 && newer_than_known(m->ir_version, m->newest_opset, m->file, note);
}

/* Of what is refused, all is read, to say what it is. */
static bool check_bytes(const model *m, problem *why) {
    const ProtobufCMessageDescriptor *type = &onnx__model_proto__descriptor;
    problem reason;
    return check_wire_in(type, &m->in, &reason) ||
           (window_read(&m->in, m->in.data, m->in.size, why) && refuse_file(type, m->bytes, m->file, reason.text, why));
}

bool model_load(model *m, const char *file, problem *why) {
    *m = (model){.file = file};
    if (!window_open(&m->in, file, why))
        return false;
    m->bytes = (view){m->in.data, m->in.size};
    if (check_bytes(m, why) && walk(m, why)) {
        model_resolve(m);
        return true;
    }
    model_free(m);
    return false;
}

void model_free(model *m) {
    for (size_t i = 0; i < m->value_count; i++) {
        free_tensor(m->values[i].tensor);
        free_problem(&m->values[i].found.fault);
    }
    free(m->scopes);
    free(m->values);
    free(m->sites);
    free(m->uses);
    window_close(&m->in);
    *m = (model){0};
}
