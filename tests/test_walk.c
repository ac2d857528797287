/* Whole tensors, ranges, panels and slices of random shapes on every ISA, against the operator's text. */
#include "dql/dql.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 6, MAX_COUNT = 8000 };

/* A random call, its buffers each between guard pages, and the right y. */
typedef struct call {
    int64_t shape[MAX_RANK], scale_shape[MAX_RANK];
    dql_spec spec;
    size_t count, scales;
    guarded x, scale, zero, y;
    const void *zero_or_null;
    uint32_t *expected;
    char text[256];
} call;

/* Long enough to meet whatever the walk does with rows, runs and tiles of any length. */
static int64_t random_dim(random *r) {
    static const int16_t edges[] = {127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 3000};
    switch (random_below(r, 8)) {
    case 0: return 1;
    case 1: return edges[random_below(r, sizeof edges / sizeof *edges)];
    case 2: return 1 + (int64_t)random_below(r, 70);
    default: return 1 + (int64_t)random_below(r, 9);
    }
}

static void random_shape(call *c, random *r) {
    dql_spec *s = &c->spec;
    do {
        s->rank = random_below(r, MAX_RANK + 1);
        c->count = 1;
        for (size_t d = 0; d < s->rank; d++)
            c->count *= (size_t)(c->shape[d] = random_dim(r));
    } while (c->count > MAX_COUNT);
    s->shape = c->shape;
    s->scale_shape = c->scale_shape;
    s->scale_rank = 0;
    c->scales = 1;
    const size_t granularity = s->rank ? random_below(r, 5) : 0;
    if (granularity == 0) { /* per tensor */
        s->scale_rank = random_below(r, s->rank ? s->rank + 1 : 2);
        for (size_t d = 0; d < s->scale_rank; d++)
            c->scale_shape[d] = 1;
        s->axis = 1;
        return;
    }
    const size_t axis = random_below(r, s->rank);
    const int64_t dim = c->shape[axis];
    s->axis = (int64_t)axis - (random_below(r, 2) ? (int64_t)s->rank : 0);
    if (granularity == 1) { /* per axis */
        s->scale_rank = 1;
        c->scale_shape[0] = dim;
    } else {
        s->scale_rank = s->rank;
        s->block_size = 1 + (int64_t)random_below(r, (size_t)dim + 2);
        if (random_below(r, 2) && s->block_size > 8)
            s->block_size = 1 + s->block_size % 8;
        memcpy(c->scale_shape, c->shape, sizeof c->shape);
        c->scale_shape[axis] = (dim + s->block_size - 1) / s->block_size;
    }
    for (size_t d = 0; d < s->scale_rank; d++)
        c->scales *= (size_t)c->scale_shape[d];
}

static guarded random_buffer(random *r, size_t size) {
    return guarded_new(size, random_below(r, 2) ? AT_START : AT_END, random_below(r, 4));
}

static int32_t random_type(random *r, const reference_type *types, size_t n) {
    return (int32_t)types[random_below(r, n)].type;
}

/* Scales of all kinds: any bits, or of ordinary size. */
static void random_scales(random *r, dql_type type, void *to, size_t n) {
    random_bytes(r, to, reference_bytes(type, n));
    if (random_below(r, 4) == 0)
        return;
    for (size_t k = 0; k < n; k++) {
        if (type == DQL_FLOAT8E8M0) {
            ((uint8_t *)to)[k] = (uint8_t)(117 + random_below(r, 20));
            continue;
        }
        const uint32_t bits = reference_encode(type, (double)(random_below(r, 4000) + 1) / 3000 - 0.5);
        const uint16_t half = (uint16_t)bits;
        if (reference_bits(type) == 32)
            memcpy((uint8_t *)to + 4 * k, &bits, 4);
        else
            memcpy((uint8_t *)to + 2 * k, &half, 2);
    }
}

static void describe(call *c) {
    const dql_spec *s = &c->spec;
    int n = snprintf(c->text, sizeof c->text, "types %d * %d -> %d, axis %lld, block %lld, zero points %s, shape",
                     s->x_type, s->scale_type, s->y_type, (long long)s->axis, (long long)s->block_size,
                     c->zero_or_null ? "yes" : "no");
    for (size_t d = 0; d < s->rank; d++)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, " %lld", (long long)c->shape[d]);
    n += snprintf(c->text + n, sizeof c->text - (size_t)n, ", scale");
    for (size_t d = 0; d < s->scale_rank; d++)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, " %lld", (long long)c->scale_shape[d]);
}

