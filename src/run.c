/* plan + buffers -> rows, runs, tiles of scales -> kernel. */
#include "plan.h"
#include "scalar/scalar.h"

#include <stdatomic.h>
#include <string.h>

enum {
    TILE = 1024,        /* scales in a tile */
    SHORT_ROW = 32,     /* elements: rows that are no longer share a tile, */
    SHORT_TILE = 256,   /* of so many elements */
    BAND = 32,          /* rows that are walked strip by strip before the next ones: in memory, far apart is slow */
    STREAM_TILE = 2048, /* bytes of y: computed, then streamed */
};

/* Scales or zero points. */
typedef union entries {
    _Alignas(64) float f32[TILE + DQL_WIDEN_SLACK]; /* as kernels take them */
    int32_t i32[TILE];                              /* zero points of int32 as they are; 0 is 0 in both */
} entries;

typedef struct tile {
    entries scale, zero;
} tile;

static const float no_zero[TILE];

/* A run call. */
typedef struct call {
    dql_normal plan;
    const void *x, *scale, *zero;
    dql_kernel *kernel;
    bool stream;

    tile *tile;
    size_t tile_from, tile_size; /* what it holds, see fill_runs and fill_elements; 0, 0: nothing */
    bool exact_zero;             /* and among it an int32 zero point that is not 0 */
} call;

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- where an element lies ---- */

typedef struct position {
    size_t element;
    size_t column;    /* its place in its row */
    size_t axis_left; /* rows from its own on to the next index before the axis */
    size_t rows_left; /* those of them that share its row of scales */
    size_t scale;     /* the number of its scale */
    size_t offset;    /* its place in its run */
} position;

/* Inlined, so that a position stays in registers. */
DQL_INLINE position locate(const dql_normal *p, size_t element) {
    position at = {.element = element, .column = element, .axis_left = p->axis_rows};
    size_t axis_row = 0;
    if (element >= p->row_length) {
        const size_t row = element / p->row_length;
        at.column = element % p->row_length;
        axis_row = row % p->axis_rows;
        at.axis_left -= axis_row;
        at.scale = dql_scale_row(p, row) * p->row_scales;
    }
    at.rows_left = min(at.axis_left, p->block_rows - axis_row % p->block_rows);
    at.scale += at.column / p->run;
    at.offset = at.column % p->run;
    return at;
}

/* Elements from this one on until another row of scales begins. */
static size_t until_next_scales(const dql_normal *p, const position *at) {
    return at->rows_left * p->row_length - at->column;
}

/* To the first element that uses the next row of scales. */
static void go_to_next_scales(const dql_normal *p, position *at) {
    at->element += until_next_scales(p, at);
    at->scale += p->row_scales - at->column / p->run;
    at->axis_left = at->axis_left > at->rows_left ? at->axis_left - at->rows_left : p->axis_rows;
    at->rows_left = min(at->axis_left, p->block_rows);
    at->column = at->offset = 0;
}

/* A distance that is gone more than once. */
typedef struct step {
    size_t elements, rows, columns, runs, offset;
} step;

static step step_of(const dql_normal *p, size_t elements) {
    const size_t columns = elements % p->row_length;
    return (step){elements, elements / p->row_length, columns, columns / p->run, columns % p->run};
}

/* Divides only where another row of scales begins. */
static void advance(const dql_normal *p, position *at, const step *by) {
    if (by->rows >= at->rows_left || by->columns >= p->row_length - at->column) {
        *at = locate(p, at->element + by->elements);
        return;
    }
    at->element += by->elements;
    at->column += by->columns;
    at->axis_left -= by->rows;
    at->rows_left -= by->rows;
    at->scale += by->runs;
    at->offset += by->offset;
    if (at->offset >= p->run) {
        at->offset -= p->run;
        at->scale++;
    }
}

/* ---- the tile ---- */

static void read_scales(const call *c, size_t first, entries *to, size_t n) {
    c->plan.kernels->widen[c->plan.scale_type](c->scale, first, to->f32, n);
}

