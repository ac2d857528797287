/* plan + buffers -> rows, runs, tiles of scales -> kernel. */
#include "plan.h"

#include <stdatomic.h>
#include <string.h>

enum {
    TILE = 1024,        /* scales in a tile */
    SHORT_ROW = 32,     /* elements: rows that are no longer share a tile, */
    SHORT_TILE = 256,   /* of so many elements */
    BAND = 32,          /* rows that are walked strip by strip before the next ones: in memory, far apart is slow */
    SMALL_GAP = 16,     /* scales between those of two rows of a panel: it is faster to take them than to leave them */
    FEW_BYTES = 16,     /* of scales of a row of a panel: it is faster to copy them than to widen them by themselves */
    STREAM_TILE = 2048, /* bytes of y: computed, then streamed */
};

/* Scales or zero points as kernels take them. */
typedef union entries {
    _Alignas(64) float f32[TILE + DQL_WIDEN_SLACK];
    int32_t i32[TILE + DQL_WIDEN_SLACK];
} entries;

typedef struct tile {
    entries scale, zero;
} tile;

static const int32_t no_zero[TILE];

/* A run call. */
typedef struct call {
    const dql_plan_data *plan;
    const void *x, *scale, *zero;
    bool stream;

    tile *tile;
    const float *scales;         /* those in the tile, or those of the caller */
    size_t tile_from, tile_size; /* what they are, see fill_runs and fill_elements; 0, 0: nothing */
    bool exact_zero;             /* the tile has an int32 zero point that is not 0 */
} call;

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many of `rows` rows that are `apart` from each other begin at most `room` behind the first one. Mostly all do,
 * which takes no division. */
DQL_INLINE size_t rows_within(size_t rows, size_t apart, size_t room) {
    return (rows - 1) * apart <= room ? rows : room / apart + 1;
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

/* Row `row` of x uses this row of scales. */
static size_t scale_line(const dql_plan_data *p, size_t row) {
    return row / p->axis_lines * p->blocks + row % p->axis_lines / p->block_lines;
}

/* Inlined, so that a position stays in registers. */
DQL_INLINE position locate(const dql_plan_data *p, size_t element) {
    position at = {.element = element, .column = element, .axis_left = p->axis_lines};
    size_t axis_row = 0;
    if (element >= p->line_length) {
        const size_t row = element / p->line_length;
        at.column = element % p->line_length;
        axis_row = row % p->axis_lines;
        at.axis_left -= axis_row;
        at.scale = scale_line(p, row) * p->line_scales;
    }
    at.rows_left = min(at.axis_left, p->block_lines - axis_row % p->block_lines);
    at.offset = at.column;
    if (at.column >= p->group_length) {
        at.scale += at.column / p->group_length;
        at.offset = at.column % p->group_length;
    }
    return at;
}

/* Elements from this one on until another row of scales begins. */
static size_t until_next_scales(const dql_plan_data *p, const position *at) {
    return at->rows_left * p->line_length - at->column;
}

/* The first element that uses the next row of scales. */
DQL_INLINE position next_scales(const dql_plan_data *p, const position *at) {
    position next = {.element = at->element + until_next_scales(p, at),
                     .scale = at->scale + p->line_scales - at->column / p->group_length,
                     .axis_left = at->axis_left > at->rows_left ? at->axis_left - at->rows_left : p->axis_lines};
    next.rows_left = min(next.axis_left, p->block_lines);
    return next;
}

/* A distance that is gone more than once. */
typedef struct step {
    size_t elements, rows, columns, runs, offset;
} step;

static step step_of(const dql_plan_data *p, size_t elements) {
    step s = {.elements = elements, .columns = elements};
    if (elements >= p->line_length) { /* divisions take as long as vectors */
        s.rows = elements / p->line_length;
        s.columns = elements % p->line_length;
    }
    s.offset = s.columns;
    if (s.columns >= p->group_length) {
        s.runs = s.columns / p->group_length;
        s.offset = s.columns % p->group_length;
    }
    return s;
}

/* Divides only where another row of scales begins. */
static void advance(const dql_plan_data *p, position *at, const step *by) {
    if (by->rows >= at->rows_left || by->columns >= p->line_length - at->column) {
        *at = locate(p, at->element + by->elements);
        return;
    }
    at->element += by->elements;
    at->column += by->columns;
    at->axis_left -= by->rows;
    at->rows_left -= by->rows;
    at->scale += by->runs;
    at->offset += by->offset;
    if (at->offset >= p->group_length) {
        at->offset -= p->group_length;
        at->scale++;
    }
}

/* ---- the tile ---- */

/* Whether kernels can read the caller's scales: for float32 they may have any NaN. */
DQL_INLINE bool are_ready(const dql_plan_data *p, const void *scale) {
    return p->scale_type == DQL_FLOAT32 && p->y_type == DQL_FLOAT32 && (uintptr_t)scale % sizeof(float) == 0;
}

/* Rows of `bytes` bytes, `stride` apart, one after the other. */
DQL_INLINE void copy_rows(char *to, const char *from, size_t bytes, size_t stride, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * bytes, from + r * stride, bytes);
}

