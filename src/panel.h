/* The way from a rect of elements to a kernel: what fits one panel is run as one, here; walk.h cuts what does not. */
#ifndef DQL_PANEL_H
#define DQL_PANEL_H

#include "scales.h"
#include "stream.h"

/* Rows of elements at equal distances, which begin at the same place in their groups and have the same scales, or
 * scales `scale_stride` apart. No row goes on in another line. Rows 0 are none: the elements are not such rows. */
typedef struct rect {
    size_t length, rows; /* elements, rows */
    size_t x_stride, y_stride, scale_stride;
} rect;

/* The first of the next n elements: those of a line, or whole lines. None if they go on in another short line. */
DQL_INLINE rect rect_of_range(const dql_plan_data *plan, const cursor *at, size_t n) {
    const size_t line_left = plan->line_length - at->column;
    rect r = {.length = min(n, line_left), .rows = 1, .x_stride = n, .y_stride = n};
    if (n <= line_left)
        return r;
    r.x_stride = r.y_stride = plan->line_length;
    if (plan->short_lines) {
        r.rows = 0;
    } else if (at->column == 0) {
        r.rows = n / plan->line_length;
        if (plan->block_lines == 1)
            r.scale_stride = plan->line_scales * plan->blocks;
        else
            r.rows = min(r.rows, at->lines_left);
    }
    return r;
}

/* The first rows of a panel of the caller's, `row` apart. None if the first one goes on in another line. */
DQL_INLINE rect rect_of_rows(const dql_plan_data *plan, const cursor *at, rect r, const cursor_delta *row) {
    const size_t line_left = plan->line_length - at->column, group_left = plan->group_length - at->in_group;
    if (r.length > line_left)
        r.rows = 0;
    else if (row->columns == 0 && plan->block_lines == 1) /* the same columns of lines that have scales of their own */
        r.scale_stride = row->lines * plan->line_scales * plan->blocks;
    else if (row->columns == 0) /* the same columns of lines that share their scales */
        r.rows = rows_within(r.rows, row->lines, at->lines_left - 1);
    else if (row->lines > 0)
        r.rows = 1;
    else if (row->in_group == 0) { /* other columns of the same line, whole groups apart */
        r.scale_stride = row->groups;
        r.rows = rows_within(r.rows, row->columns, line_left - r.length);
    } else if (r.length <= group_left) /* parts of one group */
        r.rows = rows_within(r.rows, row->columns, min(line_left, group_left) - r.length);
    else
        r.rows = 1;
    return r;
}

/* How many of n elements of a row, the first at a place in its group, a panel can have: the rest of that group, or as
 * many groups as there are words in the scratch. */
DQL_INLINE size_t columns_at_once(const dql_plan_data *plan, size_t in_group, size_t n) {
    if (in_group)
        return min(n, plan->group_length - in_group);
    return n / SCRATCH_WORDS >= plan->group_length ? SCRATCH_WORDS * plan->group_length : n;
}

/* How many rows of such columns. */
DQL_INLINE size_t rows_at_once(operands in, rect r) {
    if (!in.zero && scales_are_ready(in))
        return r.rows;
    return rows_in_scratch((scale_rows){.n = groups_of(in.plan, r.length), .rows = r.rows, .stride = r.scale_stride});
}

DQL_INLINE bool any_zero(const dql_panel *panel, size_t groups) {
    int32_t bits = 0;
    for (size_t k = 0; k < (panel->rows - 1) * panel->zero_stride + groups; k++)
        bits |= panel->zero[k];
    return bits != 0;
}

/* Computes a panel that has its scales, `groups` of them a row. */
DQL_INLINE void run_panel(operands in, const dql_panel *panel, size_t groups) {
    const bool exact = in.zero && in.plan->exact_kernel && any_zero(panel, groups);
    dql_kernel *const kernel = exact ? in.plan->exact_kernel : in.plan->kernel;
    if (in.streams)
        dql_stream_panel(in.plan, kernel, panel);
    else
        kernel(panel);
}

/* A panel without scales, from element i on. */
DQL_INLINE dql_panel panel_of(operands in, size_t i, rect r, void *y) {
    assert(r.length && r.rows);
    return (dql_panel){.x = in.x,
                       .y = y,
                       .i = i,
                       .count = r.length,
                       .rows = r.rows,
                       .group_length = in.plan->group_length,
                       .x_stride = r.x_stride,
                       .y_stride = r.y_stride,
                       .zero = dql_no_zero};
}

/* A rect that is one panel, from element i on, whose scale is the one of this number. */
DQL_INLINE void run_rect(operands in, size_t i, size_t scale, rect r, void *y) {
    const size_t groups = groups_of(in.plan, r.length);
    dql_panel panel = panel_of(in, i, r, y);
    prepare_scales(in, (scale_rows){scale, groups, r.rows, r.scale_stride}, &panel);
    run_panel(in, &panel, groups);
}

/* Whether a rect is one panel. */
DQL_INLINE bool is_one_panel(operands in, const cursor *at, rect r) {
    return columns_at_once(in.plan, at->in_group, r.length) == r.length && rows_at_once(in, r) == r.rows;
}

#endif
