/* A large tensor, dequantized by a team of OpenMP threads: a plan is made once, and each thread runs a slice of it.
 *
 *     cc -fopenmp openmp.c $(pkg-config --cflags --libs dql) */
#include <dql/dql.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2048, COLUMNS = 4096 };

/* y = dequantize(x), by all threads. Any cut gives the same bits. */
static dql_status run_by_team(const dql_plan *plan, const void *x, const void *scale, const void *zero, float *y) {
    const int slices = omp_get_max_threads(); /* as many as threads: they are equally large, and OpenMP doesn't steal */
    int status = DQL_OK;
#pragma omp parallel for schedule(static) reduction(max : status)
    for (int slice = 0; slice < slices; slice++) {
        size_t begin, end;
        dql_plan_slice(plan, (size_t)slices, (size_t)slice, &begin, &end);
        const int result = (int)dql_run_range(plan, x, scale, zero, begin, end, y + begin);
        status = result > status ? result : status;
    }
    return (dql_status)status;
}

static int fail(const char *why) {
    fprintf(stderr, "openmp: %s\n", why);
    return EXIT_FAILURE;
}

int main(void) {
    const size_t count = (size_t)ROWS * COLUMNS;
    uint8_t *x = malloc(count);
    float *scale = malloc(ROWS * sizeof *scale), *y = malloc(count * sizeof *y), *expected = malloc(count * sizeof *y);
    if (!x || !scale || !y || !expected)
        return fail("no memory");
    for (size_t i = 0; i < count; i++)
        x[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < ROWS; i++)
        scale[i] = 1 / (float)(i + 3);

    const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS};
    const dql_spec spec = {.x_type = DQL_UINT8,
                           .scale_type = DQL_FLOAT32,
                           .y_type = DQL_FLOAT32,
                           .store = DQL_STORE_STREAM, /* y fits no cache; AUTO would see the bytes of one slice only */
                           .rank = 2,
                           .shape = shape,
                           .scale_rank = 1,
                           .scale_shape = scale_shape,
                           .axis = 0};
    dql_plan plan;
    dql_status status = dql_plan_init(&plan, &spec);
    if (status == DQL_OK)
        status = run_by_team(&plan, x, scale, NULL, y);
    if (status == DQL_OK)
        status = dql_run(&plan, x, scale, NULL, expected);
    if (status != DQL_OK)
        return fail(dql_status_text(status));
    if (memcmp(y, expected, count * sizeof *y) != 0)
        return fail("not what one thread computes");
    printf("%zu elements by %d threads\n", count, omp_get_max_threads());
    free(x), free(scale), free(y), free(expected);
    return EXIT_SUCCESS;
}
