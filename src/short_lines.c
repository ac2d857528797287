/* Scales and zero points, an element each, and the panels that they serve. */
#include "short_lines.h"

#include <string.h>

enum {
    MAX_EXPANDED = 256, /* elements that are expanded at once, unless they share a line of scales */
    /* The words of their lines of scales: of whole lines no more than of elements, and of two lines in part. */
    LINE_WORDS = MAX_EXPANDED + 2 * DQL_SHORT_LINE + DQL_WIDEN_SLACK,
};

/* to[k] = from[(in_group + k) / group_length] for k < n. */
static void spread(int32_t *to, const int32_t *from, size_t n, size_t group_length, size_t in_group) {
    if (group_length == 1) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (size_t k = 0; k < n; from++, in_group = 0)
        for (const size_t end = min(n, k + group_length - in_group); k < end; k++)
            to[k] = *from;
}

/* to[k] = to[k - period] for period <= k < n. */
static void repeat(int32_t *to, size_t period, size_t n) {
    for (size_t have = period; have < n; have *= 2)
        memcpy(to + have, to, min(have, n - have) * sizeof *to);
}

/* A word for each of n elements from `at` on. `from` has those of the lines of scales from the one of `at` on. */
static void spread_lines(const dql_plan_data *plan, int32_t *to, const int32_t *from, cursor at, size_t n) {
    for (size_t k = 0; k < n; from += plan->line_scales, at = cursor_next_scales(plan, &at)) {
        const size_t end = k + min(n - k, elements_left_of_scales(plan, &at));
        if (at.column) { /* the rest of a line */
            const size_t rest = min(end - k, plan->line_length - at.column);
            spread(to + k, from + at.column / plan->group_length, rest, plan->group_length, at.in_group);
            k += rest;
        }
        if (k < end) { /* a line from its start, then copies of it */
            spread(to + k, from, min(end - k, plan->line_length), plan->group_length, 0);
            repeat(to + k, plan->line_length, end - k);
            k = end;
        }
    }
}

/* How many scales n elements from `at` on have, from the first one of their first line of scales on. */
static size_t scales_of_lines(const dql_plan_data *plan, cursor at, size_t n) {
    size_t scales = 0;
    for (size_t length; n > (length = elements_left_of_scales(plan, &at)); n -= length) {
        scales += plan->line_scales;
        at = cursor_next_scales(plan, &at);
    }
    return scales + (min(at.column + n, plan->line_length) - 1) / plan->group_length + 1;
}

/* Only elements with the same scale and the same place in their group have the same key. Only elements of the first
 * line of scales count: what follows them depends on how many lines were left that share it. */
static void expand(const operands *in, const cursor *at, size_t n, expansion *expanded) {
    const dql_plan_data *const plan = in->plan;
    const size_t key = at->scale * plan->group_length + at->in_group, alike = elements_left_of_scales(plan, at);
    if (expanded->key == key && expanded->count >= n && alike >= n)
        return;
    _Alignas(64) int32_t line_words[LINE_WORDS];
    const size_t first = at->scale - at->column / plan->group_length, scales = scales_of_lines(plan, *at, n);
    assert(n <= SCRATCH_WORDS && scales + DQL_WIDEN_SLACK <= LINE_WORDS);
    plan->widen_scale(in->scale, first, line_words, scales);
    spread_lines(plan, in->scratch->scale.i32, line_words, *at, n);
    if (in->zero) {
        plan->widen_zero(in->zero, first, line_words, scales);
        spread_lines(plan, in->scratch->zero.i32, line_words, *at, n);
    }
    *expanded = (expansion){key, min(n, alike)};
}

/* rows x width elements from element i on, whose scales are `width` in the scratch. */
static void run_expanded(const operands *in, size_t i, size_t width, size_t rows, char *y) {
    dql_panel panel = panel_of(*in, i, (rect){.length = width, .rows = rows, .x_stride = width, .y_stride = width}, y);
    panel.group_length = 1;
    panel.scale = in->scratch->scale.f32;
    if (in->zero)
        panel.zero = in->scratch->zero.i32;
    run_panel(*in, &panel, width);
}

/* The elements of several lines that are worth a row of a panel: whole vectors on most ISAs, and enough for a loop. */
static size_t elements_of_unit(size_t line_length) {
    size_t n = line_length;
    while (n % 16)
        n += line_length;
    while (n < 64)
        n *= 2;
    return n;
}

void dql_run_short_lines(const operands *in, const cursor *from, size_t n, char *y, expansion *expanded) {
    const dql_plan_data *const plan = in->plan;
    const size_t lines = MAX_EXPANDED / plan->line_length, unit = elements_of_unit(plan->line_length);
    const cursor_delta all_lines = {.elements = lines * plan->line_length, .lines = lines};
    for (cursor at = *from;;) {
        const size_t alike = elements_left_of_scales(plan, &at);
        size_t length = min(n, all_lines.elements - at.column), width = length;
        if (min(n, alike) >= 4 * unit) { /* units of lines that share their scales are rows that do */
            length = min(n, alike);
            width = unit;
        } else if (alike >= MAX_EXPANDED / 2)
            length = width = min(length, alike);
        expand(in, &at, width, expanded);
        const size_t rows = length / width, rest = length % width;
        run_expanded(in, at.element, width, rows, y);
        if (rest)
            run_expanded(in, at.element + rows * width, rest, 1, y + rows * width * plan->y_size);
        n -= length;
        if (!n)
            return;
        y += length * plan->y_size;
        if (length == alike)
            at = cursor_next_scales(plan, &at);
        else if (length == all_lines.elements)
            cursor_add(plan, &at, &all_lines);
        else
            at = cursor_at(plan, at.element + length);
    }
}
