#include "constant.h"

#include <stdlib.h>
#include <string.h>

enum { NODE_ATTRIBUTE = 5, ATTRIBUTE_NAME = 1, ATTRIBUTE_TENSOR = 5, ATTRIBUTE_REFERENCE = 21 };

/* From this version on an initializer that is also an input of the model's graph is what callers may leave out. */
enum { IR_VERSION_WITH_DEFAULTS = 4 };

static bool is_constant_input(const model *m, const value *v) {
    return v->scope == 0 && (m->constant_inputs || m->ir_version < IR_VERSION_WITH_DEFAULTS);
}

const char *why_not_constant(const model *m, const value *v) {
    if (v == NULL)
        return "is defined nowhere";
    if (v->is_ambiguous)
        return "is defined twice";
    if (v->is_input && !v->is_initializer)
        return "is an input";
    if (v->is_input && !is_constant_input(m, v))
        return "is an input, and its initializer only a default";
    return v->is_computed ? "is computed" : NULL;
}

static Onnx__TensorProto *no_memory(const model *m, problem *why) {
    fail(why, m->file, "no memory");
    return NULL;
}

/* value_float and value_floats. */
static Onnx__TensorProto *make_floats(const model *m, const Onnx__AttributeProto *a, bool list, problem *why) {
    const size_t count = list ? a->n_floats : 1;
    Onnx__TensorProto *t = malloc(sizeof *t);
    if (t == NULL)
        return no_memory(m, why);
    onnx__tensor_proto__init(t);
    t->has_data_type = true;
    t->data_type = DQL_FLOAT32;
    t->float_data = malloc((count > 0 ? count : 1) * sizeof *t->float_data);
    t->dims = malloc(sizeof *t->dims);
    if (t->float_data == NULL || t->dims == NULL) {
        free(t->float_data);
        free(t->dims);
        free(t);
        return no_memory(m, why);
    }
    t->n_float_data = count;
    if (count > 0)
        memcpy(t->float_data, list ? a->floats : &a->f, count * sizeof *t->float_data);
    t->n_dims = list;
    t->dims[0] = (int64_t)count;
    return t;
}

static Onnx__TensorProto *read_attribute(const model *m, view content, problem *why) {
    const view name = wire_string(content, ATTRIBUTE_NAME), tensor_content = wire_string(content, ATTRIBUTE_TENSOR);
    const view reference = wire_string(content, ATTRIBUTE_REFERENCE);
    if (reference.size > 0) {
        unsupported(why, m->file, "a Constant node of the function's attribute \"%s\"", quoted(reference).text);
        return NULL;
    }
    if (view_equals(name, "value") && tensor_content.size > 0)
        return unpack_tensor(tensor_content, m->file, why);
    if (!view_equals(name, "value_float") && !view_equals(name, "value_floats")) {
        unsupported(why, m->file, "a Constant node with the attribute \"%s\"", quoted(name).text);
        return NULL;
    }
    Onnx__AttributeProto *a = unpack_message(&onnx__attribute_proto__descriptor, content, m->file, why);
    if (a == NULL)
        return NULL;
    Onnx__TensorProto *t = make_floats(m, a, view_equals(name, "value_floats"), why);
    onnx__attribute_proto__free_unpacked(a, NULL);
    return t;
}

static Onnx__TensorProto *read_constant_node(const model *m, view node, problem *why) {
    wire_field f;
    while (wire_next(&node, &f))
        if (f.number == NODE_ATTRIBUTE)
            return read_attribute(m, f.content, why);
    fail(why, m->file, "a Constant node without a value");
    return NULL;
}

bool constant_tensor(tensor_source *t, const model *m, value *v, problem *why) {
    if (v->tensor == NULL)
        v->tensor =
            v->is_initializer ? unpack_tensor(v->content, m->file, why) : read_constant_node(m, v->content, why);
    if (v->tensor == NULL)
        return false;
    *t = (tensor_source){v->tensor, m->file, &v->found, &m->in};
    return true;
}
