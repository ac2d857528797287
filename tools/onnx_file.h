/* ONNX files as protobuf-c's structs. The files may be hostile. */
#ifndef TOOLS_ONNX_FILE_H
#define TOOLS_ONNX_FILE_H

#include "wire.h"
#include <onnx.pb-c.h>

/* NULL after a failure; freed by onnx__model_proto__free_unpacked(model, NULL). A nonempty graph is not promised. */
Onnx__ModelProto *load_model(const char *file, problem *why);

/* NULL after a failure; freed by onnx__tensor_proto__free_unpacked(tensor, NULL). */
Onnx__TensorProto *load_tensor(const char *file, problem *why);

/* Unpacks a message that check_wire has seen. NULL after a failure; freed by protobuf_c_message_free_unpacked. */
void *unpack_message(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why);

/* protobuf's optional strings: "" where there is none. */
static inline const char *string_or_empty(const char *string) {
    return string != NULL ? string : "";
}

#endif
