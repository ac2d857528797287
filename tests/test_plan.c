/* What dql_plan_init accepts, what it refuses and in which order, and how plans are cut. */
#include "dql/dql.h"
#include "support/random.h"
#include "support/test.h"

#include <string.h>

#define SHAPE(...)                                                                                                     \
    .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = (const int64_t[]) {                           \
        __VA_ARGS__                                                                                                    \
    }
#define SCALE(...)                                                                                                     \
    .scale_rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .scale_shape = (const int64_t[]) {               \
        __VA_ARGS__                                                                                                    \
    }
#define TYPES .x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32

#define HUGE (INT64_MAX / 4)

typedef struct plan_case {
    const char *what;
    dql_status status;
    size_t count; /* if it is accepted */
    dql_spec spec;
} plan_case;

/* Rule numbers are those of the header's list. Where a case breaks two rules, the first one has to win. */
static const plan_case cases[] = {
    /* accepted */
    {"scalar, scalar scale", DQL_OK, 1, {TYPES}},
    {"scalar, one-element scale", DQL_OK, 1, {TYPES, SCALE(1)}},
    {"vector, default axis out of its range", DQL_OK, 7, {TYPES, SHAPE(7), SCALE(1), .axis = 1}},
    {"per tensor ignores axis and block_size", DQL_OK, 6, {TYPES, SHAPE(2, 3), .axis = 99, .block_size = 5}},
    {"one element of full rank", DQL_OK, 6, {TYPES, SHAPE(2, 3), SCALE(1, 1), .axis = -99}},
    {"per axis", DQL_OK, 24, {TYPES, SHAPE(2, 3, 4), SCALE(3), .axis = 1}},
    {"per axis, first", DQL_OK, 24, {TYPES, SHAPE(2, 3, 4), SCALE(2), .axis = 0}},
    {"per axis, negative", DQL_OK, 24, {TYPES, SHAPE(2, 3, 4), SCALE(4), .axis = -1}},
    {"per axis, most negative", DQL_OK, 24, {TYPES, SHAPE(2, 3, 4), SCALE(2), .axis = -3}},
    {"vector, per axis", DQL_OK, 3, {TYPES, SHAPE(3), SCALE(3), .axis = 0}},
    {"vector, blocked", DQL_OK, 7, {TYPES, SHAPE(7), SCALE(3), .axis = 0, .block_size = 3}},
    {"blocked", DQL_OK, 20, {TYPES, SHAPE(2, 10), SCALE(2, 5), .axis = 1, .block_size = 2}},
    {"blocked, remainder", DQL_OK, 20, {TYPES, SHAPE(2, 10), SCALE(2, 4), .axis = 1, .block_size = 3}},
    {"blocked, one block", DQL_OK, 20, {TYPES, SHAPE(2, 10), SCALE(2, 1), .axis = 1, .block_size = 1000}},
    {"blocked, blocks of 1", DQL_OK, 20, {TYPES, SHAPE(2, 10), SCALE(2, 10), .axis = -1, .block_size = 1}},
    {"blocked, largest block", DQL_OK, 4, {TYPES, SHAPE(2, 2), SCALE(2, 1), .axis = 1, .block_size = INT64_MAX}},
    {"blocked, square", DQL_OK, 4, {TYPES, SHAPE(2, 2), SCALE(2, 2), .axis = 0, .block_size = 1}},
    {"empty, per tensor", DQL_OK, 0, {TYPES, SHAPE(0)}},
    {"empty, whatever the other dims are", DQL_OK, 0, {TYPES, SHAPE(HUGE, HUGE, 0, HUGE)}},
    {"empty axis", DQL_OK, 0, {TYPES, SHAPE(2, 0), SCALE(0), .axis = 1}},
    {"empty, per axis elsewhere", DQL_OK, 0, {TYPES, SHAPE(2, 0), SCALE(2), .axis = 0}},
    {"empty axis, blocked", DQL_OK, 0, {TYPES, SHAPE(2, 0), SCALE(2, 0), .axis = 1, .block_size = 4}},
    {"empty, blocked elsewhere", DQL_OK, 0, {TYPES, SHAPE(0, 9), SCALE(0, 3), .axis = 1, .block_size = 4}},
    {"empty and huge, per axis", DQL_OK, 0, {TYPES, SHAPE(HUGE, 0), SCALE(HUGE), .axis = 0}},
    {"scale and y types differ", DQL_OK, 1, {.x_type = DQL_UINT4, .scale_type = DQL_BFLOAT16, .y_type = DQL_FLOAT16}},
    {"scale type e8m0", DQL_OK, 1, {.x_type = DQL_FLOAT4E2M1, .scale_type = DQL_FLOAT8E8M0, .y_type = DQL_BFLOAT16}},
    {"store mode", DQL_OK, 1, {TYPES, .store = DQL_STORE_STREAM}},
    {"ISA", DQL_OK, 1, {TYPES, .isa = DQL_ISA_SCALAR}},

    /* 1 */
    {"no shape", DQL_ERROR_NULL, 0, {TYPES, .rank = 1}},
    {"no scale shape", DQL_ERROR_NULL, 0, {TYPES, SHAPE(1), .scale_rank = 1}},
    {"reserved0", DQL_ERROR_RESERVED, 0, {TYPES, .reserved0 = 1}},
    {"reserved, first", DQL_ERROR_RESERVED, 0, {TYPES, .reserved = {1}}},
    {"reserved, last", DQL_ERROR_RESERVED, 0, {TYPES, .reserved = {0, 0, 0, UINT64_MAX}}},
    {"reserved before type", DQL_ERROR_RESERVED, 0, {.reserved = {1}}},
    {"x type 0", DQL_ERROR_TYPE, 0, {.scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"x type negative", DQL_ERROR_TYPE, 0, {.x_type = -1, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"x type past the end", DQL_ERROR_TYPE, 0, {.x_type = 29, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"x type float32", DQL_ERROR_TYPE, 0, {.x_type = DQL_FLOAT32, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"x type int64", DQL_ERROR_TYPE, 0, {.x_type = 7, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"scale type int8", DQL_ERROR_TYPE, 0, {.x_type = DQL_INT8, .scale_type = DQL_INT8, .y_type = DQL_FLOAT32}},
    {"y type int32", DQL_ERROR_TYPE, 0, {.x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = DQL_INT32}},
    {"y type e8m0", DQL_ERROR_TYPE, 0, {.x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT8E8M0}},
    {"x type e8m0", DQL_ERROR_TYPE, 0, {.x_type = DQL_FLOAT8E8M0, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32}},
    {"y type double", DQL_ERROR_TYPE, 0, {.x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = 11}},
    {"type before ISA", DQL_ERROR_TYPE, 0, {.isa = 99}},
    {"store mode past the end", DQL_ERROR_ISA, 0, {TYPES, .store = 3}},
    {"store mode negative", DQL_ERROR_ISA, 0, {TYPES, .store = -1}},
    {"ISA past the end", DQL_ERROR_ISA, 0, {TYPES, .isa = 99}},
    {"ISA negative", DQL_ERROR_ISA, 0, {TYPES, .isa = -1}},
    {"ISA before shape", DQL_ERROR_ISA, 0, {TYPES, .isa = 99, SHAPE(-1)}},

    /* 2 */
    {"negative dim", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(2, -1)}},
    {"negative dim beside 0", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(0, -1)}},
    {"negative scale dim", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(2), SCALE(-1), .axis = 0}},
    {"smallest dim", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(INT64_MIN)}},
    {"elements overflow", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(HUGE, HUGE)}},
    {"elements overflow to a small number", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(INT64_C(1) << 32, INT64_C(1) << 32)}},
    {"bytes of y overflow", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(HUGE, 3)}},
    {"shape before block_size", DQL_ERROR_SHAPE, 0, {TYPES, SHAPE(-1), .block_size = -1}},

    /* 3 */
    {"negative block_size, per tensor", DQL_ERROR_BLOCK_SIZE, 0, {TYPES, .block_size = -1}},
    {"smallest block_size",
     DQL_ERROR_BLOCK_SIZE,
     0,
     {TYPES, SHAPE(2, 2), SCALE(2, 1), .axis = 1, .block_size = INT64_MIN}},
    {"block_size before axis", DQL_ERROR_BLOCK_SIZE, 0, {TYPES, SHAPE(2), SCALE(2), .axis = 5, .block_size = -1}},

    /* 5; 4 is among the accepted ones */
    {"axis == rank", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(2, 3), SCALE(3), .axis = 2}},
    {"axis < -rank", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(2, 3), SCALE(3), .axis = -3}},
    {"smallest axis", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(2, 3), SCALE(3), .axis = INT64_MIN}},
    {"scalar with a vector of scales", DQL_ERROR_AXIS, 0, {TYPES, SCALE(3)}},
    {"scalar with a scale of rank 2", DQL_ERROR_AXIS, 0, {TYPES, SCALE(1, 1)}},
    {"vector, default axis", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(3), SCALE(3), .axis = 1}},
    {"axis before scale shape", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(2, 3), SCALE(5), .axis = 2}},
    {"empty, but a wrong axis", DQL_ERROR_AXIS, 0, {TYPES, SHAPE(0, 3), SCALE(3), .axis = 2}},

    /* 6 */
    {"per axis, another dim", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2, 3), SCALE(2), .axis = 1}},
    {"per axis, empty scale", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2, 3), SCALE(0), .axis = 1}},
    {"empty, but a wrong scale", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(0, 3), SCALE(2), .axis = 1}},

    /* 7 */
    {"blocked, off the axis", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2, 10), SCALE(3, 5), .axis = 1, .block_size = 2}},
    {"blocked, off the axis and on it",
     DQL_ERROR_SCALE_SHAPE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(3, 4), .axis = 1, .block_size = 2}},
    {"blocked, more blocks than elements",
     DQL_ERROR_SCALE_SHAPE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(2, 11), .axis = 1, .block_size = 2}},
    {"blocked, a dim of no block_size",
     DQL_ERROR_SCALE_SHAPE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(2, 6), .axis = 1, .block_size = 2}},
    {"blocked, no block", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2, 10), SCALE(2, 0), .axis = 1, .block_size = 2}},
    {"blocked, a block of nothing",
     DQL_ERROR_SCALE_SHAPE,
     0,
     {TYPES, SHAPE(2, 0), SCALE(2, 1), .axis = 1, .block_size = 2}},
    {"blocked, another block_size",
     DQL_ERROR_BLOCK_SIZE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(2, 4), .axis = 1, .block_size = 2}},
    {"blocked, block_size too large",
     DQL_ERROR_BLOCK_SIZE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(2, 5), .axis = 1, .block_size = 3}},

    /* 8 */
    {"full rank without block_size", DQL_ERROR_BLOCK_SIZE, 0, {TYPES, SHAPE(2, 10), SCALE(2, 5), .axis = 1}},
    {"vector of scales with block_size",
     DQL_ERROR_SCALE_SHAPE,
     0,
     {TYPES, SHAPE(2, 10), SCALE(10), .axis = 1, .block_size = 2}},
    {"neither rank", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2, 3, 4), SCALE(3, 4), .axis = 1, .block_size = 1}},
    {"no rank of scale but x's is larger", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2), SCALE(1, 1), .axis = 0}},
    {"empty scale of rank 2", DQL_ERROR_SCALE_SHAPE, 0, {TYPES, SHAPE(2), SCALE(0, 0), .axis = 0}},
};

