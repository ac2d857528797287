/* Misuse of each function, one case a rule; y must be as it was. */
#include "dql/dql.h"
#include "support/reference.h"
#include "support/test.h"

#include <string.h>

/* x int8 [2, 3], one scale a column. */
static const int8_t x[6] = {1, 2, 3, 4, 5, 6};
static const float scale[3] = {1, 2, 4};
static const int8_t zero[3] = {0, 1, 2};
static const float expected[6] = {1, 2, 4, 4, 8, 16};
static float y[32];

static dql_spec good_spec(void) {
    static const int64_t shape[] = {2, 3}, scale_shape[] = {3};
    return (dql_spec){.x_type = DQL_INT8,
                      .scale_type = DQL_FLOAT32,
                      .y_type = DQL_FLOAT32,
                      .rank = 2,
                      .shape = shape,
                      .scale_rank = 1,
                      .scale_shape = scale_shape,
                      .axis = 1};
}

static dql_plan good_plan(void) {
    dql_plan plan;
    const dql_spec spec = good_spec();
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
    return plan;
}

static void clear_y(void) {
    memset(y, 0xa5, sizeof y);
}

static void refuses(dql_status got, dql_status wanted) {
    if (got != wanted)
        fail_msg("%s, expected %s", dql_status_text(got), dql_status_text(wanted));
    for (size_t k = 0; k < sizeof y; k++)
        assert_int_equal(((const unsigned char *)y)[k], 0xa5);
}

static void works(void **state) {
    (void)state;
    const dql_plan plan = good_plan();
    clear_y();
    assert_int_equal(dql_run(&plan, x, scale, zero, y), DQL_OK);
    assert_memory_equal(y, expected, sizeof expected);
    clear_y();
    const dql_spec spec = good_spec();
    assert_int_equal(dql_dequantize(&spec, x, scale, zero, y), DQL_OK);
    assert_memory_equal(y, expected, sizeof expected);
    clear_y();
    assert_int_equal(dql_run_range(&plan, x, scale, zero, 2, 5, y), DQL_OK);
    assert_memory_equal(y, expected + 2, 3 * sizeof *y);
    clear_y();
    assert_int_equal(dql_run_rows(&plan, x, scale, zero, 1, 2, 2, 3, y, 4), DQL_OK);
    assert_memory_equal(y, expected + 1, 2 * sizeof *y);
    assert_memory_equal(y + 4, expected + 4, 2 * sizeof *y);
    assert_int_equal(((const unsigned char *)y)[2 * sizeof *y], 0xa5);
}

static void null_pointers(void **state) {
    (void)state;
    const dql_plan plan = good_plan();
    const dql_spec spec = good_spec();
    dql_plan other = plan;
    clear_y();
    refuses(dql_plan_init(NULL, &spec), DQL_ERROR_NULL);
    refuses(dql_plan_init(&other, NULL), DQL_ERROR_NULL);
    refuses(dql_run(&other, x, scale, zero, y), DQL_ERROR_PLAN);
    refuses(dql_run(NULL, x, scale, zero, y), DQL_ERROR_NULL);
    refuses(dql_run(&plan, NULL, scale, zero, y), DQL_ERROR_NULL);
    refuses(dql_run(&plan, x, NULL, zero, y), DQL_ERROR_NULL);
    refuses(dql_run(&plan, x, scale, zero, NULL), DQL_ERROR_NULL);
    refuses(dql_run_range(NULL, x, scale, zero, 0, 6, y), DQL_ERROR_NULL);
    refuses(dql_run_range(&plan, NULL, scale, zero, 0, 6, y), DQL_ERROR_NULL);
    refuses(dql_run_range(&plan, x, NULL, zero, 0, 6, y), DQL_ERROR_NULL);
    refuses(dql_run_range(&plan, x, scale, zero, 0, 6, NULL), DQL_ERROR_NULL);
    refuses(dql_run_rows(NULL, x, scale, zero, 0, 3, 2, 3, y, 3), DQL_ERROR_NULL);
    refuses(dql_run_rows(&plan, NULL, scale, zero, 0, 3, 2, 3, y, 3), DQL_ERROR_NULL);
    refuses(dql_run_rows(&plan, x, NULL, zero, 0, 3, 2, 3, y, 3), DQL_ERROR_NULL);
    refuses(dql_run_rows(&plan, x, scale, zero, 0, 3, 2, 3, NULL, 3), DQL_ERROR_NULL);
    refuses(dql_dequantize(NULL, x, scale, zero, y), DQL_ERROR_NULL);
    refuses(dql_dequantize(&spec, NULL, scale, zero, y), DQL_ERROR_NULL);
    assert_int_equal(dql_plan_count(NULL), 0);
    assert_int_equal(dql_plan_isa(NULL), DQL_ISA_AUTO);
    assert_int_equal(dql_plan_count(&other), 0);
    assert_int_equal(dql_plan_isa(&other), DQL_ISA_AUTO);
}

