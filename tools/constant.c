#include "constant.h"

#include <stdlib.h>
#include <string.h>

enum { NODE_ATTRIBUTE = 5, ATTRIBUTE_NAME = 1, ATTRIBUTE_TENSOR = 5, TENSOR_RAW_DATA = 9 };

/* From this version on an initializer that is also an input of the model's graph is what callers may leave out. */
enum { IR_VERSION_WITH_DEFAULTS = 4 };

const char *why_not_constant(const model *m, const value *v) {
    if (v == NULL)
        return "is defined nowhere";
    if (v->is_ambiguous)
        return "is defined twice";
    if (v->is_input && !v->is_initializer)
        return "is an input";
    if (v->is_input && (m->ir_version >= IR_VERSION_WITH_DEFAULTS || v->scope != 0))
        return "is an input, and its initializer only a default";
    return v->is_computed ? "is computed" : NULL;
}

static Onnx__TensorProto *no_memory(const model *m, problem *why) {
    fail(why, m->file, "no memory");
    return NULL;
}

/* All of a message but one of its fields, which is set apart. */
static bytes without_field(view message, unsigned number, view *apart) {
    bytes rest = {malloc(message.size + 1), 0};
    wire_field f;
    *apart = (view){NULL, 0};
    while (rest.data != NULL && wire_next(&message, &f)) {
        if (f.number == number) {
            *apart = f.content;
        } else {
            memcpy(rest.data + rest.size, f.whole.data, f.whole.size);
            rest.size += f.whole.size;
        }
    }
    return rest;
}

/* raw_data is most of a model: it stays where it is. */
static Onnx__TensorProto *unpack_tensor(const model *m, view content, problem *why) {
    view raw;
    const bytes rest = without_field(content, TENSOR_RAW_DATA, &raw);
    if (rest.data == NULL)
        return no_memory(m, why);
    Onnx__TensorProto *t = unpack_message(&onnx__tensor_proto__descriptor, (view){rest.data, rest.size}, m->file, why);
    free(rest.data);
    if (t != NULL) {
        t->has_raw_data = raw.data != NULL;
        t->raw_data = (ProtobufCBinaryData){raw.size, (uint8_t *)(uintptr_t)raw.data};
    }
    return t;
}

/* value_float and value_floats. */
static Onnx__TensorProto *make_floats(const model *m, const Onnx__AttributeProto *a, problem *why) {
    const bool list = strcmp(a->name, "value_floats") == 0;
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
    if (view_equals(name, "value") && tensor_content.size > 0)
        return unpack_tensor(m, tensor_content, why);
    if (!view_equals(name, "value_float") && !view_equals(name, "value_floats")) {
        unsupported(why, m->file, "Constant nodes with the attribute \"%.*s\"",
                    (int)(name.size < 100 ? name.size : 100), (const char *)name.data);
        return NULL;
    }
    Onnx__AttributeProto *a = unpack_message(&onnx__attribute_proto__descriptor, content, m->file, why);
    if (a == NULL)
        return NULL;
    Onnx__TensorProto *t = NULL;
    if (string_or_empty(a->ref_attr_name)[0] != '\0')
        unsupported(why, m->file, "a Constant that is the function's attribute \"%.100s\"", a->ref_attr_name);
    else
        t = make_floats(m, a, why);
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
        v->tensor = v->is_initializer ? unpack_tensor(m, v->content, why) : read_constant_node(m, v->content, why);
    if (v->tensor == NULL)
        return false;
    *t = (tensor_source){v->tensor, m->file};
    return v->tensor->data_type != 0 ||
           fail(why, m->file, "tensor \"%.100s\" has no type", string_or_empty(v->tensor->name));
}
