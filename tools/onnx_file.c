#include "onnx_file.h"

#include "wire.h"
#include <stdlib.h>

static ProtobufCMessage *load_message(const ProtobufCMessageDescriptor *type, const char *file, problem *why) {
    bytes content;
    ProtobufCMessage *message = NULL;
    if (!read_file(&content, file, why))
        return NULL;
    if (check_wire(type, content, file, why)) {
        message = protobuf_c_message_unpack(type, NULL, content.size, content.data);
        if (message == NULL)
            fail(why, file, "is not a %s of ONNX, or there is no memory for it", type->short_name);
    }
    free(content.data);
    return message;
}

Onnx__ModelProto *load_model(const char *file, problem *why) {
    return (Onnx__ModelProto *)load_message(&onnx__model_proto__descriptor, file, why);
}

Onnx__TensorProto *load_tensor(const char *file, problem *why) {
    return (Onnx__TensorProto *)load_message(&onnx__tensor_proto__descriptor, file, why);
}