static void nothing_to_do_needs_no_buffers(void **state) {
    (void)state;
    const dql_plan plan = good_plan();
    assert_int_equal(dql_run_range(&plan, NULL, NULL, NULL, 0, 0, NULL), DQL_OK);
    assert_int_equal(dql_run_range(&plan, NULL, NULL, NULL, 6, 6, NULL), DQL_OK);
    assert_int_equal(dql_run_rows(&plan, NULL, NULL, NULL, 6, 0, 9, 9, NULL, 0), DQL_OK);
    assert_int_equal(dql_run_rows(&plan, NULL, NULL, NULL, 0, 9, 0, 9, NULL, 0), DQL_OK);
    const int64_t shape[] = {2, 0}, scale_shape[] = {0};
    dql_spec spec = good_spec();
    spec.shape = shape;
    spec.scale_shape = scale_shape;
    dql_plan empty;
    assert_int_equal(dql_plan_init(&empty, &spec), DQL_OK);
    assert_int_equal(dql_run(&empty, NULL, NULL, NULL, NULL), DQL_OK);
    assert_int_equal(dql_dequantize(&spec, NULL, NULL, NULL, NULL), DQL_OK);
    assert_int_equal(dql_run_range(&empty, NULL, NULL, NULL, 0, 1, NULL), DQL_ERROR_RANGE);
}

static void what_is_not_a_plan(void **state) {
    (void)state;
    dql_plan broken;
    memset(&broken, 0, sizeof broken);
    clear_y();
    refuses(dql_run(&broken, x, scale, zero, y), DQL_ERROR_PLAN);
    refuses(dql_run_range(&broken, x, scale, zero, 0, 1, y), DQL_ERROR_PLAN);
    refuses(dql_run_rows(&broken, x, scale, zero, 0, 1, 1, 1, y, 1), DQL_ERROR_PLAN);
    memset(&broken, 0x5a, sizeof broken);
    refuses(dql_run(&broken, x, scale, zero, y), DQL_ERROR_PLAN);
    dql_plan plan = good_plan();
    dql_spec spec = good_spec();
    spec.axis = 7;
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_ERROR_AXIS);
    refuses(dql_run(&plan, x, scale, zero, y), DQL_ERROR_PLAN);
    refuses(dql_dequantize(&spec, x, scale, zero, y), DQL_ERROR_AXIS);
}

static void ranges_outside(void **state) {
    (void)state;
    const dql_plan plan = good_plan();
    const struct {
        size_t begin, end;
    } ranges[] = {{0, 7}, {7, 7}, {3, 2}, {SIZE_MAX, SIZE_MAX}, {1, SIZE_MAX}, {SIZE_MAX, 0}};
    clear_y();
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        refuses(dql_run_range(&plan, x, scale, zero, ranges[k].begin, ranges[k].end, y), DQL_ERROR_RANGE);
        refuses(dql_run_range(&plan, NULL, NULL, NULL, ranges[k].begin, ranges[k].end, NULL), DQL_ERROR_RANGE);
    }
}