/* Copies of constant sizes are single instructions. */
static void copy_few(char *to, const char *from, size_t bytes, size_t stride, size_t rows) {
    switch (bytes) {
    case 1: copy_rows(to, from, 1, stride, rows); break;
    case 2: copy_rows(to, from, 2, stride, rows); break;
    case 4: copy_rows(to, from, 4, stride, rows); break;
    case 8: copy_rows(to, from, 8, stride, rows); break;
    case 16: copy_rows(to, from, 16, stride, rows); break;
    default: copy_rows(to, from, bytes, stride, rows);
    }
}

/* Rows of n scales or zero points of `bits` bits from `first` on, `stride` apart, without what is between them. Returns
 * where the first one is in the tile; *apart is how far from each other they are there. */
static const void *fill_apart(dql_widen *widen, unsigned bits, const void *from, size_t first, size_t stride, size_t n,
                              size_t rows, entries *to, size_t *apart) {
    const size_t a_byte = bits < 8 ? 8 / bits : 1, skip = first % a_byte;
    const size_t whole = (skip + n + a_byte - 1) / a_byte * a_byte, bytes = dql_bytes_of(whole, bits);
    if (stride % a_byte || bytes > FEW_BYTES) {
        for (size_t r = 0; r < rows; r++)
            widen(from, first + r * stride, to->i32 + r * n, n);
        *apart = n;
        return to->i32;
    }
    char near[TILE * sizeof(int32_t)];
    copy_few(near, (const char *)from + dql_bytes_of(first - skip, bits), bytes, dql_bytes_of(stride, bits), rows);
    widen(near, 0, to->i32, rows * whole);
    *apart = whole;
    return to->i32 + skip;
}

/* Whether what is between rows of n, `stride` apart, is left out. */
DQL_INLINE bool are_apart(size_t n, size_t stride) {
    return stride > n + SMALL_GAP;
}

/* The same of rows that may be near each other: what is between them comes along. Inlined, since next to short rows
 * calls take long. */
DQL_INLINE const void *fill(dql_widen *widen, unsigned bits, const void *from, size_t first, size_t stride, size_t n,
                            size_t rows, entries *to, size_t *apart) {
    if (are_apart(n, stride))
        return fill_apart(widen, bits, from, first, stride, n, rows, to, apart);
    widen(from, first, to->i32, (rows - 1) * stride + n);
    *apart = stride;
    return to->i32;
}

/* How many of the rows `fill` has room for. */
DQL_INLINE size_t rows_in_tile(size_t rows, size_t n, size_t stride) {
    enum { OTHERS = 6 }; /* of 2 bits, in the bytes that a row begins and ends in: see fill_apart */
    const size_t apart = n + OTHERS;
    return are_apart(n, stride) && apart <= TILE ? rows_within(rows, apart, TILE - apart)
                                                 : rows_within(rows, stride, TILE - n);
}

