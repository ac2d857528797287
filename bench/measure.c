#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "measure.h"

#include "buffers.h"
#include "dispatch/cpu.h"
#include "limits.h"

#include <stdlib.h>
#include <time.h>

enum { BATCH_NS = 20000, MAX_SAMPLES = 4096 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The time of one of `calls` calls. */
static double time_calls(void (*call)(void *), void *context, size_t calls) {
    const double begin = now_ns();
    for (size_t k = 0; k < calls; k++)
        call(context);
    return (now_ns() - begin) / (double)calls;
}

/* Whether so many calls last BATCH_NS: twice in a row, and so not only because something else had the core. */
static bool are_enough(void (*call)(void *), void *context, size_t calls) {
    for (int k = 0; k < 2; k++)
        if (time_calls(call, context, calls) * (double)calls < BATCH_NS)
            return false;
    return true;
}

/* Calls that last BATCH_NS. */
static size_t calls_of(void (*call)(void *), void *context) {
    size_t calls = 1;
    while (!are_enough(call, context, calls))
        calls *= 2;
    return calls;
}

typedef struct samples {
    size_t count;
    double min, first[MAX_SAMPLES];
} samples;

static void add(samples *s, double ns) {
    s->min = s->count == 0 || ns < s->min ? ns : s->min;
    if (s->count < MAX_SAMPLES)
        s->first[s->count] = ns;
    s->count++;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(samples *s) {
    const size_t n = s->count < MAX_SAMPLES ? s->count : MAX_SAMPLES;
    qsort(s->first, n, sizeof *s->first, compare);
    return n ? s->first[n / 2] : 0;
}

/* ---- the limits ---- */

typedef struct limit_call {
    const limits *limits;
    const void *x;
    void *y;
    size_t x_bytes, y_bytes;
} limit_call;

static void call_fill(void *context) {
    const limit_call *c = context;
    c->limits->fill(c->y, c->y_bytes);
}

static void call_stream(void *context) {
    const limit_call *c = context;
    c->limits->stream(c->y, c->x, c->x_bytes, c->y_bytes);
}

static void call_stream_nt(void *context) {
    const limit_call *c = context;
    c->limits->stream_nt(c->y, c->x, c->x_bytes, c->y_bytes);
}

typedef struct limit {
    const char *counter;
    void (*call)(void *context);
    size_t calls;
    samples samples;
} limit;

enum { FILL, STREAM, STREAM_NT, LIMITS };

/* Limits that make sense for some work; returns how many bytes theirs are for each of its. */
static double choose_limits(limit *all, limit_call *c, const work *w) {
    *c = (limit_call){.limits = limits_of_cpu()};
    for (size_t k = 0; k < LIMITS; k++)
        all[k].samples.count = all[k].calls = 0;
    if (!w->y_bytes)
        return 1;
    c->y_bytes = (w->y_bytes + LIMIT_BLOCK - 1) / LIMIT_BLOCK * LIMIT_BLOCK;
    c->y = buffer_y(c->y_bytes);
    all[FILL].calls = calls_of(call_fill, c);
    if (w->x_bytes) {
        /* The ratio of the types; of few elements x_bytes may be rounded up. */
        size_t ratio = 1;
        while (ratio * w->x_bytes < w->y_bytes)
            ratio *= 2;
        c->x_bytes = w->x_bytes > w->y_bytes ? 2 * c->y_bytes : c->y_bytes / ratio;
        c->x = buffer_x(DQL_INT8, c->x_bytes);
        all[STREAM].calls = calls_of(call_stream, c);
        if (c->limits->stream_nt && w->y_bytes > dql_cpu_last_level_cache())
            all[STREAM_NT].calls = calls_of(call_stream_nt, c);
    }
    return (double)c->y_bytes / (double)w->y_bytes;
}

/* ---- both ---- */

double measure(bench_state *state, work *w) {
    static samples own, fixed;
    static limit all[LIMITS] = {
        {.counter = "of_fill", .call = call_fill},
        {.counter = "of_stream", .call = call_stream},
        {.counter = "of_stream_nt", .call = call_stream_nt},
    };
    limit_call c;
    const double excess = choose_limits(all, &c, w);
    const size_t fixed_calls = w->fixed ? calls_of(w->fixed, w->fixed_context) : 0;
    if (!w->calls)
        w->calls = calls_of(w->call, w->context);
    own.count = fixed.count = 0;
    while (bench_next(state, w->calls)) {
        add(&own, time_calls(w->call, w->context, w->calls));
        bench_pause(state);
        if (fixed_calls)
            add(&fixed, time_calls(w->fixed, w->fixed_context, fixed_calls));
        for (size_t k = 0; k < LIMITS; k++)
            if (all[k].calls)
                add(&all[k].samples, time_calls(all[k].call, &c, all[k].calls));
        bench_resume(state);
    }
    const double min = own.min - (fixed_calls ? fixed.min : 0);
    bench_counter(state, "min_ns", min);
    bench_counter(state, "median_ns", median(&own) - (fixed_calls ? median(&fixed) : 0));
    bench_counter(state, "Gelem/s", (double)w->elements / min);
    if (w->y_bytes)
        bench_counter(state, "GB/s", (double)w->y_bytes / min);
    for (size_t k = 0; k < LIMITS; k++)
        if (all[k].calls)
            bench_counter(state, all[k].counter, all[k].samples.min / excess / min);
    return min;
}
