/* Random calls, which are those of the fuzz target `run`, and panels and ranges that these seldom meet. */
#include "dql/dql.h"
#include "fuzz/fuzz.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <string.h>

static void random_calls(void **state) {
    (void)state;
    enum { INPUTS = 6000, LARGEST = 200 };
    random r = {1};
    uint8_t bytes[LARGEST];
    for (int n = 0; n < INPUTS; n++) {
        const size_t size = 1 + random_below(&r, LARGEST);
        random_bytes(&r, bytes, size);
        LLVMFuzzerTestOneInput(bytes, size);
    }
}

/* Long rows that overlap in x, over short rows of a tensor: the second begins where a tile that is still there did not.
 */
static void overlapping_rows(void **state) {
    (void)state;
    enum { ROWS = 60, COLUMNS = 20, LENGTH = 720 };
    const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {2, COLUMNS};
    int8_t x[ROWS * COLUMNS];
    float scale[2 * COLUMNS], y[2 * LENGTH], whole[ROWS * COLUMNS];
    random r = {3};
    random_bytes(&r, x, sizeof x);
    for (size_t k = 0; k < 2 * COLUMNS; k++)
        scale[k] = (float)(k + 1);
    dql_spec spec = {.x_type = DQL_INT8,
                     .scale_type = DQL_FLOAT32,
                     .y_type = DQL_FLOAT32,
                     .rank = 2,
                     .shape = shape,
                     .scale_rank = 2,
                     .scale_shape = scale_shape,
                     .axis = 0,
                     .block_size = 30};
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++) {
        if (!dql_isa_available((dql_isa)isa))
            continue;
        spec.isa = isa;
        dql_plan plan;
        assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
        assert_int_equal(dql_run(&plan, x, scale, NULL, whole), DQL_OK);
        for (size_t stride = 0; stride <= 480; stride++) {
            assert_int_equal(dql_run_rows(&plan, x, scale, NULL, 0, LENGTH, 2, stride, y, LENGTH), DQL_OK);
            assert_memory_equal(y, whole, LENGTH * sizeof *y);
            assert_memory_equal(y + LENGTH, whole + stride, LENGTH * sizeof *y);
        }
    }
}

/* Every panel of a small tensor whose rows are short and have runs. */
static void small_panels(void **state) {
    (void)state;
    enum { COUNT = 3 * 4 * 5 };
    const int64_t shape[] = {3, 4, 5};
    int8_t x[COUNT];
    float y[COUNT], whole[COUNT];
    random r = {4};
    random_bytes(&r, x, sizeof x);
    const float scale[4] = {1, 2, 3, 4};
    const int8_t zero[4] = {1, -2, 3, -4};
    dql_spec spec = {.x_type = DQL_INT8,
                     .scale_type = DQL_FLOAT32,
                     .y_type = DQL_FLOAT32,
                     .rank = 3,
                     .shape = shape,
                     .scale_rank = 1,
                     .scale_shape = shape + 1,
                     .axis = 1};
    dql_plan plan;
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
    assert_int_equal(dql_run(&plan, x, scale, zero, whole), DQL_OK);
    for (size_t begin = 0; begin < COUNT; begin++)
        for (size_t length = 1; length <= 22 && begin + length <= COUNT; length++)
            for (size_t stride = 0; stride <= 22; stride++)
                for (size_t rows = 2; begin + length + (rows - 1) * stride <= COUNT && rows * length <= COUNT; rows++) {
                    assert_int_equal(dql_run_rows(&plan, x, scale, zero, begin, length, rows, stride, y, length),
                                     DQL_OK);
                    for (size_t row = 0; row < rows; row++)
                        assert_memory_equal(y + row * length, whole + begin + row * stride, length * sizeof *y);
                }
}

