/* One kernel call, its scales and zero points widened before. Granularities: tensor (one scale), axis_last (a scale
 * an element), block<length>, run<length>. ISAs: those of the library, and `autovec`, the scalar
 * source at the mercy of the compiler with -O3 and all that this CPU has. */
#include "buffers.h"
#include "dispatch/dispatch.h"
#include "measure.h"
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct granularity {
    const char *name;
    size_t group_length; /* 0: all elements */
} granularity;

static const granularity granularities[] = {{"tensor", 0}, {"axis_last", 1}, {"run3", 3},     {"run9", 9},
                                            {"run49", 49}, {"block16", 16},  {"block32", 32}, {"block128", 128}};
static const size_t sizes[] = {64, 4096, 1 << 18};

enum {
    ROW = 256, /* elements */
    GRANULARITIES = sizeof granularities / sizeof *granularities,
    SIZES = sizeof sizes / sizeof *sizes,
};

typedef struct kernel_row {
    const bench_type *x, *y;
    size_t group_length, elements;
    const dql_kernels *kernels;
    const char *unavailable; /* or NULL */
    dql_kernel *kernel;
    const void *x_bytes;
    void *y_bytes;
    const float *scale;
    const int32_t *zero;
    enum { NOT_CHECKED, RIGHT, WRONG } check;
    work work;
} kernel_row;

/* As the library calls it: with a scale an element, for several rows with the same scales. */
static void call(void *context) {
    const kernel_row *r = context;
    const size_t row = r->group_length == 1 && r->elements > ROW ? ROW : r->elements;
    const dql_panel p = {.x = r->x_bytes,
                         .y = r->y_bytes,
                         .count = row,
                         .rows = r->elements / row,
                         .group_length = r->group_length,
                         .x_stride = row,
                         .y_stride = row,
                         .scale = r->scale,
                         .zero = r->zero};
    r->kernel(&p);
}

/* The kernel's y against the scalar kernel's, piece by piece. */
static bool is_right(const kernel_row *r, size_t scales) {
    const dql_kernels *scalar = dql_isa_find(DQL_ISA_SCALAR)->kernels;
    const size_t y_size = r->y->bits / 8, most = CHECK_BYTES / y_size;
    const size_t piece = r->group_length == 1     ? ROW
                         : r->group_length < most ? most / r->group_length * r->group_length
                                                  : most;
    call((void *)r);
    const int32_t *const zero = buffer_widened(scalar, r->x->type, scales);
    for (size_t k = 0; k < r->elements; k += piece) {
        const size_t n = r->elements - k < piece ? r->elements - k : piece;
        const size_t first = r->group_length == 1 ? 0 : k / r->group_length;
        const dql_panel p = {.x = r->x_bytes,
                             .i = k,
                             .y = buffer_check(),
                             .count = n,
                             .rows = 1,
                             .group_length = r->group_length,
                             .scale = r->scale + first,
                             .zero = zero + first};
        dql_kernel_of(scalar, r->x->type, (size_t)(r->y - y_types))(&p);
        if (!same_elements(r->y->type, (const char *)r->y_bytes + k * y_size, buffer_check(), n))
            return false;
    }
    return true;
}

static void body(bench_state *state, void *what) {
    kernel_row *r = what;
    if (r->unavailable) {
        bench_skip(state, r->unavailable);
        return;
    }
    const size_t scales = (r->elements + r->group_length - 1) / r->group_length;
    r->kernel = dql_kernel_of(r->kernels, r->x->type, (size_t)(r->y - y_types));
    r->x_bytes = buffer_x(r->x->type, type_bytes(r->x->bits, r->elements));
    r->y_bytes = buffer_y(type_bytes(r->y->bits, r->elements));
    r->scale = buffer_scale(DQL_FLOAT32, scales);
    r->zero = buffer_widened(r->kernels, r->x->type, scales);
    r->work = (work){.call = call,
                     .context = r,
                     .elements = r->elements,
                     .x_bytes = type_bytes(r->x->bits, r->elements),
                     .y_bytes = type_bytes(r->y->bits, r->elements),
                     .calls = r->work.calls};
    if (r->check == NOT_CHECKED) {
        r->check = is_right(r, scales) ? RIGHT : WRONG;
        buffer_widened(r->kernels, r->x->type, scales);
    }
    if (r->check == WRONG)
        bench_skip(state, "wrong: not the scalar kernel's bits");
    else
        measure(state, &r->work);
}

static void add_isa(const char *isa, const dql_kernels *kernels, const char *unavailable) {
    kernel_row *r = calloc((size_t)X_TYPES * Y_TYPES * GRANULARITIES * SIZES, sizeof *r);
    if (!r)
        return;
    for (size_t x = 0; x < X_TYPES; x++)
        for (size_t y = 0; y < Y_TYPES; y++)
            for (size_t g = 0; g < GRANULARITIES; g++)
                for (size_t s = 0; s < SIZES; s++) {
                    if (granularities[g].group_length > sizes[s])
                        continue;
                    char name[128];
                    snprintf(name, sizeof name, "kernel/%s/%s/%s/%s/%zu", x_types[x].name, y_types[y].name,
                             granularities[g].name, isa, sizes[s]);
                    *r = (kernel_row){.x = &x_types[x],
                                      .y = &y_types[y],
                                      .group_length =
                                          granularities[g].group_length ? granularities[g].group_length : sizes[s],
                                      .elements = sizes[s],
                                      .kernels = kernels,
                                      .unavailable = unavailable};
                    bench_register(name, body, r++);
                }
}

#ifdef BENCH_AUTOVEC
extern const dql_kernels bench_autovec;
#endif

void register_kernels(void) {
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_available((dql_isa)isa))
            add_isa(dql_isa_name((dql_isa)isa), dql_isa_find(isa)->kernels, NULL);
        else if (dql_isa_compiled(isa))
            add_isa(dql_isa_name((dql_isa)isa), NULL, "not available on this CPU");
#ifdef BENCH_AUTOVEC
    add_isa("autovec", &bench_autovec, NULL);
#endif
}
