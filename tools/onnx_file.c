#include "onnx_file.h"

#include "file.h"
#include <stdlib.h>

void *unpack_message(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why) {
    ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, content.size, content.data);
    if (message == NULL)
        fail(why, file, "is not a %s of ONNX, or there is no memory for it", type->short_name);
    return message;
}

static void *load_message(const ProtobufCMessageDescriptor *type, const char *file, problem *why) {
    bytes content;
    void *message = NULL;
    if (!read_file(&content, file, why))
        return NULL;
    const view all = {content.data, content.size};
    if (check_wire(type, all, file, why))
        message = unpack_message(type, all, file, why);
    free(content.data);
    return message;
}

Onnx__ModelProto *load_model(const char *file, problem *why) {
    return load_message(&onnx__model_proto__descriptor, file, why);
}

Onnx__TensorProto *load_tensor(const char *file, problem *why) {
    return load_message(&onnx__tensor_proto__descriptor, file, why);
}