static void panels_outside(void **state) {
    (void)state;
    const dql_plan plan = good_plan();
    const struct {
        const char *what;
        size_t begin, length, rows, x_stride, y_stride;
    } panels[] = {
        {"begins outside", 7, 1, 1, 1, 1},
        {"begins outside, of nothing", 7, 0, 1, 1, 1},
        {"one row too long", 0, 7, 1, 1, 7},
        {"last row too long", 1, 3, 2, 3, 3},
        {"last row outside", 0, 2, 4, 2, 2},
        {"rows end past SIZE_MAX", 0, 1, 3, SIZE_MAX / 2, 1},
        {"row starts wrap around to 0", 0, 1, 3, (size_t)1 << (sizeof(size_t) * 8 - 1), 1},
        {"length wraps around", 5, SIZE_MAX, 1, 1, SIZE_MAX},
        {"length and rows wrap around", 0, SIZE_MAX / 2 + 1, 2, 0, SIZE_MAX / 2 + 1},
        {"rows of y overlap", 0, 3, 2, 3, 2},
        {"rows of y are the same", 0, 3, 2, 3, 0},
        {"y's bytes wrap around", 0, 1, 3, 1, SIZE_MAX / sizeof(float) / 2 + 1},
    };
    clear_y();
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++)
        if (dql_run_rows(&plan, x, scale, zero, panels[k].begin, panels[k].length, panels[k].rows, panels[k].x_stride,
                         y, panels[k].y_stride) != DQL_ERROR_RANGE)
            fail_msg("%s: accepted", panels[k].what);
    refuses(DQL_ERROR_RANGE, DQL_ERROR_RANGE);
    /* With one row no stride is used; rows may overlap in x, or be the same. */
    assert_int_equal(dql_run_rows(&plan, x, scale, zero, 3, 3, 1, SIZE_MAX, y, 0), DQL_OK);
    assert_memory_equal(y, expected + 3, 3 * sizeof *y);
    assert_int_equal(dql_run_rows(&plan, x, scale, zero, 0, 3, 4, 1, y, 3), DQL_OK);
    for (size_t r = 0; r < 4; r++)
        assert_memory_equal(y + 3 * r, expected + r, 3 * sizeof *y);
    assert_int_equal(dql_run_rows(&plan, x, scale, zero, 1, 3, 2, 0, y, 3), DQL_OK);
    assert_memory_equal(y, expected + 1, 3 * sizeof *y);
    assert_memory_equal(y + 3, expected + 1, 3 * sizeof *y);
}

/* Zero points of float8: 0, or -0 where there is one; only those that a call uses count. */
static void float8_zero_points(void **state) {
    (void)state;
    const struct {
        int32_t type;
        bool has_minus_zero;
    } types[] = {
        {DQL_FLOAT8E4M3FN, true}, {DQL_FLOAT8E4M3FNUZ, false}, {DQL_FLOAT8E5M2, true}, {DQL_FLOAT8E5M2FNUZ, false}};
    const uint8_t codes[6] = {0x80, 0, 0x38, 0x38, 0x38, 0x80};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned code = 0; code < 256; code++)
            for (size_t column = 0; column < 3; column++) {
                uint8_t zeros[3] = {0, 0, 0};
                zeros[column] = (uint8_t)code;
                const bool good = code == 0 || (code == 0x80 && types[t].has_minus_zero);
                dql_spec spec = good_spec();
                spec.x_type = types[t].type;
                dql_plan plan;
                assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
                clear_y();
                if (!good) {
                    refuses(dql_run(&plan, codes, scale, zeros, y), DQL_ERROR_ZERO_POINT);
                    refuses(dql_dequantize(&spec, codes, scale, zeros, y), DQL_ERROR_ZERO_POINT);
                }
                for (size_t begin = 0; begin < 6; begin++)
                    for (size_t end = begin + 1; end <= 6; end++) {
                        bool used = false;
                        for (size_t i = begin; i < end; i++)
                            used |= i % 3 == column;
                        float with[6], without[6];
                        clear_y();
                        if (used && !good) {
                            refuses(dql_run_range(&plan, codes, scale, zeros, begin, end, y), DQL_ERROR_ZERO_POINT);
                            refuses(dql_run_rows(&plan, codes, scale, zeros, begin, end - begin, 1, 0, y, 0),
                                    DQL_ERROR_ZERO_POINT);
                            continue;
                        }
                        assert_int_equal(dql_run_range(&plan, codes, scale, zeros, begin, end, with), DQL_OK);
                        assert_int_equal(dql_run_range(&plan, codes, scale, NULL, begin, end, without), DQL_OK);
                        assert_memory_equal(with, without, (end - begin) * sizeof *with);
                    }
                /* A column of both rows. */
                for (size_t other = 0; other < 3; other++)
                    assert_int_equal(dql_run_rows(&plan, codes, scale, zeros, other, 1, 2, 3, y, 1),
                                     other == column && !good ? DQL_ERROR_ZERO_POINT : DQL_OK);
            }
}

