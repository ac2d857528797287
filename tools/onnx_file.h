/* ONNX files as protobuf-c's structs. The files may be hostile. */
#ifndef TOOLS_ONNX_FILE_H
#define TOOLS_ONNX_FILE_H

#include "wire.h"
#include <onnx.pb-c.h>

/* check_wire of a whole file, which is said to be of a type; a file of another kind is refused as what it is. */
bool check_file(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why);

/* Says what a file is that is not of its type: another one, a text, or else what `reason` says. Returns false. */
bool refuse_file(const ProtobufCMessageDescriptor *type, view content, const char *file, const char *reason,
                 problem *why);

/* NULL after a failure; freed by onnx__tensor_proto__free_unpacked(tensor, NULL). */
Onnx__TensorProto *load_tensor(const char *file, problem *why);

/* Unpacks a message that check_wire has seen. NULL after a failure; freed by protobuf_c_message_free_unpacked. */
void *unpack_message(const ProtobufCMessageDescriptor *type, view content, const char *file, problem *why);

/* The same of a TensorProto. raw_data, which is most of it, stays where it is: freed by free_tensor. Refuses names of
 * external data that are no C strings. */
Onnx__TensorProto *unpack_tensor(view content, const char *file, problem *why);
void free_tensor(Onnx__TensorProto *t);

/* protobuf's optional strings: "" where there is none. */
static inline const char *string_or_empty(const char *string) {
    return string != NULL ? string : "";
}

#endif
