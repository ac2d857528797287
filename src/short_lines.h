/* Lines of up to 32 elements, several at a time: a call of a kernel for each would take longer than its elements. So
 * the scratch gets a scale for each element of several lines, as if groups had one element, and serves as often as it
 * can.
 */
#ifndef DQL_SHORT_LINES_H
#define DQL_SHORT_LINES_H

#include "panel.h"

/* What the scratch has a scale for: `count` elements that have the same scales, at the same places in their groups, as
 * the element with this key and those after it. Nothing if count is 0. */
typedef struct expansion {
    size_t key, count;
} expansion;

/* n elements from `from` on, of which some may lie in the scratch from a call before. */
void dql_run_short_lines(const operands *in, const cursor *from, size_t n, char *y, expansion *expanded);

#endif