static void call_new(call *c, random *r) {
    *c = (call){0};
    random_shape(c, r);
    dql_spec *s = &c->spec;
    s->x_type = random_type(r, reference_x_types, REFERENCE_X_TYPES);
    s->scale_type = random_type(r, reference_scale_types, REFERENCE_SCALE_TYPES);
    s->y_type = random_type(r, reference_scale_types, REFERENCE_Y_TYPES);
    s->store = (int32_t)random_below(r, 3);
    c->x = random_buffer(r, reference_bytes((dql_type)s->x_type, c->count));
    c->scale = random_buffer(r, reference_bytes((dql_type)s->scale_type, c->scales));
    c->zero = random_buffer(r, reference_bytes((dql_type)s->x_type, c->scales));
    c->y = random_buffer(r, reference_bytes((dql_type)s->y_type, c->count));
    random_bytes(r, c->x.bytes, c->x.size);
    random_scales(r, (dql_type)s->scale_type, c->scale.bytes, c->scales);
    random_bytes(r, c->zero.bytes, c->zero.size);
    if (reference_is_float((dql_type)s->x_type))
        memset(c->zero.bytes, 0, c->zero.size);
    if (s->x_type == DQL_INT32 && random_below(r, 2)) /* most int32 zero points are 0 */
        memset(c->zero.bytes, 0, c->zero.size / 2 & ~(size_t)3);
    c->zero_or_null = random_below(r, 3) ? c->zero.bytes : NULL;
    c->expected = malloc(c->count * sizeof *c->expected);
    for (size_t i = 0; i < c->count; i++)
        c->expected[i] = reference_y(s, c->x.bytes, c->scale.bytes, c->zero_or_null, i);
    describe(c);
}

static void call_free(call *c) {
    guarded_free(&c->x);
    guarded_free(&c->scale);
    guarded_free(&c->zero);
    guarded_free(&c->y);
    free(c->expected);
}

static void ok(const call *c, const char *what, dql_status status) {
    if (status)
        fail_msg("%s: %s\n%s", what, dql_status_text(status), c->text);
}

/* y's elements [0, n) are those of the tensor from `begin` on. */
static void right(const call *c, const char *what, const void *y, size_t begin, size_t n) {
    const dql_type type = (dql_type)c->spec.y_type;
    for (size_t k = 0; k < n; k++) {
        const uint32_t got = reference_bits_of(type, y, k);
        if (!reference_equal(type, got, c->expected[begin + k]))
            fail_msg("%s on %s: element %zu is %x, expected %x\n%s", what, dql_isa_name((dql_isa)c->spec.isa),
                     begin + k, (unsigned)got, (unsigned)c->expected[begin + k], c->text);
    }
}

static void intact(const call *c, const char *what, const guarded *g) {
    if (!guarded_intact(g))
        fail_msg("%s wrote outside y\n%s", what, c->text);
}

/* A copy of the bytes that hold elements [begin, begin + n) of x, alone between guard pages, and where x would begin.
 */
static const void *alone(const call *c, guarded *g, random *r, size_t begin, size_t n) {
    const size_t bits = reference_bits((dql_type)c->spec.x_type);
    const size_t first = begin * bits / 8, last = ((begin + n) * bits + 7) / 8;
    *g = random_buffer(r, last - first);
    memcpy(g->bytes, c->x.bytes + first, last - first);
    return (const void *)((uintptr_t)g->bytes - first);
}

static void check_run(call *c, const dql_plan *plan) {
    memset(c->y.bytes, 0, c->y.size);
    ok(c, "run", dql_run(plan, c->x.bytes, c->scale.bytes, c->zero_or_null, c->y.bytes));
    right(c, "run", c->y.bytes, 0, c->count);
    intact(c, "run", &c->y);
}

static void check_range(call *c, const dql_plan *plan, random *r, size_t begin, size_t end) {
    guarded x, y = random_buffer(r, reference_bytes((dql_type)c->spec.y_type, end - begin));
    const void *x_start = alone(c, &x, r, begin, end - begin);
    ok(c, "range", dql_run_range(plan, x_start, c->scale.bytes, c->zero_or_null, begin, end, y.bytes));
    right(c, "range", y.bytes, begin, end - begin);
    intact(c, "range", &y);
    guarded_free(&x);
    guarded_free(&y);
}

static void check_ranges(call *c, const dql_plan *plan, random *r) {
    for (size_t begin = 0; begin < c->count;) {
        const size_t left = c->count - begin, most = random_below(r, 4) || left < 40 ? left : 40;
        const size_t end = begin + 1 + random_below(r, most);
        check_range(c, plan, r, begin, end);
        begin = end;
    }
}

static void check_slices(call *c, const dql_plan *plan, random *r) {
    const size_t slices = 1 + random_below(r, 9), y_size = reference_bits((dql_type)c->spec.y_type) / 8;
    memset(c->y.bytes, 0, c->y.size);
    for (size_t s = slices; s-- > 0;) {
        size_t begin, end;
        dql_plan_slice(plan, slices, s, &begin, &end);
        ok(c, "slice",
           dql_run_range(plan, c->x.bytes, c->scale.bytes, c->zero_or_null, begin, end, c->y.bytes + begin * y_size));
    }
    right(c, "slices", c->y.bytes, 0, c->count);
    intact(c, "slices", &c->y);
}

