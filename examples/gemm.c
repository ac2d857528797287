/* A matrix product with 4-bit weights that are never all dequantized: c = a * b, where b is uint4 in blocks along its
 * columns, as 4-bit ONNX models have it. One panel of b after the other is dequantized into 16 KiB that
 * stay in the L1 cache, and multiplied by all rows of a while it is there.
 *
 *     cc -O3 -ffp-contract=off gemm.c $(pkg-config --cflags --libs dql) */
#include <dql/dql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 8, N = 700, K = 1000 };                     /* a is M x K, b is K x N */
enum { BLOCK = 32, BLOCKS = (K + BLOCK - 1) / BLOCK }; /* rows of b that share a scale in each column */
enum { PANEL_K = 64, PANEL_N = 64 };                   /* whole blocks, and whole cache lines */

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* c += a[:, k .. k + rows) * panel, for `columns` columns of c. */
static void multiply_panel(const float *a, const float *panel, size_t rows, size_t columns, float *c) {
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < rows; k++)
            for (size_t n = 0; n < columns; n++)
                c[m * N + n] += a[m * K + k] * panel[k * PANEL_N + n];
}

/* The plan is that of b. */
static dql_status multiply(const dql_plan *plan, const float *a, const void *b, const void *scale, const void *zero,
                           float *c) {
    _Alignas(64) float panel[PANEL_K * PANEL_N];
    memset(c, 0, sizeof(float) * M * N);
    for (size_t n = 0; n < N; n += PANEL_N)
        for (size_t k = 0; k < K; k += PANEL_K) {
            const size_t rows = min(PANEL_K, K - k), columns = min(PANEL_N, N - n);
            const dql_status status = dql_run_rows(plan, b, scale, zero, k * N + n, columns, rows, N, panel, PANEL_N);
            if (status != DQL_OK)
                return status;
            multiply_panel(a + k, panel, rows, columns, c + n);
        }
    return DQL_OK;
}

/* ---- the same, plainly ---- */

static float nibble(const uint8_t *from, size_t i) {
    return (float)(from[i / 2] >> i % 2 * 4 & 0xf);
}

static float reference(const float *a, const uint8_t *b, const float *scale, const uint8_t *zero, size_t m, size_t n) {
    float sum = 0;
    for (size_t k = 0; k < K; k++) {
        const size_t block = k / BLOCK * N + n;
        const float weight = (nibble(b, k * N + n) - nibble(zero, block)) * scale[block]; /* rounded here */
        sum += a[m * K + k] * weight;
    }
    return sum;
}

static int fail(const char *why) {
    fprintf(stderr, "gemm: %s\n", why);
    return EXIT_FAILURE;
}

int main(void) {
    static float a[M * K], c[M * N], scale[BLOCKS * N];
    static uint8_t b[K * N / 2], zero[BLOCKS * N / 2];
    for (size_t i = 0; i < M * K; i++)
        a[i] = (float)(i * 2654435761u >> 8 & 0xffff) / 65536 - 0.5f;
    for (size_t i = 0; i < BLOCKS * N; i++)
        scale[i] = 1 / (float)(100 + i % 97);
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)(i * 2246822519u >> 24);
    for (size_t i = 0; i < sizeof zero; i++)
        zero[i] = (uint8_t)(i * 3266489917u >> 24);

    const int64_t shape[] = {K, N}, scale_shape[] = {BLOCKS, N};
    const dql_spec spec = {.x_type = DQL_UINT4,
                           .scale_type = DQL_FLOAT32,
                           .y_type = DQL_FLOAT32,
                           .rank = 2,
                           .shape = shape,
                           .scale_rank = 2,
                           .scale_shape = scale_shape,
                           .axis = 0,
                           .block_size = BLOCK};
    dql_plan plan;
    dql_status status = dql_plan_init(&plan, &spec);
    if (status == DQL_OK)
        status = multiply(&plan, a, b, scale, zero, c);
    if (status != DQL_OK)
        return fail(dql_status_text(status));
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++)
            if (c[m * N + n] != reference(a, b, scale, zero, m, n)) /* the same operations in the same order */
                return fail("not what the plain product is");
    printf("%d x %d x %d, through panels of %d x %d\n", M, K, N, PANEL_K, PANEL_N);
    return EXIT_SUCCESS;
}
