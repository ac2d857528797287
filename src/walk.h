/* Cuts calls that are not one panel into panels. */
#ifndef DQL_WALK_H
#define DQL_WALK_H

#include "panel.h"

/* n elements from `begin` on; n is not 0. */
void dql_walk_range(const operands *in, size_t begin, size_t n, void *y);

/* The rows of a panel of the caller's; lengths and rows are not 0. */
void dql_walk_rows(const operands *in, size_t begin, const rect *r, void *y);

#endif
