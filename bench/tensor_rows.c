/* Calls of the public API, all of a tensor or a part of it. Scales are of y's type, as in opset 21.
 *
 *     tensor/<x>/<y>/<granularity>/<isa>/<elements>          dql_run
 *     tensor/<x>/<y>/<granularity>_<cached|stream>/...       with this way of storing; else it is AUTO
 *     tensor/<x>/<y>/<granularity>_rows32x64/<isa>/2048      dql_run_rows: one panel of a [512,512] tensor after the
 * other tensor/<x>/<y>/<granularity>_range32/<isa>/32          dql_run_range: 32 elements of it after the other */
#include "buffers.h"
#include "cases.h"
#include "dispatch/dispatch.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct tensor_row {
    tensor_case tensor;
    enum { WHOLE, ROWS, RANGE } part;
    dql_isa isa;
    dql_store store;
    dql_plan plan;
    const void *x, *scale, *zero;
    void *y;
    size_t turn; /* which part is next */
    enum { NOT_CHECKED, RIGHT, WRONG } check;
    work work;
} tensor_row;

enum { PANEL_ROWS = 32, PANEL_COLUMNS = 64, RANGE_ELEMENTS = 32, MATRIX = 512 };

static void call_whole(void *context) {
    const tensor_row *r = context;
    dql_run(&r->plan, r->x, r->scale, r->zero, r->y);
}

static void call_rows(void *context) {
    tensor_row *r = context;
    const size_t across = MATRIX / PANEL_COLUMNS, down = MATRIX / PANEL_ROWS, panel = r->turn++ % (across * down);
    dql_run_rows(&r->plan, r->x, r->scale, r->zero,
                 panel / across * PANEL_ROWS * MATRIX + panel % across * PANEL_COLUMNS, PANEL_COLUMNS, PANEL_ROWS,
                 MATRIX, r->y, PANEL_COLUMNS);
}

static void call_range(void *context) {
    tensor_row *r = context;
    const size_t begin = r->turn++ % (MATRIX * MATRIX / RANGE_ELEMENTS) * RANGE_ELEMENTS;
    dql_run_range(&r->plan, r->x, r->scale, r->zero, begin, begin + RANGE_ELEMENTS, r->y);
}

/* All of a small tensor, parts of a large one, against the scalar plan's. */
static bool whole_is_right(tensor_row *r, const dql_plan *scalar) {
    const size_t y_size = r->tensor.y->bits / 8, piece = CHECK_BYTES / y_size, elements = r->tensor.elements;
    const size_t pieces = (elements + piece - 1) / piece, every = pieces / 64 + 1;
    call_whole(r);
    for (size_t p = 0; p < pieces; p += every) {
        const size_t begin = p * piece, end = elements - begin < piece ? elements : begin + piece;
        if (dql_run_range(scalar, r->x, r->scale, r->zero, begin, end, buffer_check()) ||
            !same_elements(r->tensor.y->type, (const char *)r->y + begin * y_size, buffer_check(), end - begin))
            return false;
    }
    return true;
}

/* The same calls of the scalar plan, for a while. */
static bool parts_are_right(tensor_row *r, const dql_plan *scalar) {
    tensor_row other = *r;
    other.plan = *scalar;
    other.y = buffer_check();
    for (size_t k = 0; k < 500; k++) {
        (r->part == ROWS ? call_rows : call_range)(r);
        (r->part == ROWS ? call_rows : call_range)(&other);
        const size_t elements = r->part == ROWS ? PANEL_ROWS * PANEL_COLUMNS : RANGE_ELEMENTS;
        if (!same_elements(r->tensor.y->type, r->y, other.y, elements))
            return false;
    }
    return true;
}

static bool is_right(tensor_row *r) {
    dql_plan scalar;
    dql_spec spec = r->tensor.spec;
    spec.isa = DQL_ISA_SCALAR;
    if (dql_plan_init(&scalar, &spec))
        return false;
    return r->part == WHOLE ? whole_is_right(r, &scalar) : parts_are_right(r, &scalar);
}

