/* The values of a model that are constant, and their tensors. */
#ifndef TOOLS_CONSTANT_H
#define TOOLS_CONSTANT_H

#include "model.h"

/* What makes a value, NULL if a name has none, not a constant, as in "is an input"; NULL if it is one. */
const char *why_not_constant(const model *m, const value *v);

/* The tensor of a constant. It is the model's, and its raw_data the file's. */
bool constant_tensor(tensor_source *t, const model *m, value *v, problem *why);

#endif
