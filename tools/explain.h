/* The numbers behind a dql_status, and other words about a dql_spec. */
#ifndef TOOLS_EXPLAIN_H
#define TOOLS_EXPLAIN_H

#include "problem.h"
#include <dql/dql.h>

/* Says why dql_plan_init refused a spec, in the words and numbers of the node; always returns false. What dql does not
 * do yet, rather than what is wrong, is unsupported. */
bool explain_refusal(const dql_spec *spec, dql_status status, const char *file, problem *why);

/* The same of a scale that has the rank of a blocked one, without a block_size. `has_shape`: x's is known. */
bool explain_missing_block_size(const dql_spec *spec, bool has_shape, const char *file, problem *why);

/* "per tensor", "per axis, axis 1", ... of a spec; what its scale is meant to be if it is refused. */
typedef struct {
    char text[96];
} granularity_label;
granularity_label granularity_of(const dql_spec *s);

#endif