/* Of float4e2m1 two share a byte, and a pad nibble may hold anything. */
static void float4_zero_points(void **state) {
    (void)state;
    const uint8_t codes[3] = {0x18, 0x73, 0xf9};
    dql_spec spec = good_spec();
    spec.x_type = DQL_FLOAT4E2M1;
    dql_plan plan;
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
    for (unsigned pad = 0; pad < 16; pad++)
        for (unsigned code = 0; code < 16; code++)
            for (size_t column = 0; column < 3; column++) {
                const bool good = (code & 7) == 0;
                const uint32_t nibbles = code << 4 * column | pad << 12;
                const uint8_t zeros[2] = {(uint8_t)nibbles, (uint8_t)(nibbles >> 8)};
                float without[6];
                assert_int_equal(dql_run(&plan, codes, scale, NULL, without), DQL_OK);
                clear_y();
                if (good) {
                    assert_int_equal(dql_run(&plan, codes, scale, zeros, y), DQL_OK);
                    assert_memory_equal(y, without, sizeof without);
                } else {
                    refuses(dql_run(&plan, codes, scale, zeros, y), DQL_ERROR_ZERO_POINT);
                }
                for (size_t i = 0; i < 6; i++)
                    assert_int_equal(dql_run_range(&plan, codes, scale, zeros, i, i + 1, without),
                                     good || i % 3 != column ? DQL_OK : DQL_ERROR_ZERO_POINT);
            }
}

/* One that is wrong counts in exactly the ranges and panels with an element that it belongs to. */
static void float8_zero_points_of_ranges(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 5, COUNT = ROWS * COLUMNS };
    const int64_t shape[] = {ROWS, COLUMNS}, last[] = {ROWS, 2}, first[] = {3, COLUMNS};
    dql_spec spec = {.x_type = DQL_FLOAT8E5M2,
                     .scale_type = DQL_FLOAT32,
                     .y_type = DQL_FLOAT32,
                     .rank = 2,
                     .shape = shape,
                     .scale_rank = 2,
                     .block_size = 3};
    uint8_t codes[COUNT] = {0}, zeros[3 * COLUMNS] = {0};
    float scales[3 * COLUMNS] = {0}, out[2 * COUNT];
    for (int axis = 0; axis < 2; axis++) {
        spec.axis = axis;
        spec.scale_shape = axis ? last : first;
        dql_plan plan;
        assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
        for (size_t wrong = 0; wrong < (size_t)(spec.scale_shape[0] * spec.scale_shape[1]); wrong++) {
            zeros[wrong] = 1;
            for (size_t begin = 0; begin < COUNT; begin++)
                for (size_t end = begin + 1; end <= COUNT; end++) {
                    bool in_range = false, in_panel = false;
                    for (size_t i = begin; i < end; i++)
                        in_range |= reference_scale_number(&spec, i) == wrong;
                    const size_t length = (end - begin + 1) / 2;
                    for (size_t k = 0; k < length; k++)
                        in_panel |= reference_scale_number(&spec, begin + k) == wrong ||
                                    reference_scale_number(&spec, end - length + k) == wrong;
                    assert_int_equal(dql_run_range(&plan, codes, scales, zeros, begin, end, out),
                                     in_range ? DQL_ERROR_ZERO_POINT : DQL_OK);
                    assert_int_equal(
                        dql_run_rows(&plan, codes, scales, zeros, begin, length, 2, end - begin - length, out, length),
                        in_panel ? DQL_ERROR_ZERO_POINT : DQL_OK);
                }
            zeros[wrong] = 0;
        }
    }
}

