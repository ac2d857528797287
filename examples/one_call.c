/* Weights of a convolution, int8 with a scale for each output channel, in one call. For what is dequantized once: a
 * plan is made, used and dropped.
 *
 *     cc one_call.c $(pkg-config --cflags --libs dql) */
#include <dql/dql.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const int64_t shape[] = {2, 1, 2, 2}, scale_shape[] = {2};
    const int8_t x[] = {-128, -1, 0, 127, 10, 20, 30, 40};
    const float scale[] = {0.5f, 0.25f};
    float y[8];
    const dql_spec spec = {.x_type = DQL_INT8,
                           .scale_type = DQL_FLOAT32,
                           .y_type = DQL_FLOAT32,
                           .rank = 4,
                           .shape = shape,
                           .scale_rank = 1,
                           .scale_shape = scale_shape,
                           .axis = 0};
    const dql_status status = dql_dequantize(&spec, x, scale, NULL, y); /* NULL: no zero points */
    if (status != DQL_OK)
        return fprintf(stderr, "dql: %s\n", dql_status_text(status)), 1;
    for (int i = 0; i < 8; i++)
        printf("%g ", (double)y[i]);
    puts("");
    const float expected[] = {-64, -0.5f, 0, 63.5f, 2.5f, 5, 7.5f, 10};
    return memcmp(y, expected, sizeof y) != 0;
}
