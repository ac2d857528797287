/* onnxruntime/<x>/<y>/<granularity>/<elements>: ONNX Runtime on the same tensors, one thread, output preallocated. What
 * a Run() of one element costs is taken off. DQL_BENCH_ORT in the environment is its library's path. */
#include "buffers.h"
#include "cases.h"
#include "measure.h"
#include "onnxruntime.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ort_row {
    tensor_case tensor;
    enum { NOT_CHECKED, RIGHT, WRONG } check;
    work work;
} ort_row;

static void call(void *context) {
    ort_run(context);
}

/* A session for one element, which is the same node otherwise; NULL if this pair of types is refused. */
static ort_session *open_one_element(const tensor_case *t) {
    const int64_t one[] = {1, 1};
    dql_spec spec = t->spec;
    spec.shape = one;
    spec.scale_rank = 0;
    spec.block_size = 0;
    const char *why;
    return ort_open(&spec, buffer_x(t->x->type, 4), buffer_scale((dql_type)t->spec.scale_type, 1),
                    t->has_zero ? buffer_zero(4) : NULL, buffer_y(4), &why);
}

/* Against dql's scalar ISA: the first elements, which is enough to know that both were asked the same. */
static bool is_right(const tensor_case *t, const void *x, const void *scale, const void *zero, const void *y) {
    const size_t most = CHECK_BYTES / (t->y->bits / 8), n = t->elements < most ? t->elements : most;
    dql_spec spec = t->spec;
    spec.isa = DQL_ISA_SCALAR;
    dql_plan plan;
    return dql_plan_init(&plan, &spec) == DQL_OK &&
           dql_run_range(&plan, x, scale, zero, 0, n, buffer_check()) == DQL_OK &&
           same_elements(t->y->type, y, buffer_check(), n);
}

static void body(bench_state *state, void *what) {
    ort_row *r = what;
    tensor_case *t = &r->tensor;
    const void *x = buffer_x(t->x->type, type_bytes(t->x->bits, t->elements));
    const void *scale = buffer_scale((dql_type)t->spec.scale_type, t->scales);
    const void *zero = t->has_zero ? buffer_zero(type_bytes(t->x->bits, t->scales)) : NULL;
    void *y = buffer_y(type_bytes(t->y->bits, t->elements));
    const char *why;
    ort_session *s = ort_open(tensor_case_spec(t), x, scale, zero, y, &why);
    if (!s) {
        bench_skip(state, why);
        return;
    }
    ort_session *one = open_one_element(t);
    if (r->check == NOT_CHECKED)
        r->check = is_right(t, x, scale, zero, y) ? RIGHT : WRONG;
    r->work = (work){.call = call,
                     .context = s,
                     .elements = t->elements,
                     .x_bytes = type_bytes(t->x->bits, t->elements),
                     .y_bytes = type_bytes(t->y->bits, t->elements),
                     .fixed = one ? call : NULL,
                     .fixed_context = one,
                     .calls = r->work.calls};
    if (r->check == WRONG)
        bench_skip(state, "ONNX Runtime's bits are not dql's");
    else
        measure(state, &r->work);
    ort_close(one);
    ort_close(s);
}

static void add(const bench_case *c, size_t elements, const bench_type *x, const bench_type *y) {
    ort_row *r = calloc(1, sizeof *r);
    if (!r || !tensor_case_make(&r->tensor, c, elements, x, y, !x->is_float && x->type != DQL_INT32)) {
        free(r);
        return;
    }
    char name[160];
    snprintf(name, sizeof name, "onnxruntime/%s/%s/%s/%zu", x->name, y->name, r->tensor.name, r->tensor.elements);
    bench_register(name, body, r);
}

void register_onnxruntime(void) {
    const char *library = getenv("DQL_BENCH_ORT");
    const char *error = library && *library ? ort_load(library) : "DQL_BENCH_ORT does not name its library";
    if (error) {
        fprintf(stderr, "No onnxruntime rows: %s\n", error);
        return;
    }
    fprintf(stderr, "ONNX Runtime %s\n", ort_version());
    for (size_t x = 0; x < X_TYPES; x++)
        for (size_t y = 0; y < Y_TYPES; y++)
            for (size_t c = 0; c < CASES; c++)
                for (size_t s = 1; s < CASE_SIZES; s++) /* 64 elements are less than the noise of a Run() */
                    add(&cases[c], case_sizes[s], &x_types[x], &y_types[y]);
}