static void accepted_and_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const plan_case *c = &cases[k];
        dql_plan plan;
        memset(&plan, 0x5a, sizeof plan);
        const dql_status status = dql_plan_init(&plan, &c->spec);
        if (status != c->status)
            fail_msg("%s: %s, expected %s", c->what, dql_status_text(status), dql_status_text(c->status));
        if (dql_plan_count(&plan) != c->count)
            fail_msg("%s: %zu elements, expected %zu", c->what, dql_plan_count(&plan), c->count);
        if (status == DQL_OK)
            assert_int_not_equal(dql_plan_isa(&plan), DQL_ISA_AUTO);
        else
            assert_int_equal(dql_run(&plan, "", "", NULL, &(char[16]){0}), DQL_ERROR_PLAN);
    }
}

/* There is no largest rank. */
static void any_rank(void **state) {
    (void)state;
    int64_t shape[300], scale_shape[300];
    for (size_t rank = 1; rank <= 300; rank++) {
        for (size_t d = 0; d < rank; d++)
            shape[d] = scale_shape[d] = 1;
        shape[rank / 2] = 7;
        scale_shape[rank / 2] = 4;
        dql_spec spec = {TYPES, .rank = rank, .shape = shape, .scale_rank = rank, .scale_shape = scale_shape};
        spec.axis = (int64_t)(rank / 2);
        spec.block_size = 2;
        dql_plan plan;
        assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
        assert_int_equal(dql_plan_count(&plan), 7);
    }
}

