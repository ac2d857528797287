/* All DequantizeLinear nodes of a model, and what becomes of each: what `dql inspect` says and `dql expand` does. */
#ifndef TOOLS_EXPANSIONS_H
#define TOOLS_EXPANSIONS_H

#include "expansion.h"

typedef struct {
    expansion *of; /* [the model's site_count] */
    size_t count[FATES];
} expansions;

/* False for want of memory only, or where it would take too much of it for the file's size. */
bool expansions_plan(expansions *all, const model *m, problem *why);
void expansions_free(expansions *all, const model *m);

/* Decodes the operands of an EXPANDED one, and opens x; a scale that is the y of another one is computed first. Each is
 * decoded once (for what is written, and for a scale), and released once: y stays in memory while somebody still needs
 * it. */
bool expansion_decode(tensor decoded[OPERANDS], expansion *e, problem *why);
void expansion_release(tensor decoded[OPERANDS], expansion *e);

#endif