static void read_zeros(const call *c, size_t first, entries *to, size_t n) {
    if (c->plan.x_type == DQL_INT32)
        memcpy(to->i32, (const char *)c->zero + first * sizeof *to->i32, n * sizeof *to->i32);
    else
        c->plan.kernels->widen[c->plan.x_type](c->zero, first, to->f32, n);
}

static void tile_filled(call *c, size_t from, size_t n) {
    c->tile_from = from;
    c->tile_size = n;
    c->exact_zero = false;
    if (c->zero && c->plan.x_type == DQL_INT32)
        for (size_t k = 0; k < n; k++)
            c->exact_zero |= c->tile->zero.i32[k] != 0;
}

/* One entry for each of n runs from scale `first` on. */
static void fill_runs(call *c, size_t first, size_t n) {
    if (c->tile_from == first && c->tile_size >= n)
        return;
    read_scales(c, first, &c->tile->scale, n);
    if (c->zero)
        read_zeros(c, first, &c->tile->zero, n);
    tile_filled(c, first, n);
}

/* to[k] = from[(offset + k) / run] for k < n. */
static void spread(int32_t *to, const int32_t *from, size_t n, size_t run, size_t offset) {
    if (run == 1) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (size_t k = 0; k < n; from++, offset = 0)
        for (const size_t end = min(n, k + run - offset); k < end; k++)
            to[k] = *from;
}

/* to[k] = to[k - period] for period <= k < n. */
static void repeat(int32_t *to, size_t period, size_t n) {
    for (size_t have = period; have < n; have *= 2)
        memcpy(to + have, to, min(have, n - have) * sizeof *to);
}

/* One entry for each of n elements from `at` on, across short rows. `from` starts with the row of scales of `at`. */
static void spread_rows(const dql_normal *p, int32_t *to, const int32_t *from, position at, size_t n) {
    for (size_t k = 0; k < n; from += p->row_scales, go_to_next_scales(p, &at)) {
        const size_t end = k + min(n - k, until_next_scales(p, &at));
        if (at.column) { /* the rest of a row */
            const size_t rest = min(end - k, p->row_length - at.column);
            spread(to + k, from + at.column / p->run, rest, p->run, at.offset);
            k += rest;
        }
        if (k < end) { /* a row from its start, then copies */
            spread(to + k, from, min(end - k, p->row_length), p->run, 0);
            repeat(to + k, p->row_length, end - k);
            k = end;
        }
    }
}

/* How many scales that takes. */
static size_t scales_of_rows(const dql_normal *p, position at, size_t n) {
    size_t scales = 0;
    for (size_t length; n > (length = until_next_scales(p, &at)); n -= length) {
        scales += p->row_scales;
        go_to_next_scales(p, &at);
    }
    return scales + (min(at.column + n, p->row_length) - 1) / p->run + 1;
}

/* One entry for each of n elements from `at` on, across short rows. tile_from is then a number that only elements with
 * the same scale and the same place in its run have, and tile_size counts the entries of that row of scales alone: what
 * follows them depends on how many rows were left that share it. */
static void fill_elements(call *c, const position *at, size_t n) {
    const dql_normal *p = &c->plan;
    const size_t from = at->scale * p->run + at->offset;
    if (c->tile_from == from && c->tile_size >= n && until_next_scales(p, at) >= n)
        return;
    entries narrow;
    const size_t first = at->scale - at->column / p->run, scales = scales_of_rows(p, *at, n);
    read_scales(c, first, &narrow, scales);
    spread_rows(p, c->tile->scale.i32, narrow.i32, *at, n);
    if (c->zero) {
        read_zeros(c, first, &narrow, scales);
        spread_rows(p, c->tile->zero.i32, narrow.i32, *at, n);
    }
    tile_filled(c, from, n);
    c->tile_size = min(n, until_next_scales(p, at));
}

/* ---- the kernel ---- */

/* The CPU's own prefetching comes too late between non-temporal stores for kernels that read a line in few loads. More
 * than 16 bits are so many lines that asking for them costs more than it gains, as for halves, which take longer.
 * (Not inlined, gcc 12 thinks that this does nothing, and leaves it out.) */
