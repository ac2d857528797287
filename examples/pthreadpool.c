/* A tensor, dequantized on a pthreadpool, the thread pool of XNNPACK and PyTorch. The pool lets threads that are done
 * take slices from those that are not, so there are more slices than threads.
 *
 *     cc pthreadpool.c $(pkg-config --cflags --libs dql) -lpthreadpool */
#include <dql/dql.h>
#include <pthreadpool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, COLUMNS = 2000, BLOCK = 32, BLOCKS = (COLUMNS + BLOCK - 1) / BLOCK };

/* What every slice needs to know. */
typedef struct job {
    const dql_plan *plan;
    const void *x, *scale, *zero;
    uint16_t *y; /* bfloat16 */
    size_t slices;
    _Atomic(dql_status) status;
} job;

static void run_slice(void *context, size_t slice) {
    job *j = context;
    size_t begin, end;
    dql_plan_slice(j->plan, j->slices, slice, &begin, &end);
    const dql_status status = dql_run_range(j->plan, j->x, j->scale, j->zero, begin, end, j->y + begin);
    if (status != DQL_OK)
        j->status = status;
}

/* y = dequantize(x) on a pool. */
static dql_status run_on_pool(pthreadpool_t pool, const dql_plan *plan, const void *x, const void *scale,
                              const void *zero, uint16_t *y) {
    enum { SLICE_BYTES = 1 << 18 }; /* of y: docs/integration.md says why */
    job j = {.plan = plan, .x = x, .scale = scale, .zero = zero, .y = y, .status = DQL_OK};
    j.slices = dql_plan_count(plan) * sizeof *y / SLICE_BYTES + 1;
    pthreadpool_parallelize_1d(pool, run_slice, &j, j.slices, 0);
    return j.status;
}

static int fail(const char *why) {
    fprintf(stderr, "pthreadpool: %s\n", why);
    return EXIT_FAILURE;
}

int main(void) {
    static uint8_t x[ROWS * COLUMNS / 2], zero[ROWS * BLOCKS / 2 + 1]; /* int4: two a byte */
    static uint16_t scale[ROWS * BLOCKS], y[ROWS * COLUMNS], expected[ROWS * COLUMNS];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < sizeof zero; i++)
        zero[i] = (uint8_t)(i * 2246822519u >> 24);
    for (size_t i = 0; i < ROWS * BLOCKS; i++)
        scale[i] = (uint16_t)(0x3c00 + i % 512); /* bfloat16, from 2^-7 to 2^-3 */

    const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS, BLOCKS};
    const dql_spec spec = {.x_type = DQL_INT4,
                           .scale_type = DQL_BFLOAT16,
                           .y_type = DQL_BFLOAT16,
                           .rank = 2,
                           .shape = shape,
                           .scale_rank = 2,
                           .scale_shape = scale_shape,
                           .axis = 1,
                           .block_size = BLOCK};
    dql_plan plan;
    pthreadpool_t pool = pthreadpool_create(0); /* a thread a core */
    if (!pool)
        return fail("no thread pool");
    dql_status status = dql_plan_init(&plan, &spec);
    if (status == DQL_OK)
        status = run_on_pool(pool, &plan, x, scale, zero, y);
    if (status == DQL_OK)
        status = dql_run(&plan, x, scale, zero, expected);
    if (status != DQL_OK)
        return fail(dql_status_text(status));
    if (memcmp(y, expected, sizeof y) != 0)
        return fail("not what one thread computes");
    printf("%zu elements by %zu threads\n", dql_plan_count(&plan), pthreadpool_get_threads_count(pool));
    pthreadpool_destroy(pool);
    return EXIT_SUCCESS;
}
