/* Calls: arguments are checked in the header's order, then one panel is run, or several. */
#include "dql/dql.h"
#include "panel.h"
#include "walk.h"
#include "zero_check.h"

static dql_status no_plan(const dql_plan *plan) {
    return plan ? DQL_ERROR_PLAN : DQL_ERROR_NULL;
}

/* A call that streams is walked, since a walk ends with a fence. So is one of lines that have scales of their own:
 * without them the way to one panel, which short calls feel, takes 31 instructions less of 441 (64 elements of int4,
 * gcc 12). */
DQL_INLINE dql_status run_range(operands in, size_t begin, size_t end, void *y) {
    const dql_plan_data *const plan = in.plan;
    if (begin > end || end > plan->count)
        return DQL_ERROR_RANGE;
    if (begin == end)
        return DQL_OK;
    if (!in.x || !in.scale || !y)
        return DQL_ERROR_NULL;
    if (in.zero && plan->zero_bits) {
        if (!dql_zeros_of_range_are_0(plan, in.zero, begin, end))
            return DQL_ERROR_ZERO_POINT;
        in.zero = NULL;
    }
    const size_t n = end - begin;
    scratch room;
    in.scratch = &room;
    in.streams = n * plan->y_size > plan->stream_above;
    const cursor at = cursor_at(plan, begin);
    const rect r = rect_of_range(plan, &at, n);
    if (!in.streams && !r.scale_stride && r.length * r.rows == n && is_one_panel(in, &at, r))
        run_rect(in, at.element, at.scale, r, y);
    else {
        const operands stored = in;
        dql_walk_range(&stored, begin, n, y);
    }
    return DQL_OK;
}

dql_status dql_run_range(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                         size_t end, void *y_begin) {
    const operands in = {dql_plan_get(plan), x, scale, zero, NULL, false};
    return in.plan ? run_range(in, begin, end, y_begin) : no_plan(plan);
}

dql_status dql_run(const dql_plan *plan, const void *x, const void *scale, const void *zero, void *y) {
    const operands in = {dql_plan_get(plan), x, scale, zero, NULL, false};
    return in.plan ? run_range(in, 0, in.plan->count, y) : no_plan(plan);
}

/* Whether `rows` rows of `length` elements, `stride` apart, end at `end` or before; rows and length are not 0. */
static bool rows_fit(size_t length, size_t rows, size_t stride, size_t end) {
    size_t last;
    return length <= end && !__builtin_mul_overflow(rows - 1, stride, &last) && last <= end - length;
}

/* More than one row, or one that does not fit. */
DQL_INLINE dql_status run_rows(operands in, size_t begin, rect r, void *y) {
    const dql_plan_data *const plan = in.plan;
    if (begin > plan->count)
        return DQL_ERROR_RANGE;
    if (r.length == 0 || r.rows == 0)
        return DQL_OK;
    if (!rows_fit(r.length, r.rows, r.x_stride, plan->count - begin) ||
        !rows_fit(r.length, r.rows, r.y_stride, SIZE_MAX / plan->y_size) || (r.rows > 1 && r.y_stride < r.length))
        return DQL_ERROR_RANGE;
    if (!in.x || !in.scale || !y)
        return DQL_ERROR_NULL;
    if (in.zero && plan->zero_bits) {
        if (!dql_zeros_of_rows_are_0(plan, in.zero, begin, r.length, r.rows, r.x_stride))
            return DQL_ERROR_ZERO_POINT;
        in.zero = NULL;
    }
    scratch room;
    in.scratch = &room;
    in.streams = r.length * r.rows * plan->y_size > plan->stream_above;
    const cursor at = cursor_at(plan, begin);
    const cursor_delta row = cursor_delta_of(plan, r.x_stride);
    const rect first = rect_of_rows(plan, &at, r, &row);
    if (!in.streams && first.rows == r.rows && is_one_panel(in, &at, first))
        run_rect(in, at.element, at.scale, first, y);
    else {
        const operands stored = in;
        const rect stored_rows = r;
        dql_walk_rows(&stored, begin, &stored_rows, y);
    }
    return DQL_OK;
}

dql_status dql_run_rows(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                        size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    const operands in = {dql_plan_get(plan), x, scale, zero, NULL, false};
    const rect r = {.length = length, .rows = rows, .x_stride = x_stride, .y_stride = y_stride};
    /* One row is a range, for which there is a shorter way. */
    if (in.plan && rows == 1 && begin <= in.plan->count && length <= in.plan->count - begin)
        return dql_run_range(plan, x, scale, zero, begin, begin + length, y);
    return in.plan ? run_rows(in, begin, r, y) : no_plan(plan);
}

dql_status dql_dequantize(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y) {
    dql_plan plan;
    const dql_status status = dql_plan_init(&plan, spec);
    return status ? status : dql_run(&plan, x, scale, zero, y);
}