/* A random panel. Its stride is often a whole number of rows of some dims, or small and odd; it often begins on a
 * multiple. */
static void check_rows(call *c, const dql_plan *plan, random *r) {
    size_t x_stride = random_below(r, c->count), begin = random_below(r, c->count);
    const size_t kind = c->spec.rank ? random_below(r, 4) : 3;
    if (kind < 2) {
        x_stride = 1;
        for (size_t d = random_below(r, c->spec.rank); d < c->spec.rank; d++)
            x_stride *= (size_t)c->shape[d];
    } else if (kind == 2)
        x_stride = random_below(r, 40);
    if (x_stride && random_below(r, 2))
        begin -= begin % x_stride;
    size_t length = 1 + random_below(r, c->count - begin), rows = 1 + random_below(r, 60);
    if (length > 64 && random_below(r, 2))
        length = 1 + length % 64;
    if (x_stride && (c->count - begin - length) / x_stride + 1 < rows)
        rows = (c->count - begin - length) / x_stride + 1;
    const size_t y_stride = length + random_below(r, 5), y_size = reference_bits((dql_type)c->spec.y_type) / 8;

    guarded x, y = random_buffer(r, ((rows - 1) * y_stride + length) * y_size);
    const void *x_start = alone(c, &x, r, begin, (rows - 1) * x_stride + length);
    ok(c, "rows",
       dql_run_rows(plan, x_start, c->scale.bytes, c->zero_or_null, begin, length, rows, x_stride, y.bytes, y_stride));
    for (size_t row = 0; row < rows; row++) {
        right(c, "rows", y.bytes + row * y_stride * y_size, begin + row * x_stride, length);
        for (size_t k = length; k < y_stride && row + 1 < rows; k++)
            assert_int_equal(y.bytes[(row * y_stride + k) * y_size], CANARY);
    }
    intact(c, "rows", &y);
    guarded_free(&x);
    guarded_free(&y);
}

/* All of it, the rest of it from some element on, and rows of it. */
static void check_in_place(call *c, const dql_plan *plan, random *r) {
    const size_t size = reference_bits((dql_type)c->spec.y_type) / 8;
    if (reference_bits((dql_type)c->spec.x_type) != 8 * size)
        return;
    uint8_t *const y = c->y.bytes;
    memcpy(y, c->x.bytes, c->x.size);
    ok(c, "in place", dql_run(plan, y, c->scale.bytes, c->zero_or_null, y));
    right(c, "in place", y, 0, c->count);

    const size_t begin = random_below(r, c->count);
    memcpy(y, c->x.bytes, c->x.size);
    ok(c, "in place", dql_run_range(plan, y, c->scale.bytes, c->zero_or_null, begin, c->count, y + begin * size));
    right(c, "range in place", y + begin * size, begin, c->count - begin);

    const size_t stride = 1 + random_below(r, c->count - begin), length = 1 + random_below(r, stride);
    const size_t rows = length > c->count - begin ? 0 : (c->count - begin - length) / stride + 1;
    memcpy(y, c->x.bytes, c->x.size);
    ok(c, "in place",
       dql_run_rows(plan, y, c->scale.bytes, c->zero_or_null, begin, length, rows, stride, y + begin * size, stride));
    for (size_t row = 0; row < rows; row++)
        right(c, "rows in place", y + (begin + row * stride) * size, begin + row * stride, length);
    intact(c, "in place", &c->y);
}

static void random_calls(void **state) {
    (void)state;
    random r = {1};
    for (int n = 0; n < 3000; n++) {
        call c;
        call_new(&c, &r);
        for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++) {
            if (!dql_isa_available((dql_isa)isa))
                continue;
            c.spec.isa = isa;
            dql_plan plan;
            ok(&c, "plan", dql_plan_init(&plan, &c.spec));
            assert_int_equal(dql_plan_count(&plan), c.count);
            check_run(&c, &plan);
            check_ranges(&c, &plan, &r);
            check_slices(&c, &plan, &r);
            for (int k = 0; k < 6; k++)
                check_rows(&c, &plan, &r);
            check_in_place(&c, &plan, &r);
        }
        call_free(&c);
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
    assert_int_equal(dql_run(&plan, x, scale, NULL, whole), DQL_OK);
    for (size_t begin = 0; begin < COUNT; begin++)
        for (size_t length = 1; length <= 22 && begin + length <= COUNT; length++)
            for (size_t stride = 0; stride <= 22; stride++)
                for (size_t rows = 2; begin + length + (rows - 1) * stride <= COUNT && rows * length <= COUNT; rows++) {
                    assert_int_equal(dql_run_rows(&plan, x, scale, NULL, begin, length, rows, stride, y, length),
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
    random_scales(&r, DQL_FLOAT32, scale.bytes, last_scale - first_scale + 1);
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
