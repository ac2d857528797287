/* Elements -> rects -> chunks of columns of some rows -> panels. */
#include "walk.h"

#include "short_lines.h"

#include <stdatomic.h>

/* Rows of all columns, from element i and its scale on, chunk by chunk. A chunk has as many columns, and a panel as
 * many rows of it, as the scratch has scales for. */
DQL_INLINE void walk_columns(operands in, size_t i, size_t scale, size_t in_group, rect r, char *y) {
    const dql_plan_data *const plan = in.plan;
    const size_t rows = r.rows, y_size = plan->y_size;
    for (size_t left = r.length; left; left -= r.length, in_group = 0) {
        r.length = columns_at_once(plan, in_group, left);
        for (size_t row = 0; row < rows; row += r.rows) {
            r.rows = rows - row;
            r.rows = rows_at_once(in, r);
            run_rect(in, i + row * r.x_stride, scale + row * r.scale_stride, r, y + row * r.y_stride * y_size);
        }
        i += r.length;
        y += r.length * y_size;
        scale += groups_of(plan, r.length);
    }
}

/* A rect that is several panels. If it has several chunks of columns, few rows go through all of them at a time: rows
 * are far apart in memory, and each is another page. Scales that they share are widened again for the next ones: to
 * remember what the scratch holds saved less than the noise. */
static void cut_rect(const operands *in, const cursor *at, const rect *r, char *y) {
    enum { ROWS_PER_PASS = 32 };
    const bool one_chunk = columns_at_once(in->plan, at->in_group, r->length) == r->length;
    const size_t most = one_chunk ? r->rows : ROWS_PER_PASS;
    size_t i = at->element, scale = at->scale;
    rect part = *r;
    for (size_t left = r->rows; left; left -= part.rows) {
        part.rows = min(left, most);
        walk_columns(*in, i, scale, at->in_group, part, y);
        i += part.rows * r->x_stride;
        scale += part.rows * r->scale_stride;
        y += part.rows * r->y_stride * in->plan->y_size;
    }
}

DQL_INLINE void walk_rect(const operands *in, const cursor *at, rect r, char *y) {
    if (is_one_panel(*in, at, r))
        run_rect(*in, at->element, at->scale, r, y);
    else {
        const rect stored = r;
        cut_rect(in, at, &stored, y);
    }
}

/* Cursors are not copied: a wide load of what was stored in parts would wait for it. What an earlier call has
 * expanded is not overwritten: lines are short then, and of elements that go on in another one no rect is made. */
static void walk(const operands *in, const cursor *at, size_t n, char *y, expansion *expanded) {
    const dql_plan_data *const plan = in->plan;
    for (cursor next;; at = &next) {
        const rect r = rect_of_range(plan, at, n);
        if (!r.rows) {
            dql_run_short_lines(in, at, n, y, expanded);
            return;
        }
        assert(!expanded->count);
        walk_rect(in, at, r, y);
        const size_t done = r.length * r.rows;
        n -= done;
        if (!n)
            return;
        y += done * plan->y_size;
        next = done == elements_left_of_scales(plan, at) ? cursor_next_scales(plan, at)
                                                         : cursor_at(plan, at->element + done);
    }
}

/* Streamed stores are seen by whoever sees the call return: on x86 this fence is an instruction that waits for them. */
static void finish(const operands *in) {
    if (in->streams)
        atomic_thread_fence(memory_order_seq_cst);
}

void dql_walk_range(const operands *in, size_t begin, size_t n, void *y) {
    const cursor at = cursor_at(in->plan, begin);
    expansion expanded = {0};
    walk(in, &at, n, y, &expanded);
    finish(in);
}

void dql_walk_rows(const operands *in, size_t begin, const rect *r, void *y) {
    const dql_plan_data *const plan = in->plan;
    const cursor_delta row = cursor_delta_of(plan, r->x_stride);
    cursor at = cursor_at(plan, begin);
    expansion expanded = {0};
    rect rest = *r;
    for (char *to = y;;) {
        const rect part = rect_of_rows(plan, &at, rest, &row);
        const size_t rows = part.rows ? part.rows : 1;
        if (part.rows) {
            walk_rect(in, &at, part, to);
            expanded = (expansion){0};
        } else
            walk(in, &at, rest.length, to, &expanded);
        rest.rows -= rows;
        if (!rest.rows)
            break;
        to += rows * rest.y_stride * plan->y_size;
        if (rows > 1)
            at = cursor_at(plan, at.element + rows * rest.x_stride);
        else
            cursor_add(plan, &at, &row);
    }
    finish(in);
}
