#include "onnx_file.h"

#include "file.h"
#include <stdlib.h>
#include <string.h>

void *unpack_message(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why) {
    ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, content.size, content.data);
    if (message == NULL)
        fail(why, file, "is not a %s of ONNX, or there is no memory for it", type->short_name);
    return message;
}

/* ---- what a file is instead ---- */

enum { MODEL_GRAPH = 7, TENSOR_DATA_TYPE = 2, TENSOR_RAW_DATA = 9, TENSOR_EXTERNAL_DATA = 13 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

static bool is_text(view content) {
    enum { LOOKED_AT = 64 };
    for (size_t i = 0; i < content.size && i < LOOKED_AT; i++) {
        const uint8_t c = content.data[i];
        if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c > '~')
            return false;
    }
    return true;
}

static bool is_tensor(view content) {
    problem ignored;
    uint64_t data_type;
    return check_wire(&onnx__tensor_proto__descriptor, content, "", &ignored) &&
           wire_number(&data_type, content, TENSOR_DATA_TYPE);
}

static bool is_model(view content) {
    problem ignored;
    return check_wire(&onnx__model_proto__descriptor, content, "", &ignored) &&
           wire_string(content, MODEL_GRAPH).size > 0;
}

bool refuse_file(const ProtobufCMessageDescriptor *type, view content, const char *file, const char *reason,
                 problem *why) {
    const bool wants_model = type == &onnx__model_proto__descriptor;
    if (is_text(content))
        return fail(why, file, "is a text, not an ONNX file");
    if (wants_model && is_tensor(content))
        return fail(why, file, "is a TensorProto, not a model");
    if (!wants_model && is_model(content))
        return fail(why, file, "is a model, not a TensorProto");
    return fail(why, file, "%s", reason);
}

bool check_file(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why) {
    problem reason;
    return check_wire(type, content, file, &reason) || refuse_file(type, content, file, reason.text, why);
}

/* ---- tensors ---- */

static bool has_nul(view v) {
    return v.size > 0 && memchr(v.data, 0, v.size) != NULL;
}

/* These strings are used as C strings. */
static bool check_places(view tensor, const char *file, problem *why) {
    wire_field f;
    while (wire_next(&tensor, &f))
        if (f.number == TENSOR_EXTERNAL_DATA &&
            (has_nul(wire_string(f.content, ENTRY_KEY)) || has_nul(wire_string(f.content, ENTRY_VALUE))))
            return fail(why, file, "external_data of a tensor has a NUL in a string");
    return true;
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

Onnx__TensorProto *unpack_tensor(view content, const char *file, problem *why) {
    view raw;
    if (!check_places(content, file, why))
        return NULL;
    const bytes rest = without_field(content, TENSOR_RAW_DATA, &raw);
    if (rest.data == NULL) {
        fail(why, file, "no memory");
        return NULL;
    }
    Onnx__TensorProto *t = unpack_message(&onnx__tensor_proto__descriptor, (view){rest.data, rest.size}, file, why);
    free(rest.data);
    if (t != NULL) {
        t->has_raw_data = raw.data != NULL;
        t->raw_data = (ProtobufCBinaryData){raw.size, (uint8_t *)(uintptr_t)raw.data};
    }
    return t;
}

void free_tensor(Onnx__TensorProto *t) {
    if (t == NULL)
        return;
    t->raw_data = (ProtobufCBinaryData){0, NULL};
    onnx__tensor_proto__free_unpacked(t, NULL);
}

Onnx__TensorProto *load_tensor(const char *file, problem *why) {
    const ProtobufCMessageDescriptor *type = &onnx__tensor_proto__descriptor;
    bytes content;
    problem reason;
    uint64_t data_type;
    Onnx__TensorProto *t = NULL;
    if (!read_file(&content, file, why))
        return NULL;
    const view all = {content.data, content.size};
    if (check_file(type, all, file, why) && check_places(all, file, why)) {
        t = unpack_message(type, all, file, &reason);
        if (t == NULL)
            refuse_file(type, all, file, reason.text, why);
        else if (!wire_number(&data_type, all, TENSOR_DATA_TYPE)) {
            refuse_file(type, all, file, "has no type: no TensorProto, or an incomplete one", why);
            onnx__tensor_proto__free_unpacked(t, NULL);
            t = NULL;
        }
    }
    free(content.data);
    return t;
}