static void body(bench_state *state, void *what) {
    static void (*const calls[])(void *) = {call_whole, call_rows, call_range};
    tensor_row *r = what;
    tensor_case *t = &r->tensor;
    t->spec.isa = (int32_t)r->isa;
    t->spec.store = (int32_t)r->store;
    const dql_status status = dql_plan_init(&r->plan, tensor_case_spec(t));
    if (status) {
        bench_skip(state, status == DQL_ERROR_ISA ? "not available on this CPU" : dql_status_text(status));
        return;
    }
    if (r->store == DQL_STORE_STREAM && !dql_isa_find((int)r->isa)->kernels->stream) {
        bench_skip(state, "this ISA has no streaming stores");
        return;
    }
    r->x = buffer_x(t->x->type, type_bytes(t->x->bits, t->elements));
    r->y = buffer_y(type_bytes(t->y->bits, t->elements));
    r->scale = buffer_scale((dql_type)t->spec.scale_type, t->scales);
    r->zero = t->has_zero ? buffer_zero(type_bytes(t->x->bits, t->scales)) : NULL;
    const size_t elements = r->part == WHOLE  ? t->elements
                            : r->part == ROWS ? (size_t)(PANEL_ROWS * PANEL_COLUMNS)
                                              : RANGE_ELEMENTS;
    r->work = (work){.call = calls[r->part],
                     .context = r,
                     .elements = elements,
                     .x_bytes = type_bytes(t->x->bits, elements),
                     .y_bytes = type_bytes(t->y->bits, elements),
                     .calls = r->work.calls};
    if (r->check == NOT_CHECKED)
        r->check = is_right(r) ? RIGHT : WRONG;
    if (r->check == WRONG)
        bench_skip(state, "wrong: not the scalar ISA's bits");
    else
        measure(state, &r->work);
}

static void add(const tensor_case *t, int part, dql_isa isa, dql_store store) {
    static const char *const parts[] = {"", "_rows32x64", "_range32"};
    static const char *const stores[] = {"", "_cached", "_stream"};
    static const size_t elements[] = {0, PANEL_ROWS * PANEL_COLUMNS, RANGE_ELEMENTS};
    tensor_row *r = calloc(1, sizeof *r);
    if (!r)
        return;
    r->tensor = *t;
    r->part = part;
    r->isa = isa;
    r->store = store;
    char name[160];
    snprintf(name, sizeof name, "tensor/%s/%s/%s%s%s/%s/%zu", t->x->name, t->y->name, t->name, parts[part],
             stores[store], dql_isa_name(isa), part == WHOLE ? t->elements : elements[part]);
    bench_register(name, body, r);
}

static void add_case(const bench_case *c, size_t elements, const bench_type *x, const bench_type *y, bool has_zero,
                     dql_isa isa) {
    tensor_case t;
    if (!tensor_case_make(&t, c, elements, x, y, has_zero))
        return;
    add(&t, WHOLE, isa, DQL_STORE_AUTO);
    if (elements >= 1 << 24) {
        add(&t, WHOLE, isa, DQL_STORE_CACHED);
        add(&t, WHOLE, isa, DQL_STORE_STREAM);
    }
    if (elements == MATRIX * MATRIX && !c->columns) {
        add(&t, ROWS, isa, DQL_STORE_AUTO);
        add(&t, RANGE, isa, DQL_STORE_AUTO);
    }
}

static void add_isa(dql_isa isa) {
    for (size_t x = 0; x < X_TYPES; x++)
        for (size_t y = 0; y < Y_TYPES; y++)
            for (size_t c = 0; c < CASES; c++)
                for (size_t s = 0; s < CASE_SIZES; s++) {
                    const bool can_have_zero = !x_types[x].is_float && x_types[x].type != DQL_INT32;
                    add_case(&cases[c], case_sizes[s], &x_types[x], &y_types[y], false, isa);
                    if (can_have_zero)
                        add_case(&cases[c], case_sizes[s], &x_types[x], &y_types[y], true, isa);
                }
}

/* Both ways to store, at sizes around the last-level cache's. From 16 Mi elements on all types have these rows. */
static void add_stores(dql_isa isa) {
    for (size_t x = 0; x < X_TYPES; x++)
        for (size_t y = 0; x_types[x].type == DQL_INT8 && y < 2; y++)
            for (size_t c = 0; c < CASES; c++)
                for (size_t elements = 1 << 17; elements <= 1 << 25; elements *= 2) {
                    tensor_case t;
                    if (elements == 1 << 24 || cases[c].columns ||
                        !tensor_case_make(&t, &cases[c], elements, &x_types[x], &y_types[y], true))
                        continue;
                    add(&t, WHOLE, isa, DQL_STORE_CACHED);
                    add(&t, WHOLE, isa, DQL_STORE_STREAM);
                }
}

void register_tensors(void) {
    /* Every ISA that is compiled in; the plan tells which this CPU lacks. */
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_compiled(isa))
            add_isa((dql_isa)isa);
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_compiled(isa))
            add_stores((dql_isa)isa);
}