static void isas(void **state) {
    (void)state;
    int end = DQL_ISA_SVE2;
#define ISA(ID, name, ...)                                                                                             \
    assert_string_equal(dql_isa_name(DQL_ISA_##ID), #name);                                                            \
    end = DQL_ISA_##ID > end ? DQL_ISA_##ID : end;
#include "isas.def"
    end++;
    for (int isa = 0; isa < end; isa++)
        assert_non_null(dql_isa_name((dql_isa)isa));
    assert_string_equal(dql_isa_name(DQL_ISA_AUTO), "auto");
    assert_string_equal(dql_isa_name(DQL_ISA_SVE2), "sve2");
    const int outside[] = {end, 99, 1 << 30, -1};
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++) {
        assert_null(dql_isa_name((dql_isa)outside[k]));
        assert_false(dql_isa_available((dql_isa)outside[k]));
        assert_int_equal(dql_isa_force((dql_isa)outside[k]), DQL_ERROR_ISA);
    }
    assert_true(dql_isa_available(DQL_ISA_AUTO));
    assert_true(dql_isa_available(DQL_ISA_SCALAR));
    const dql_isa first = dql_isa_active();
    assert_int_not_equal(first, DQL_ISA_AUTO);
    for (int isa = 1; isa < end; isa++) {
        dql_spec spec = good_spec();
        spec.isa = isa;
        dql_plan plan;
        if (!dql_isa_available((dql_isa)isa)) {
            assert_int_equal(dql_isa_force((dql_isa)isa), DQL_ERROR_ISA);
            assert_int_equal(dql_isa_active(), first);
            assert_int_equal(dql_plan_init(&plan, &spec), DQL_ERROR_ISA);
            continue;
        }
        assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
        assert_int_equal(dql_plan_isa(&plan), isa);
        const dql_plan before = good_plan();
        assert_int_equal(dql_isa_force((dql_isa)isa), DQL_OK);
        assert_int_equal(dql_isa_active(), isa);
        const dql_plan after = good_plan();
        assert_int_equal(dql_plan_isa(&before), first);
        assert_int_equal(dql_plan_isa(&after), isa);
        assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
        assert_int_equal(dql_isa_active(), first);
    }
}

static void texts(void **state) {
    (void)state;
    for (int status = DQL_OK; status <= DQL_ERROR_RESERVED; status++) {
        assert_non_null(dql_status_text((dql_status)status));
        assert_string_not_equal(dql_status_text((dql_status)status), "unknown status");
        for (int other = DQL_OK; other < status; other++)
            assert_string_not_equal(dql_status_text((dql_status)status), dql_status_text((dql_status)other));
    }
    assert_string_equal(dql_status_text((dql_status)(DQL_ERROR_RESERVED + 1)), "unknown status");
    assert_string_equal(dql_status_text((dql_status)-1), "unknown status");
    assert_string_equal(dql_version(), DQL_EXPECTED_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works),
        cmocka_unit_test(null_pointers),
        cmocka_unit_test(nothing_to_do_needs_no_buffers),
        cmocka_unit_test(what_is_not_a_plan),
        cmocka_unit_test(ranges_outside),
        cmocka_unit_test(panels_outside),
        cmocka_unit_test(float8_zero_points),
        cmocka_unit_test(float4_zero_points),
        cmocka_unit_test(float8_zero_points_of_ranges),
        cmocka_unit_test(isas),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