/* Entries of which `size` are those from `from` on, and `zeros` of them zero points. */
static void tile_filled(call *c, size_t from, size_t size, size_t zeros) {
    c->tile_from = from;
    c->tile_size = size;
    c->exact_zero = false;
    if (c->zero && c->plan->exact_kernel)
        for (size_t k = 0; k < zeros; k++)
            c->exact_zero |= c->tile->zero.i32[k] != 0;
}

/* rows x count elements from element i on, without scales; zero points are 0 or in the tile. */
DQL_INLINE dql_panel panel_of(const dql_plan_data *p, const tile *t, const void *x, const void *zero, size_t i,
                              size_t count, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    return (dql_panel){.x = x,
                       .y = y,
                       .i = i,
                       .count = count,
                       .rows = rows,
                       .group_length = p->group_length,
                       .x_stride = x_stride,
                       .y_stride = y_stride,
                       .zero = zero ? t->zero.i32 : no_zero};
}

/* Gives a panel n scales and zero points a row, from `first` on, of rows that have them `stride` apart. */
DQL_INLINE void take_scales(const dql_plan_data *p, tile *t, const void *scale, const void *zero, dql_panel *panel,
                            size_t first, size_t stride, size_t n) {
    panel->scale_stride = stride;
    if (are_ready(p, scale))
        panel->scale = (const float *)scale + first;
    else
        panel->scale = fill(p->widen_scale, dql_element_bits(p->scale_pack), scale, first, stride, n, panel->rows,
                            &t->scale, &panel->scale_stride);
    if (zero)
        panel->zero = fill(p->widen_zero, dql_element_bits(p->x_pack), zero, first, stride, n, panel->rows, &t->zero,
                           &panel->zero_stride);
}

/* The same in a walk. What the tile has of rows that share their scales may serve again. */
DQL_INLINE void fill_rows(call *c, dql_panel *p, size_t first, size_t stride, size_t n) {
    take_scales(c->plan, c->tile, c->scale, c->zero, p, first, stride, n);
    c->scales = p->scale;
    tile_filled(c, first, stride ? 0 : n, (p->rows - 1) * p->zero_stride + n);
}

