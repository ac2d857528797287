/* Where an element lies and which scale it has. Only this file divides elements into lines and groups, and no more than
 * it must: a division takes as long as some vectors. */
#ifndef DQL_CURSOR_H
#define DQL_CURSOR_H

#include "plan.h"

#include <assert.h>

DQL_INLINE size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

typedef struct cursor {
    size_t element;
    size_t column;          /* its place in its line */
    size_t axis_lines_left; /* lines from its own on to the next index before the axis */
    size_t lines_left;      /* those of them that share its line of scales */
    size_t scale;           /* the number of its scale */
    size_t in_group;        /* its place in its group */
} cursor;

/* Inlined, so that a cursor stays in registers. */
DQL_INLINE cursor cursor_at(const dql_plan_data *plan, size_t element) {
    assert(element < plan->count);
    cursor at = {.element = element, .column = element, .axis_lines_left = plan->axis_lines};
    size_t axis_line = 0;
    if (element >= plan->line_length) {
        const size_t line = element / plan->line_length;
        at.column = element % plan->line_length;
        axis_line = line % plan->axis_lines;
        at.axis_lines_left -= axis_line;
        at.scale = (line / plan->axis_lines * plan->blocks + axis_line / plan->block_lines) * plan->line_scales;
    }
    at.lines_left = min(at.axis_lines_left, plan->block_lines - axis_line % plan->block_lines);
    at.in_group = at.column;
    if (at.column >= plan->group_length) {
        at.scale += at.column / plan->group_length;
        at.in_group = at.column % plan->group_length;
    }
    return at;
}

/* How many elements, from this one on, lie in lines that share their scales with its line. */
DQL_INLINE size_t elements_left_of_scales(const dql_plan_data *plan, const cursor *at) {
    return at->lines_left * plan->line_length - at->column;
}

/* The first element that uses the next line of scales. */
DQL_INLINE cursor cursor_next_scales(const dql_plan_data *plan, const cursor *at) {
    cursor next = {.element = at->element + elements_left_of_scales(plan, at),
                   .scale = at->scale + plan->line_scales - at->column / plan->group_length};
    next.axis_lines_left =
        at->axis_lines_left > at->lines_left ? at->axis_lines_left - at->lines_left : plan->axis_lines;
    next.lines_left = min(next.axis_lines_left, plan->block_lines);
    return next;
}

/* A distance in elements, which is divided once and then added more than once. */
typedef struct cursor_delta {
    size_t elements, lines, columns, groups, in_group;
} cursor_delta;

DQL_INLINE cursor_delta cursor_delta_of(const dql_plan_data *plan, size_t elements) {
    cursor_delta delta = {.elements = elements, .columns = elements};
    if (elements >= plan->line_length) {
        delta.lines = elements / plan->line_length;
        delta.columns = elements % plan->line_length;
    }
    delta.in_group = delta.columns;
    if (delta.columns >= plan->group_length) {
        delta.groups = delta.columns / plan->group_length;
        delta.in_group = delta.columns % plan->group_length;
    }
    return delta;
}

/* Divides only where another line of scales begins. The sum must lie in the tensor. */
DQL_INLINE void cursor_add(const dql_plan_data *plan, cursor *at, const cursor_delta *delta) {
    if (delta->lines >= at->lines_left || delta->columns >= plan->line_length - at->column) {
        *at = cursor_at(plan, at->element + delta->elements);
        return;
    }
    at->element += delta->elements;
    at->column += delta->columns;
    at->axis_lines_left -= delta->lines;
    at->lines_left -= delta->lines;
    at->scale += delta->groups;
    at->in_group += delta->in_group;
    if (at->in_group >= plan->group_length) {
        at->in_group -= plan->group_length;
        at->scale++;
    }
}

/* How many groups hold n elements that begin with a group, or that lie in one. */
DQL_INLINE size_t groups_of(const dql_plan_data *plan, size_t n) {
    return n <= plan->group_length ? 1 : (n + plan->group_length - 1) / plan->group_length;
}

#endif
