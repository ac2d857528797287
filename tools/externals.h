/* The files beside a model that its tensors have their data in. */
#ifndef TOOLS_EXTERNALS_H
#define TOOLS_EXTERNALS_H

#include "model.h"
#include "rewrite.h"

/* Makes sure that none of these files is in the way of `outputs`, and that the tensors that are left by the (sorted)
 * edits find theirs beside outputs[0], the new model. */
bool externals_check(const model *m, const edit *edits, size_t edit_count, const char *const *outputs,
                     size_t output_count, problem *why);

#endif