DQL_INLINE void prefetch(const call *c, size_t i, size_t n) {
    enum { LINE = 64 };
    if (c->plan.x_bits > 16 || c->plan.y_size < 4)
        return;
    const char *const x = (const char *)c->x + i * c->plan.x_bits / 8;
    for (size_t k = 0; k < n * c->plan.x_bits / 8; k += LINE)
        __builtin_prefetch(x + k);
}

/* Through a tile of finished outputs, so that every kernel can stream and every store is a whole one. */
static void compute_streamed(const call *c, size_t i, char *y, size_t count, size_t run, const float *scale,
                             const float *zero) {
    _Alignas(64) char done[STREAM_TILE];
    const size_t most = STREAM_TILE / c->plan.y_size;
    size_t left = run; /* of the run of *scale */
    for (size_t k = 0; k < count;) {
        const size_t n = min(count - k, run <= most ? most / run * run : min(left, most));
        prefetch(c, i + k + n, min(n, count - k - n));
        c->kernel(c->x, i + k, done, n, run, scale, zero);
        c->plan.kernels->stream(y + k * c->plan.y_size, done, n * c->plan.y_size);
        k += n;
        const size_t runs = run <= most ? n / run : n == left;
        left = runs ? run : left - n;
        scale += runs;
        zero += runs;
    }
}

/* Elements [i, i + count) of x with the scales of the tile, in runs from its start. */
static void compute(const call *c, size_t i, char *y, size_t count, size_t run) {
    const float *scale = c->tile->scale.f32, *zero = c->zero ? c->tile->zero.f32 : no_zero;
    if (c->exact_zero)
        dql_dequantize_int32((dql_type)c->plan.y_type, c->x, i, y, count, run, scale, c->tile->zero.i32);
    else if (c->stream)
        compute_streamed(c, i, y, count, run, scale, zero);
    else
        c->kernel(c->x, i, y, count, run, scale, zero);
}

/* ---- the walk ---- */

/* rows x length elements that share a row of scales, in strips of as many columns as a tile has scales for. */
static void walk_panel(call *c, const position *at, size_t length, size_t rows, size_t x_stride, char *y,
                       size_t y_stride) {
    const size_t run = c->plan.run, y_size = c->plan.y_size;
    size_t scale = at->scale, offset = at->offset;
    for (size_t k = 0; k < length; offset = 0) {
        size_t n = length - k;
        if (offset) /* the rest of a run */
            n = min(n, run - offset);
        else if (n / TILE >= run)
            n = TILE * run;
        const size_t scales = n <= run ? 1 : (n + run - 1) / run;
        fill_runs(c, scale, scales);
        for (size_t r = 0; r < rows; r++)
            compute(c, at->element + r * x_stride + k, y + (r * y_stride + k) * y_size, n, run);
        scale += scales;
        k += n;
    }
}

static bool has_short_rows(const dql_normal *p) {
    return p->row_length <= SHORT_ROW && p->row_length < p->count;
}

static void walk_short_rows(call *c, const position *from, size_t n, char *y) {
    const dql_normal *p = &c->plan;
    position at = *from;
    const size_t rows = (until_next_scales(p, &at) >= 4 * TILE ? TILE : SHORT_TILE) / p->row_length;
    const step whole = {.elements = rows * p->row_length, .rows = rows};
    while (n) {
        size_t piece = min(n, whole.elements - at.column);
        const size_t alike = until_next_scales(p, &at);
        if (alike >= SHORT_TILE / 2) /* then the tile can serve more than once */
            piece = min(piece, alike);
        fill_elements(c, &at, piece);
        compute(c, at.element, y, piece, 1);
        n -= piece;
        y += piece * p->y_size;
        if (n && piece == alike)
            go_to_next_scales(p, &at);
        else if (n && piece == whole.elements)
            advance(p, &at, &whole);
        else if (n)
            at = locate(p, at.element + piece);
    }
}