/* Of rows that share their scales, once. */
DQL_INLINE void fill_runs(call *c, dql_panel *p, size_t first, size_t n) {
    if (c->tile_from != first || c->tile_size < n)
        fill_rows(c, p, first, 0, n);
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
static void spread_rows(const dql_plan_data *p, int32_t *to, const int32_t *from, position at, size_t n) {
    for (size_t k = 0; k < n; from += p->line_scales, at = next_scales(p, &at)) {
        const size_t end = k + min(n - k, until_next_scales(p, &at));
        if (at.column) { /* the rest of a row */
            const size_t rest = min(end - k, p->line_length - at.column);
            spread(to + k, from + at.column / p->group_length, rest, p->group_length, at.offset);
            k += rest;
        }
        if (k < end) { /* a row from its start, then copies */
            spread(to + k, from, min(end - k, p->line_length), p->group_length, 0);
            repeat(to + k, p->line_length, end - k);
            k = end;
        }
    }
}

/* How many scales that takes. */
static size_t scales_of_rows(const dql_plan_data *p, position at, size_t n) {
    size_t scales = 0;
    for (size_t length; n > (length = until_next_scales(p, &at)); n -= length) {
        scales += p->line_scales;
        at = next_scales(p, &at);
    }
    return scales + (min(at.column + n, p->line_length) - 1) / p->group_length + 1;
}

/* One entry for each of n elements from `at` on, across short rows. tile_from is then a number that only elements with
 * the same scale and the same place in its run have, and tile_size counts the entries of that row of scales alone: what
 * follows them depends on how many rows were left that share it. */
static void fill_elements(call *c, const position *at, size_t n) {
    const dql_plan_data *p = c->plan;
    const size_t from = at->scale * p->group_length + at->offset;
    if (c->tile_from == from && c->tile_size >= n && until_next_scales(p, at) >= n)
        return;
    entries narrow;
    const size_t first = at->scale - at->column / p->group_length, scales = scales_of_rows(p, *at, n);
    p->widen_scale(c->scale, first, &narrow, scales);
    spread_rows(p, c->tile->scale.i32, narrow.i32, *at, n);
    c->scales = c->tile->scale.f32;
    if (c->zero) {
        p->widen_zero(c->zero, first, &narrow, scales);
        spread_rows(p, c->tile->zero.i32, narrow.i32, *at, n);
    }
    tile_filled(c, from, min(n, until_next_scales(p, at)), n);
}

/* ---- the kernel ---- */

/* The CPU's own prefetching comes too late between non-temporal stores for kernels that read a line in few loads. More
 * than 16 bits are so many lines that asking for them costs more than it gains, as for halves, which take longer.
 * (Not inlined, gcc 12 thinks that this does nothing, and leaves it out.) */
DQL_INLINE void prefetch(const call *c, size_t i, size_t n) {
    enum { LINE = 64 };
    const dql_pack pack = c->plan->x_pack;
    if (dql_element_bits(pack) > 16 || c->plan->y_size < 4)
        return;
    const char *const x = dql_pack_address(pack, c->x, i), *const end = dql_pack_address(pack, c->x, i + n);
    for (const char *at = x; at < end; at += LINE)
        __builtin_prefetch(at);
}

/* Through a tile of finished outputs, so that every kernel can stream and every store is a whole one. */
static void stream_row(const call *c, const dql_panel *p, size_t r) {
    _Alignas(64) char done[STREAM_TILE];
    const size_t y_size = c->plan->y_size, most = STREAM_TILE / y_size;
    dql_panel part = *p;
    part.y = done;
    part.i += r * p->x_stride;
    part.scale += r * p->scale_stride;
    part.zero += r * p->zero_stride;
    part.rows = 1;
    char *y = (char *)p->y + r * p->y_stride * y_size;
    size_t left = p->group_length; /* of the run of *scale */
    for (size_t k = 0; k < p->count;) {
        part.count =
            min(p->count - k, p->group_length <= most ? most / p->group_length * p->group_length : min(left, most));
        if (k + part.count < p->count)
            prefetch(c, part.i + part.count, min(part.count, p->count - k - part.count));
        else if (r + 1 < p->rows)
            prefetch(c, p->i + (r + 1) * p->x_stride, part.count);
        c->plan->kernel(&part);
        c->plan->stream(y + k * y_size, done, part.count * y_size);
        k += part.count;
        part.i += part.count;
        const size_t runs = p->group_length <= most ? part.count / p->group_length : part.count == left;
        left = runs ? p->group_length : left - part.count;
        part.scale += runs;
        part.zero += runs;
    }
}

/* Rows that follow each other in y go through the tile together: an even number of them, which is whole lines where
 * they are multiples of 16 elements. */
static void compute_streamed(const call *c, const dql_panel *p) {
    const size_t row = p->count * c->plan->y_size;
    const size_t together = p->y_stride == p->count ? STREAM_TILE / row / 2 * 2 : 0;
    if (p->rows < 2 || !together) {
        for (size_t r = 0; r < p->rows; r++)
            stream_row(c, p, r);
        return;
    }
    _Alignas(64) char done[STREAM_TILE];
    dql_panel part = *p;
    part.y = done;
    for (size_t r = 0; r < p->rows; r += part.rows) {
        part.rows = min(p->rows - r, together);
        if (r + part.rows < p->rows && p->x_stride == p->count)
            prefetch(c, part.i + part.rows * p->count, min(part.rows, p->rows - r - part.rows) * p->count);
        c->plan->kernel(&part);
        c->plan->stream((char *)p->y + r * row, done, part.rows * row);
        part.i += part.rows * p->x_stride;
        part.scale += part.rows * p->scale_stride;
        part.zero += part.rows * p->zero_stride;
    }
}

/* With the scales that have just been made ready. */
DQL_INLINE void compute(const call *c, dql_panel *p) {
    p->scale = c->scales;
    if (c->exact_zero)
        c->plan->exact_kernel(p);
    else if (c->stream)
        compute_streamed(c, p);
    else
        c->plan->kernel(p);
}

/* ---- the walk ---- */

DQL_INLINE dql_panel panel(const call *c, size_t i, size_t count, size_t rows, size_t x_stride, void *y,
                           size_t y_stride) {
    return panel_of(c->plan, c->tile, c->x, c->zero, i, count, rows, x_stride, y, y_stride);
}

/* Rows with scales of their own, from scale `first` on, `stride` apart: as many at once as the tile has room for. */
static void walk_apart(call *c, dql_panel p, size_t first, size_t stride, size_t scales) {
    for (size_t left = p.rows; left; left -= p.rows) {
        p.rows = rows_in_tile(left, scales, stride);
        fill_rows(c, &p, first, stride, scales);
        compute(c, &p);
        first += p.rows * stride;
        p.i += p.rows * p.x_stride;
        p.y = (char *)p.y + p.rows * p.y_stride * c->plan->y_size;
    }
}

/* How many scales n elements from the start of a run on need, or n of one run. */
DQL_INLINE size_t scales_of(size_t n, size_t run) {
    return n <= run ? 1 : (n + run - 1) / run;
}

/* Rows whose elements are at the same places in their runs, with the same scales or `scale_stride` apart, in strips of
 * as many columns as the tile has scales for. */
DQL_INLINE void walk_panel(call *c, const position *at, dql_panel *p, size_t scale_stride) {
    const size_t run = p->group_length;
    size_t scale = at->scale, offset = at->offset;
    for (size_t left = p->count; left; offset = 0) {
        size_t n = left;
        if (offset) /* the rest of a run */
            n = min(n, run - offset);
        else if (n / TILE >= run)
            n = TILE * run;
        const size_t scales = scales_of(n, run);
        p->count = n;
        if (scale_stride)
            walk_apart(c, *p, scale, scale_stride, scales);
        else {
            fill_runs(c, p, scale, scales);
            compute(c, p);
        }
        scale += scales;
        left -= n;
        p->i += n;
        p->y = (char *)p->y + n * c->plan->y_size;
    }
}

/* Elements of several short rows after each other: whole vectors on most ISAs, and enough for a loop. */
static size_t elements_of_rows(size_t line_length) {
    size_t n = line_length;
    while (n % 16)
        n += line_length;
    while (n < 64)
        n *= 2;
    return n;
}

/* n elements from `at` on whose scales are in the tile, which serves `width` of them at a time. */
static void compute_short_rows(const call *c, const position *at, size_t n, size_t width, char *y) {
    const size_t rows = n / width, rest = n % width;
    dql_panel part = panel(c, at->element, width, rows, width, y, width);
    part.group_length = 1;
    if (rows)
        compute(c, &part);
    if (rest) {
        part.i += rows * width;
        part.y = y + rows * width * c->plan->y_size;
        part.count = rest;
        part.rows = 1;
        compute(c, &part);
    }
}

static void walk_short_rows(call *c, const position *from, size_t n, char *y) {
    const dql_plan_data *p = c->plan;
    const size_t rows = SHORT_TILE / p->line_length, narrow = elements_of_rows(p->line_length);
    const step whole = {.elements = rows * p->line_length, .rows = rows};
    position at = *from;
    while (n) {
        const size_t alike = until_next_scales(p, &at);
        size_t piece = min(n, whole.elements - at.column), width = piece;
        if (min(n, alike) >= 4 * narrow) {
            piece = min(n, alike);
            width = narrow;
        } else if (alike >= SHORT_TILE / 2)
            piece = width = min(piece, alike);
        fill_elements(c, &at, width);
        compute_short_rows(c, &at, piece, width, y);
        n -= piece;
        y += piece * p->y_size;
        if (n && piece == alike)
            at = next_scales(p, &at);
        else if (n && piece == whole.elements)
            advance(p, &at, &whole);
        else if (n)
            at = locate(p, at.element + piece);
    }
}

/* n consecutive elements. Positions are not copied: a wide load of what was stored in parts would wait for it. */
static void walk(call *c, const position *at, size_t n, char *y) {
    const dql_plan_data *p = c->plan;
    if (p->short_lines) {
        walk_short_rows(c, at, n, y);
        return;
    }
    for (position next; n; at = &next) {
        const size_t length = min(n, p->line_length - at->column);
        size_t rows = 1, scale_stride = 0;
        if (length == p->line_length && n > length) {
            rows = min(n / length, BAND);
            if (p->block_lines == 1)
                scale_stride = p->line_scales * p->blocks;
            else
                rows = min(rows, at->rows_left);
        }
        dql_panel part = panel(c, at->element, length, rows, length, y, length);
        walk_panel(c, at, &part, scale_stride);
        const size_t done = length * rows;
        n -= done;
        y += done * p->y_size;
        if (n)
            next = done == until_next_scales(p, at) ? next_scales(p, at) : locate(p, at->element + done);
    }
}

/* How many of `rows` rows from `at` on can be walked at once: they share their scales, or have them *scale_stride
 * apart. */
DQL_INLINE size_t rows_together(const dql_plan_data *p, const position *at, size_t length, size_t rows, const step *row,
                                size_t *scale_stride) {
    const size_t row_left = p->line_length - at->column, run_left = min(row_left, p->group_length - at->offset);
    *scale_stride = 0;
    if (p->short_lines) /* a call fills its tile by runs or by elements, not by both */
        return 1;
    if (row->columns == 0 && length <= row_left) { /* the same columns of other rows */
        if (p->block_lines == 1) {
            *scale_stride = row->rows * p->line_scales * p->blocks;
            return rows;
        }
        return rows_within(rows, row->rows, at->rows_left - 1);
    }
    if (row->rows > 0 || length > row_left)
        return 1;
    if (row->offset == 0) { /* other columns of the same row */
        *scale_stride = row->runs;
        return rows_within(rows, row->columns, row_left - length);
    }
    return length <= run_left ? rows_within(rows, row->columns, run_left - length) : 1; /* parts of one run */
}

static void walk_rows(call *c, size_t begin, size_t length, size_t rows, size_t x_stride, char *y, size_t y_stride) {
    const dql_plan_data *p = c->plan;
    const step row = step_of(p, x_stride);
    position at = locate(p, begin);
    for (;;) {
        size_t scale_stride;
        const size_t together = rows_together(p, &at, length, rows, &row, &scale_stride);
        if (together > 1) {
            dql_panel part = panel(c, at.element, length, together, x_stride, y, y_stride);
            walk_panel(c, &at, &part, scale_stride);
        } else
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
static bool are_zero(const dql_plan_data *p, const uint8_t *zero, size_t begin, size_t end) {
    const unsigned x_bits = dql_element_bits(p->x_pack);
    const size_t a_byte = x_bits < 8 ? 8 / x_bits : 1, first = begin / a_byte, last = (end - 1) / a_byte;
    uint8_t bits = 0;
    for (size_t k = first; k <= last; k++) {
        uint8_t byte = zero[k];
        if (k == first)
            byte = (uint8_t)(byte >> begin % a_byte * x_bits << begin % a_byte * x_bits);
        if (k == last)
            byte &= (uint8_t)(0xff >> (a_byte - 1 - (end - 1) % a_byte) * x_bits);
        bits |= byte;
    }
    return (bits & (x_bits == 4 ? p->zero_bits * 0x11 : p->zero_bits)) == 0;
}

static size_t scale_at(const dql_plan_data *p, size_t row, size_t column) {
    return scale_line(p, row) * p->line_scales + column / p->group_length;
}

/* Exactly those of the elements [begin, end): of the first row, the last one, and the whole ones between. */
static bool zeros_are_zero(const dql_plan_data *p, const uint8_t *zero, size_t begin, size_t end) {
    const size_t length = p->line_length;
    const size_t first = begin / length, first_column = begin % length;
    const size_t last = (end - 1) / length, last_column = (end - 1) % length;
    if (first == last)
        return are_zero(p, zero, scale_at(p, first, first_column), scale_at(p, last, last_column) + 1);
    return are_zero(p, zero, scale_at(p, first, first_column), scale_at(p, first, length - 1) + 1) &&
           are_zero(p, zero, scale_at(p, last, 0), scale_at(p, last, last_column) + 1) &&
           (last - first == 1 || are_zero(p, zero, scale_at(p, first + 1, 0), scale_at(p, last - 1, length - 1) + 1));
}

/* Rows that use the same scales as the one before are not looked at again. */
static bool zeros_of_rows_are_zero(const dql_plan_data *p, const uint8_t *zero, size_t begin, size_t length,
                                   size_t rows, size_t x_stride) {
    const step row = step_of(p, x_stride);
    position at = locate(p, begin), before = at;
    for (size_t r = 0; r < rows; r++, before = at, advance(p, &at, &row)) {
        const bool in_a_row = length <= p->line_length - at.column;
        if (r > 0 && in_a_row && at.scale == before.scale && at.offset == before.offset)
            continue;
        if (!zeros_are_zero(p, zero, at.element, at.element + length))
            return false;
    }
    return true;
}

/* ---- the API ---- */

static dql_status no_plan(const dql_plan *plan) {
    return plan ? DQL_ERROR_PLAN : DQL_ERROR_NULL;
}

static void open_call(call *c, const dql_plan_data *plan, tile *t, const void *x, const void *scale, const void *zero,
                      size_t y_elements) {
    *c = (call){.plan = plan,
                .x = x,
                .scale = scale,
                .zero = zero,
                .stream = y_elements * plan->y_size > plan->stream_above,
                .tile = t};
}

/* Streamed stores are seen by whoever sees the call return: on x86 this fence is an instruction that waits for them. */
static void close_call(const call *c) {
    if (c->stream)
        atomic_thread_fence(memory_order_seq_cst);
}

/* Any n elements from `at` on. */
static void run_walk(const dql_plan_data *p, tile *t, const void *x, const void *scale, const void *zero,
                     const position *at, size_t n, void *y) {
    call c;
    open_call(&c, p, t, x, scale, zero, n);
    walk(&c, at, n, y);
    close_call(&c);
}

/* Rows that share their scales or have them `scale_stride` apart, computed without a walk if they can be, as usually:
 * neither a `call` nor a position is stored, since in the L1 cache stores of ours delay those to y. Else false, and
 * nothing is done. */
DQL_INLINE bool run_panel(const dql_plan_data *p, tile *t, const void *x, const void *scale, const void *zero,
                          const position *at, size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride,
                          size_t scale_stride) {
    const bool splits_run = at->offset && length > p->group_length - at->offset,
               exceeds_tile = length / TILE >= p->group_length;
    const bool streams = rows * length * p->y_size > p->stream_above, may_be_exact = zero && p->exact_kernel;
    if (splits_run || exceeds_tile || streams || may_be_exact)
        return false;
    const size_t scales = scales_of(length, p->group_length);
    if ((zero || !are_ready(p, scale)) && rows_in_tile(rows, scales, scale_stride) < rows)
        return false;
    dql_panel panel = panel_of(p, t, x, zero, at->element, length, rows, x_stride, y, y_stride);
    take_scales(p, t, scale, zero, &panel, at->scale, scale_stride, scales);
    p->kernel(&panel);
    return true;
}

/* The next n elements: of one row, or whole rows that share their scales. */
DQL_INLINE bool run_next(const dql_plan_data *p, tile *t, const void *x, const void *scale, const void *zero,
                         const position *at, size_t n, void *y) {
    size_t length = n, rows = 1;
    if (n > p->line_length - at->column) {
        if (at->column || n / p->line_length > at->rows_left || n % p->line_length || p->short_lines)
            return false;
        length = p->line_length;
        rows = n / p->line_length;
    }
    return run_panel(p, t, x, scale, zero, at, length, rows, length, y, length, 0);
}

/* Rows of a panel, all of them at once. */
DQL_INLINE bool run_rows(const dql_plan_data *p, tile *t, const void *x, const void *scale, const void *zero,
                         size_t begin, size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    const position at = locate(p, begin);
    if (rows == 1)
        return run_next(p, t, x, scale, zero, &at, length, y);
    const step row = step_of(p, x_stride);
    size_t scale_stride;
    return rows_together(p, &at, length, rows, &row, &scale_stride) == rows &&
           run_panel(p, t, x, scale, zero, &at, length, rows, x_stride, y, y_stride, scale_stride);
}

DQL_INLINE dql_status run_elements(const dql_plan_data *p, const void *x, const void *scale, const void *zero,
                                   size_t begin, size_t end, void *y_begin) {
    if (begin > end || end > p->count)
        return DQL_ERROR_RANGE;
    if (begin == end)
        return DQL_OK;
    if (!x || !scale || !y_begin)
        return DQL_ERROR_NULL;
    if (zero && p->zero_bits) {
        if (!zeros_are_zero(p, zero, begin, end))
            return DQL_ERROR_ZERO_POINT;
        zero = NULL;
    }
    tile t;
    const position at = locate(p, begin);
    if (!run_next(p, &t, x, scale, zero, &at, end - begin, y_begin))
        run_walk(p, &t, x, scale, zero, &at, end - begin, y_begin);
    return DQL_OK;
}

dql_status dql_run_range(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                         size_t end, void *y_begin) {
    const dql_plan_data *p = dql_plan_get(plan);
    return p ? run_elements(p, x, scale, zero, begin, end, y_begin) : no_plan(plan);
}

dql_status dql_run(const dql_plan *plan, const void *x, const void *scale, const void *zero, void *y) {
    const dql_plan_data *p = dql_plan_get(plan);
    return p ? run_elements(p, x, scale, zero, 0, p->count, y) : no_plan(plan);
}

/* Whether `rows` starts, `stride` apart, each have `length` elements before `end`; rows and length are not 0. */
static bool rows_fit(size_t length, size_t rows, size_t stride, size_t end) {
    size_t last;
    return length <= end && !__builtin_mul_overflow(rows - 1, stride, &last) && last <= end - length;
}

dql_status dql_run_rows(const dql_plan *plan, const void *x, const void *scale, const void *zero, size_t begin,
                        size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    const dql_plan_data *p = dql_plan_get(plan);
    if (!p)
        return no_plan(plan);
    if (begin > p->count)
        return DQL_ERROR_RANGE;
    if (length == 0 || rows == 0)
        return DQL_OK;
    if (!rows_fit(length, rows, x_stride, p->count - begin) ||
        !rows_fit(length, rows, y_stride, SIZE_MAX / p->y_size) || (rows > 1 && y_stride < length))
        return DQL_ERROR_RANGE;
    if (!x || !scale || !y)
        return DQL_ERROR_NULL;
    if (zero && p->zero_bits) {
        if (!zeros_of_rows_are_zero(p, zero, begin, length, rows, x_stride))
            return DQL_ERROR_ZERO_POINT;
        zero = NULL;
    }
    tile t;
    if (run_rows(p, &t, x, scale, zero, begin, length, rows, x_stride, y, y_stride))
        return DQL_OK;
    call c;
    open_call(&c, p, &t, x, scale, zero, rows * length);
    walk_rows(&c, begin, length, rows, x_stride, y, y_stride);
    close_call(&c);
    return DQL_OK;
}

dql_status dql_dequantize(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y) {
    dql_plan plan;
    const dql_status status = dql_plan_init(&plan, spec);
    return status ? status : dql_run(&plan, x, scale, zero, y);
}
