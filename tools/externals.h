/* The files that tensors have their data in, which lie beside the tensors' own file. */
#ifndef TOOLS_EXTERNALS_H
#define TOOLS_EXTERNALS_H

#include "model.h"
#include "rewrite.h"

/* Adds the files of a tensor in `owner` that are there to those that are read. Of several locations some readers take
 * the first one, and some the last: all count. */
bool externals_add(file_set *read, const Onnx__TensorProto *proto, const char *owner, problem *why);

/* The same for all tensors of a model. Makes sure that those that are left by the (sorted) edits find theirs from
 * `output`, the new model, too, if there is one. */
bool externals_check(file_set *read, const model *m, const edit *edits, size_t edit_count, const char *output,
                     problem *why);

#endif