/* n consecutive elements. Positions are not copied: a wide load of what was stored in parts would wait for it. */
static void walk(call *c, const position *at, size_t n, char *y) {
    const dql_normal *p = &c->plan;
    if (has_short_rows(p)) {
        walk_short_rows(c, at, n, y);
        return;
    }
    for (position next; n; at = &next) {
        const size_t length = min(n, p->row_length - at->column);
        size_t rows = 1; /* that are whole and share their scales */
        if (length == p->row_length && at->rows_left > 1)
            rows = min(min(at->rows_left, BAND), n / length);
        walk_panel(c, at, length, rows, p->row_length, y, p->row_length);
        n -= length * rows;
        y += length * rows * p->y_size;
        if (n)
            next = locate(p, at->element + length * rows);
    }
}

/* How many of `rows` rows from `at` on are the same columns of rows that share their scales, or parts of one run. */
static size_t rows_together(const dql_normal *p, const position *at, size_t length, size_t rows, const step *row) {
    const size_t row_left = p->row_length - at->column, run_left = min(row_left, p->run - at->offset);
    if (has_short_rows(p)) /* a call fills its tile by runs or by elements, not by both */
        return 1;
    if (row->columns == 0 && length <= row_left)
        return row->rows ? min(rows, (at->rows_left - 1) / row->rows + 1) : rows;
    if (row->rows == 0 && length <= run_left && (run_left - length) / row->columns >= rows - 1)
        return rows;
    return 1;
}

static void walk_rows(call *c, size_t begin, size_t length, size_t rows, size_t x_stride, char *y, size_t y_stride) {
    const dql_normal *p = &c->plan;
    const step row = step_of(p, x_stride);
    position at = locate(p, begin);
    for (;;) {
        const size_t together = rows_together(p, &at, length, rows, &row);
        if (together > 1)
            walk_panel(c, &at, length, together, x_stride, y, y_stride);
        else
            walk(c, &at, length, y);
        rows -= together;
        if (!rows)
            return;
        y += together * y_stride * p->y_size;
        if (together > 1)
            at = locate(p, at.element + together * x_stride);
        else
            advance(p, &at, &row);
    }
}

/* ---- zero points that must be zero ---- */

/* Zero points [begin, end), of which several may share a byte. */
static bool are_zero(const dql_normal *p, const uint8_t *zero, size_t begin, size_t end) {
    const size_t a_byte = p->x_bits < 8 ? 8 / p->x_bits : 1, first = begin / a_byte, last = (end - 1) / a_byte;
    uint8_t bits = 0;
    for (size_t k = first; k <= last; k++) {
        uint8_t byte = zero[k];
        if (k == first)
            byte = (uint8_t)(byte >> begin % a_byte * p->x_bits << begin % a_byte * p->x_bits);
        if (k == last)
            byte &= (uint8_t)(0xff >> (a_byte - 1 - (end - 1) % a_byte) * p->x_bits);
        bits |= byte;
    }
    return (bits & p->zero_mask) == 0;
}

static size_t scale_at(const dql_normal *p, size_t row, size_t column) {
    return dql_scale_row(p, row) * p->row_scales + column / p->run;
}

/* Exactly those of the elements [begin, end): of the first row, the last one, and the whole ones between. */
static bool zeros_are_zero(const dql_normal *p, const uint8_t *zero, size_t begin, size_t end) {
    const size_t length = p->row_length;
    const size_t first = begin / length, first_column = begin % length;
    const size_t last = (end - 1) / length, last_column = (end - 1) % length;
    if (first == last)
        return are_zero(p, zero, scale_at(p, first, first_column), scale_at(p, last, last_column) + 1);
    return are_zero(p, zero, scale_at(p, first, first_column), scale_at(p, first, length - 1) + 1) &&
           are_zero(p, zero, scale_at(p, last, 0), scale_at(p, last, last_column) + 1) &&
           (last - first == 1 || are_zero(p, zero, scale_at(p, first + 1, 0), scale_at(p, last - 1, length - 1) + 1));
}