/* The largest tensor that has an address for each byte of y. */
static void largest_count(void **state) {
    (void)state;
    const size_t most = SIZE_MAX / sizeof(float);
    dql_plan plan;
    dql_spec spec = {TYPES, SHAPE((int64_t)most)};
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
    assert_true(dql_plan_count(&plan) == most);
    dql_spec more = {TYPES, SHAPE((int64_t)most + 1)};
    assert_int_equal(dql_plan_init(&plan, &more), DQL_ERROR_SHAPE);
    more.y_type = DQL_FLOAT16;
    assert_int_equal(dql_plan_init(&plan, &more), DQL_OK);
}

/* Slices follow each other from 0 to count, differ by a cache line at most, and begin on one. */
static void slices_partition(void **state) {
    (void)state;
    random r = {1};
    for (int k = 0; k < 2000; k++) {
        const int64_t count = (int64_t)random_below(&r, k % 2 ? 3000 : 100);
        const bool wide = random_below(&r, 2);
        const size_t slices = 1 + random_below(&r, 70), line = wide ? 16 : 32;
        dql_spec spec = {TYPES, SHAPE(count)};
        spec.y_type = wide ? DQL_FLOAT32 : DQL_BFLOAT16;
        dql_plan plan;
        assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
        size_t done = 0, least = SIZE_MAX, most = 0;
        for (size_t s = 0; s < slices; s++) {
            size_t begin, end;
            dql_plan_slice(&plan, slices, s, &begin, &end);
            assert_true(begin == done && end >= begin);
            assert_true(begin % line == 0 || begin == (size_t)count);
            least = end - begin < least ? end - begin : least;
            most = end - begin > most ? end - begin : most;
            done = end;
        }
        assert_true(done == (size_t)count);
        assert_true(most - least <= line);
    }
}

static void empty_slices(void **state) {
    (void)state;
    dql_plan plan, broken = {{0}};
    dql_spec spec = {TYPES, SHAPE(1000)};
    assert_int_equal(dql_plan_init(&plan, &spec), DQL_OK);
    const struct {
        const dql_plan *plan;
        size_t slices, slice;
    } empty[] = {{&plan, 0, 0}, {&plan, 3, 3}, {&plan, 3, SIZE_MAX}, {NULL, 3, 1}, {&broken, 3, 1}};
    for (size_t k = 0; k < sizeof empty / sizeof *empty; k++) {
        size_t begin = 5, end = 6;
        dql_plan_slice(empty[k].plan, empty[k].slices, empty[k].slice, &begin, &end);
        assert_true(begin == end);
    }
    size_t begin, end;
    dql_plan_slice(&plan, SIZE_MAX, 0, &begin, &end);
    assert_true(begin == 0 && end == 0);
    dql_plan_slice(&plan, SIZE_MAX, SIZE_MAX - 1, &begin, &end);
    assert_true(begin < end && end == 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_and_refused), cmocka_unit_test(any_rank),     cmocka_unit_test(largest_count),
        cmocka_unit_test(slices_partition),     cmocka_unit_test(empty_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