/* Panels of blocked rows whose scales are near each other, or far apart, and more than a tile has room for. */
static void panels_of_blocks(void **state) {
    (void)state;
    enum { ROWS = 70, COLUMNS = 1280, LEAST_BLOCK = 10, LENGTH = 64 };
    static uint8_t x[ROWS * COLUMNS], zero[ROWS * COLUMNS / LEAST_BLOCK];
    static float scale[ROWS * COLUMNS / LEAST_BLOCK], whole[ROWS * COLUMNS], y[ROWS * LENGTH];
    random r = {5};
    random_bytes(&r, x, sizeof x);
    random_bytes(&r, zero, sizeof zero);
    for (size_t k = 0; k < sizeof scale / sizeof *scale; k++)
        scale[k] = (float)(k + 1);
    const int64_t blocks[] = {LEAST_BLOCK, 16, 32, 60, 64, 100, COLUMNS};
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        for (size_t b = 0; dql_isa_available((dql_isa)isa) && b < sizeof blocks / sizeof *blocks; b++) {
            const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS, (COLUMNS + blocks[b] - 1) / blocks[b]};
            const dql_spec spec = {.x_type = DQL_UINT8,
                                   .scale_type = DQL_FLOAT32,
                                   .y_type = DQL_FLOAT32,
                                   .store = b % 2 ? DQL_STORE_STREAM : DQL_STORE_CACHED,
                                   .isa = isa,
                                   .rank = 2,
                                   .shape = shape,
                                   .scale_rank = 2,
                                   .scale_shape = scale_shape,
                                   .axis = 1,
                                   .block_size = blocks[b]};
            dql_plan plan;
            assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
            assert_int_equal(dql_run(&plan, x, scale, zero, whole), DQL_OK);
            for (size_t t = 0; t < 200; t++) {
                const size_t length = 1 + random_below(&r, LENGTH), column = random_below(&r, COLUMNS - length + 1);
                const size_t begin = random_below(&r, 5) * COLUMNS + column, rows = ROWS - begin / COLUMNS;
                assert_int_equal(dql_run_rows(&plan, x, scale, zero, begin, length, rows, COLUMNS, y, length), DQL_OK);
                for (size_t row = 0; row < rows; row++)
                    assert_memory_equal(y + row * length, whole + begin + row * COLUMNS, length * sizeof *y);
            }
        }
}

/* Elements beyond 2^31 and 2^32, of tensors of which only these are in memory. */
static void check_far(const dql_spec *spec, size_t begin, size_t end) {
    dql_plan plan;
    assert_int_equal(dql_plan_init(&plan, spec), DQL_OK);
    assert_true(end <= dql_plan_count(&plan));
    const dql_type x_type = (dql_type)spec->x_type, y_type = (dql_type)spec->y_type;
    random r = {2};
    const size_t first = begin * reference_bits(x_type) / 8, last = (end * reference_bits(x_type) + 7) / 8;
    const size_t first_scale = reference_scale_number(spec, begin), last_scale = reference_scale_number(spec, end - 1);
    guarded x = guarded_new(last - first, AT_END, 0);
    guarded scale = guarded_new((last_scale - first_scale + 1) * sizeof(float), AT_END, 0);
    guarded y = guarded_new(reference_bytes(y_type, end - begin), AT_END, 0);
    random_bytes(&r, x.bytes, x.size);
    for (size_t k = 0; k <= last_scale - first_scale; k++)
        memcpy(scale.bytes + k * sizeof(float), &(float){(float)(k + 1)}, sizeof(float));
    const void *x_start = (const void *)((uintptr_t)x.bytes - first);
    const void *scale_start = (const void *)((uintptr_t)scale.bytes - first_scale * sizeof(float));
    assert_int_equal(dql_run_range(&plan, x_start, scale_start, NULL, begin, end, y.bytes), DQL_OK);
    for (size_t i = begin; i < end; i++) {
        const uint32_t expected = reference_y(spec, x_start, scale_start, NULL, i);
        assert_true(reference_equal(y_type, reference_bits_of(y_type, y.bytes, i - begin), expected));
    }
    guarded_free(&x);
    guarded_free(&scale);
    guarded_free(&y);
}

static void far_elements(void **state) {
    (void)state;
    if (sizeof(size_t) < 8) {
        print_message("skipped: no tensor here has so many elements\n");
        skip();
    }
    const int64_t shape[] = {1 << 20, 3, 1 << 13}, blocked[] = {1 << 20, 3, 1 << 8}, first[] = {1 << 14, 3, 1 << 13};
    dql_spec spec = {.scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT16, .rank = 3, .shape = shape};
    const int32_t types[] = {DQL_INT4, DQL_UINT8, DQL_INT16};
    const uint64_t begins[] = {UINT64_C(0x7ffffff0), UINT64_C(0xfffffff1), UINT64_C(0x5ffffff05)};
    for (size_t k = 0; k < 9; k++) {
        const size_t begin = (size_t)begins[k / 3];
        spec.x_type = types[k % 3];
        spec.scale_rank = 0;
        spec.block_size = 0;
        check_far(&spec, begin, begin + 100);
        spec.scale_rank = 1;
        spec.scale_shape = shape;
        spec.axis = 0;
        check_far(&spec, begin, begin + 100);
        spec.scale_rank = 3;
        spec.scale_shape = blocked;
        spec.axis = 2;
        spec.block_size = 32;
        check_far(&spec, begin, begin + 100);
        spec.scale_shape = first;
        spec.axis = 0;
        spec.block_size = 64;
        check_far(&spec, begin / 8192 * 8192 + 100, begin / 8192 * 8192 + 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls),     cmocka_unit_test(overlapping_rows), cmocka_unit_test(small_panels),
        cmocka_unit_test(panels_of_blocks), cmocka_unit_test(far_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
