/* limit/clock                                   GHz, from a chain of additions that each take a cycle
 * limit/<fill|memcpy>/<bytes>
 * limit/<stream|stream_nt>/<x bits>to<y bits>/<elements> */
#include "buffers.h"
#include "limits.h"
#include "measure.h"
#include "rows.h"

#include <stdio.h>
#include <string.h>

typedef struct limit_row {
    enum { FILL, MEMCPY, STREAM, STREAM_NT } kind;
    size_t x_bytes, y_bytes, elements;
    const void *x;
    void *y;
    work work;
} limit_row;

static void call(void *context) {
    const limit_row *r = context;
    const limits *l = limits_of_cpu();
    switch (r->kind) {
    case FILL: l->fill(r->y, r->y_bytes); break;
    case MEMCPY: memcpy(r->y, r->x, r->y_bytes); break;
    case STREAM: l->stream(r->y, r->x, r->x_bytes, r->y_bytes); break;
    case STREAM_NT: l->stream_nt(r->y, r->x, r->x_bytes, r->y_bytes); break;
    }
}

static void body(bench_state *state, void *what) {
    limit_row *r = what;
    if (r->kind == STREAM_NT && !limits_of_cpu()->stream_nt) {
        bench_skip(state, "no non-temporal stores on this CPU");
        return;
    }
    r->x = buffer_x(DQL_INT8, r->x_bytes);
    r->y = buffer_y(r->y_bytes);
    r->work = (work){.call = call, .context = r, .elements = r->elements, .calls = r->work.calls};
    bench_counter(state, "GB/s", (double)r->y_bytes / measure(state, &r->work));
}

enum { ADDITIONS = 10000 };

static void add_in_a_chain(void *context) {
    uint64_t sum = *(uint64_t *)context;
    for (size_t k = 0; k < ADDITIONS; k++) {
        sum += sum;
        __asm__ volatile("" : "+r"(sum));
    }
    *(uint64_t *)context = sum;
}

static void clock_body(bench_state *state, void *what) {
    (void)what;
    static uint64_t sum = 1;
    static work w = {.call = add_in_a_chain, .context = &sum, .elements = ADDITIONS};
    measure(state, &w); /* Gelem/s is GHz */
}

static void add(limit_row row, const char *name) {
    enum { MOST = 128 };
    static limit_row rows[MOST];
    static size_t count;
    if (count < MOST) {
        rows[count] = row;
        bench_register(name, body, &rows[count++]);
    }
}

void register_limits(void) {
    static const size_t sizes[] = {4096, 1 << 18, 1 << 26};
    static const unsigned x_bits[] = {4, 8, 16, 32};
    char name[80];
    bench_register("limit/clock", clock_body, NULL);
    for (size_t s = 0; s < 3; s++) {
        const size_t bytes = sizes[s] * 4;
        snprintf(name, sizeof name, "limit/fill/%zu", bytes);
        add((limit_row){.kind = FILL, .y_bytes = bytes, .elements = bytes}, name);
        snprintf(name, sizeof name, "limit/memcpy/%zu", bytes);
        add((limit_row){.kind = MEMCPY, .x_bytes = bytes, .y_bytes = bytes, .elements = bytes}, name);
        for (size_t b = 0; b < 4; b++)
            for (unsigned y_bits = 16; y_bits <= 32; y_bits *= 2)
                for (int nt = 0; nt < 2; nt++) {
                    snprintf(name, sizeof name, "limit/stream%s/%uto%u/%zu", nt ? "_nt" : "", x_bits[b], y_bits,
                             sizes[s]);
                    add((limit_row){.kind = nt ? STREAM_NT : STREAM,
                                    .x_bytes = type_bytes(x_bits[b], sizes[s]),
                                    .y_bytes = type_bytes(y_bits, sizes[s]),
                                    .elements = sizes[s]},
                        name);
                }
    }
}