/* Rows that use the same scales as the one before are not looked at again. */
static bool zeros_of_rows_are_zero(const dql_normal *p, const uint8_t *zero, size_t begin, size_t length, size_t rows,
                                   size_t x_stride) {
    const step row = step_of(p, x_stride);
    position at = locate(p, begin), before = at;
    for (size_t r = 0; r < rows; r++, before = at, advance(p, &at, &row)) {
        const bool in_a_row = length <= p->row_length - at.column;
        if (r > 0 && in_a_row && at.scale == before.scale && at.offset == before.offset)
            continue;
        if (!zeros_are_zero(p, zero, at.element, at.element + length))
            return false;
    }
    return true;
}

/* ---- the API ---- */

/* Takes the buffers. What is checked here is what no range or panel changes. */
static dql_status open_call(call *c, tile *t, const void *x, const void *scale, const void *zero, const void *y,
                            size_t y_elements) {
    if (!x || !scale || !y)
        return DQL_ERROR_NULL;
    c->x = x;
    c->scale = scale;
    c->zero = c->plan.zero_mask ? NULL : zero; /* float types: checked by the caller, then absent */
    c->kernel = c->plan.kernels->dequantize[c->plan.x_type][c->plan.y_number];
    c->stream = y_elements * c->plan.y_size > c->plan.stream_above;
    c->tile = t;
    c->tile_from = c->tile_size = 0;
    c->exact_zero = false;
    return DQL_OK;
}

/* Streamed stores are seen by whoever sees the call return: on x86 this fence is an instruction that waits for them. */
static void close_call(const call *c) {
    if (c->stream)
        atomic_thread_fence(memory_order_seq_cst);
}

static dql_status get_plan(call *c, const dql_plan *plan) {
    if (!plan)
        return DQL_ERROR_NULL;
    return dql_plan_get(&c->plan, plan) ? DQL_OK : DQL_ERROR_PLAN;
}

dql_status dql_run_range(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                         size_t end, void *y_begin) {
    call c;
    tile t;
    dql_status status = get_plan(&c, plan);
    if (status)
        return status;
    if (begin > end || end > c.plan.count)
        return DQL_ERROR_RANGE;
    if (begin == end)
        return DQL_OK;
    status = open_call(&c, &t, x, scale, zero, y_begin, end - begin);
    if (status)
        return status;
    if (zero && c.plan.zero_mask && !zeros_are_zero(&c.plan, zero, begin, end))
        return DQL_ERROR_ZERO_POINT;
    const position at = locate(&c.plan, begin);
    walk(&c, &at, end - begin, y_begin);
    close_call(&c);
    return DQL_OK;
}

dql_status dql_run(const dql_plan *plan, const void *x, const void *scale, const void *zero, void *y) {
    return dql_run_range(plan, x, scale, zero, 0, dql_plan_count(plan), y);
}

/* Whether `rows` starts, `stride` apart, each have `length` elements before `end`; rows and length are not 0. */
static bool rows_fit(size_t length, size_t rows, size_t stride, size_t end) {
    return length <= end && (rows == 1 || stride == 0 || (end - length) / stride >= rows - 1);
}

dql_status dql_run_rows(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                        size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    call c;
    tile t;
    dql_status status = get_plan(&c, plan);
    if (status)
        return status;
    if (begin > c.plan.count)
        return DQL_ERROR_RANGE;
    if (length == 0 || rows == 0)
        return DQL_OK;
    if (!rows_fit(length, rows, x_stride, c.plan.count - begin) ||
        !rows_fit(length, rows, y_stride, SIZE_MAX / c.plan.y_size) || (rows > 1 && y_stride < length))
        return DQL_ERROR_RANGE;
    status = open_call(&c, &t, x, scale, zero, y, rows * length);
    if (status)
        return status;
    if (zero && c.plan.zero_mask && !zeros_of_rows_are_zero(&c.plan, zero, begin, length, rows, x_stride))
        return DQL_ERROR_ZERO_POINT;
    walk_rows(&c, begin, length, rows, x_stride, y, y_stride);
    close_call(&c);
    return DQL_OK;
}

dql_status dql_dequantize(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y) {
    dql_plan plan;
    const dql_status status = dql_plan_init(&plan, spec);
    return status ? status : dql_run(&plan, x, scale, zero, y);
}
