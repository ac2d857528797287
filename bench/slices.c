/* How a call scales when it is cut into slices and run on a thread pool, and which slices are good: tables in Markdown,
 * for docs/integration.md. Rows are granularities, columns are bytes of y in a slice. A tensor is run in pieces that
 * take less than a millisecond. A cell is the median of the pieces, each by the shortest of many runs, since neighbours
 * only ever make one longer; all cells take turns, so that they meet the same machine. */
#define _GNU_SOURCE /* clock_gettime, sysconf, sched_setaffinity */
#include "buffers.h"
#include "cases.h"

#include <pthreadpool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

static const struct shape {
    const char *title;
    size_t elements;
    dql_store store;
    size_t pieces;
} shapes[] = {
    {"1 MiB of y, in the L2 cache", 1 << 18, DQL_STORE_CACHED, 1},
    {"64 MiB of y, in memory, `DQL_STORE_STREAM`", 1 << 24, DQL_STORE_STREAM, 16},
    {"64 MiB of y, in memory, `DQL_STORE_CACHED`", 1 << 24, DQL_STORE_CACHED, 16},
};

/* To float32. */
static const struct row {
    dql_type x_type;
    const char *granularity;
} rows[] = {
    {DQL_INT8, "tensor"},   {DQL_INT8, "axis_first"},     {DQL_INT8, "axis_last"},
    {DQL_UINT4, "block32"}, {DQL_UINT4, "block32_first"},
};

static const size_t slice_bytes[] = {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 0 /* a slice a thread */};

enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    ROWS = sizeof rows / sizeof *rows,
    COLUMNS = sizeof slice_bytes / sizeof *slice_bytes,
    MAX_POOLS = 2, /* of one thread, and of one a core */
    MAX_PIECES = 16,
    TURNS = 4,    /* one after the other */
    SECONDS = 12, /* for each shape */
};

typedef struct job {
    dql_plan plan;
    const void *x, *scale, *zero;
    float *y;
    size_t slices, first; /* of the whole tensor; the first of this piece */
} job;

static void run_slice(void *context, size_t slice) {
    const job *j = context;
    size_t begin, end;
    dql_plan_slice(&j->plan, j->slices, j->first + slice, &begin, &end);
    dql_run_range(&j->plan, j->x, j->scale, j->zero, begin, end, j->y + begin);
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The tensor of a row at the size of a shape; false if there is none. */
static bool prepare(job *j, tensor_case *t, const struct row *row, const struct shape *shape) {
    const bench_type *x = x_types, *y = y_types;
    const bench_case *c = cases;
    while (x->type != row->x_type)
        x++;
    while (y->type != DQL_FLOAT32)
        y++;
    while (strcmp(c->name, row->granularity) != 0 || c->columns)
        c++;
    if (!tensor_case_make(t, c, shape->elements, x, y, true))
        return false;
    t->spec.store = (int32_t)shape->store;
    j->x = buffer_x(x->type, type_bytes(x->bits, t->elements));
    j->y = buffer_y(type_bytes(y->bits, t->elements));
    j->scale = buffer_scale(y->type, t->scales);
    j->zero = buffer_zero(type_bytes(x->bits, t->scales));
    return dql_plan_init(&j->plan, tensor_case_spec(t)) == DQL_OK;
}

typedef double times[MAX_POOLS][ROWS][COLUMNS][MAX_PIECES]; /* ns */

/* Runs all pieces, and keeps the shortest time of each. */
static void run_pieces(double *best, pthreadpool_t pool, job *j, size_t pieces, size_t bytes) {
    const size_t piece_bytes = dql_plan_count(&j->plan) * sizeof *j->y / pieces;
    const size_t slices = bytes ? piece_bytes / bytes : pthreadpool_get_threads_count(pool);
    j->slices = pieces * slices;
    for (size_t p = 0; p < pieces; p++) {
        j->first = p * slices;
        const double begin = now_ns();
        pthreadpool_parallelize_1d(pool, run_slice, j, slices, 0);
        const double ns = now_ns() - begin;
        if (best[p] == 0 || ns < best[p])
            best[p] = ns;
    }
}

static void measure(times best, const struct shape *shape, pthreadpool_t *pools, size_t pool_count) {
    static job jobs[ROWS];
    static tensor_case tensors[ROWS];
    for (size_t r = 0; r < ROWS; r++)
        if (!prepare(&jobs[r], &tensors[r], &rows[r], shape)) {
            fprintf(stderr, "slices: no %s of %zu elements\n", rows[r].granularity, shape->elements);
            exit(EXIT_FAILURE);
        }
    const double end = now_ns() + SECONDS * 1e9;
    do
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLUMNS; c++)
                for (size_t p = 0; p < pool_count; p++)
                    for (int turn = 0; turn < TURNS; turn++) /* what a cache can hold is there in the second */
                        run_pieces(best[p][r][c], pools[p], &jobs[r], shape->pieces, slice_bytes[c]);
    while (now_ns() < end);
}

static void print_head(const char *title, size_t cores) {
    printf("\n%s; 10⁹ elements a second on one core", title);
    if (cores > 1)
        printf(" / on %zu", cores);
    printf(":\n\n| bytes of y in a slice |");
    for (size_t c = 0; c < COLUMNS; c++)
        if (slice_bytes[c])
            printf(" %zu KiB |", slice_bytes[c] >> 10);
    printf(" a slice a core |\n|---|");
    for (size_t c = 0; c < COLUMNS; c++)
        printf("---|");
    printf("\n");
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static void print(const struct shape *shape, times best, size_t pool_count, size_t cores) {
    print_head(shape->title, cores);
    for (size_t r = 0; r < ROWS; r++) {
        printf("| %s, %s |", rows[r].x_type == DQL_INT8 ? "int8" : "uint4", rows[r].granularity);
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t p = 0; p < pool_count; p++)
                printf(" %.1f %s", (double)(shape->elements / shape->pieces) / median(best[p][r][c], shape->pieces),
                       p + 1 < pool_count ? "/" : "|");
        printf("\n");
    }
    fflush(stdout);
}

/* This thread, and those it creates, run on cores [first, end) only. Two threads on one core, where a scheduler may
 * have them for a while, would wait for each other. */
static void stay_on_cores(size_t first, size_t end) {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t core = first; core < end; core++)
        CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set); /* if it is not allowed, the numbers are noisier */
#else
    (void)first;
    (void)end;
#endif
}

int main(void) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t cores = online > 1 ? (size_t)online : 1, pool_count = cores > 1 ? 2 : 1;
    stay_on_cores(cores > 1, cores);
    pthreadpool_t pools[MAX_POOLS] = {pthreadpool_create(1), pthreadpool_create(cores)};
    stay_on_cores(0, 1);
    if (!pools[0] || !pools[1]) {
        fprintf(stderr, "slices: no thread pool\n");
        return EXIT_FAILURE;
    }
    printf("On %zu cores, %s, to float32:\n", cores, dql_isa_name(dql_isa_active()));
    for (size_t s = 0; s < SHAPES; s++) {
        static times best;
        memset(best, 0, sizeof best);
        measure(best, &shapes[s], pools, pool_count);
        print(&shapes[s], best, pool_count, cores);
    }
    for (size_t p = 0; p < MAX_POOLS; p++)
        pthreadpool_destroy(pools[p]);
    return EXIT_SUCCESS;
}
