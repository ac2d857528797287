/* The kernel contract, for every entry of the table of every ISA that runs here. */
#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "plan.h"
#include "scalar/element.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Calls f with each table that runs here. */
static void for_each_isa(void (*f)(const dql_isa_row *isa)) {
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_available((dql_isa)isa))
            f(dql_isa_find(isa));
}

/* As many of these as a panel of up to MOST scales needs. */
enum { MOST = 4096 };
static uint8_t zero_points[MOST * sizeof(int16_t)];

static guarded copy_words(const void *from, size_t n, guard_side side) {
    guarded g = guarded_new(n * sizeof(uint32_t), side, 0);
    memcpy(g.bytes, from, g.size);
    return g;
}

/* Row r of what a kernel has made of a panel. */
static void check_row(const dql_isa_row *isa, dql_type x_type, dql_type y_type, const dql_panel *p, size_t r) {
    const size_t i = p->i + r * p->x_stride;
    for (size_t k = 0; k < p->count; k++) {
        const size_t s = r * p->scale_stride + k / p->group_length, z = r * p->zero_stride + k / p->group_length;
        /* In double the difference is exact where the kernel's has to be; of int32 only with a zero point of 0. */
        const double zero = dql_subtracts(x_type) ? reference_decode(x_type, zero_points, z) : 0;
        const double difference = (double)load_element(x_type, p->x, i + k) - zero;
        const float product = (float)((double)(float)difference * (double)p->scale[s]);
        const uint32_t expected = reference_encode(y_type, (double)product),
                       got = reference_bits_of(y_type, p->y, r * p->y_stride + k);
        if (!reference_equal(y_type, got, expected))
            fail_msg("%s: type %d -> %d, row %zu of %zu, element %zu of %zu from %zu on, run %zu: %x, expected %x",
                     dql_isa_name(isa->id), (int)x_type, (int)y_type, r, p->rows, k, p->count, i, p->group_length,
                     (unsigned)got, (unsigned)expected);
    }
    const size_t bytes = dql_y_bytes(y_type);
    for (size_t b = p->count * bytes; b < p->y_stride * bytes && r + 1 < p->rows; b++)
        assert_int_equal(((const uint8_t *)p->y)[r * p->y_stride * bytes + b], CANARY);
}

/* One call of one kernel with each buffer between guard pages. */
static void check(const dql_isa_row *isa, dql_type x_type, size_t y_number, const dql_panel *panel, guard_side side,
                  size_t off) {
    const dql_type y_type = reference_scale_types[y_number].type;
    dql_panel p = *panel;
    const size_t line_scales = (p.count + p.group_length - 1) / p.group_length,
                 scales = (p.rows - 1) * p.scale_stride + line_scales,
                 zeros = (p.rows - 1) * p.zero_stride + line_scales;
    guarded y = guarded_new(reference_bytes(y_type, (p.rows - 1) * p.y_stride + p.count), side, off);
    int32_t entries[MOST + DQL_WIDEN_SLACK] = {0};
    if (dql_subtracts(x_type))
        isa->kernels->widen[x_type](zero_points, 0, entries, zeros);
    guarded s = copy_words(p.scale, scales, side), z = copy_words(entries, zeros, side);
    p.y = y.bytes;
    p.scale = (const float *)(const void *)s.bytes;
    p.zero = (const int32_t *)(const void *)z.bytes;
    dql_kernel_of(isa->kernels, x_type, y_number)(&p);
    for (size_t r = 0; r < p.rows; r++)
        check_row(isa, x_type, y_type, &p, r);
    assert_true(guarded_intact(&y));
    guarded_free(&y);
    guarded_free(&s);
    guarded_free(&z);
}

/* Of n scales, and some of them 0. */
static void random_zeros(random *r, size_t n) {
    random_bytes(r, zero_points, n * sizeof(int16_t));
    for (size_t k = 0; k < n * sizeof(int16_t); k++)
        if (random_below(r, 4) == 0)
            zero_points[k] = 0;
}

/* A random call of each pair of types. */
static void check_random(const dql_isa_row *isa, random *r, const reference_type *type, size_t rows, size_t count,
                         size_t run) {
    static float scale[MOST];
    dql_panel p = {.i = random_below(r, 9), .count = count, .rows = rows, .group_length = run, .scale = scale};
    p.x_stride = random_below(r, count + 9);
    p.y_stride = count + random_below(r, 3);
    const size_t line_scales = (count + run - 1) / run;
    if (rows > 1 && random_below(r, 3) == 0)
        p.scale_stride = 1 + random_below(r, (MOST - line_scales) / (rows - 1) < 20 ? 1 : line_scales + 2);
    if (p.scale_stride) /* zero points are as far apart, or not, or have others beside them */
        p.zero_stride = random_below(r, 3) ? p.scale_stride : random_below(r, line_scales + 7);
    if ((rows - 1) * p.zero_stride + line_scales > MOST)
        p.zero_stride = p.scale_stride;
    const guard_side side = random_below(r, 2) ? AT_START : AT_END;
    /* Bytes of x before element i are not to be read either: they are on the page that can't be. */
    const size_t first = p.i * type->bits / 8;
    guarded x = guarded_new(reference_bytes(type->type, p.i + (rows - 1) * p.x_stride + count) - first, side,
                            random_below(r, 4));
    random_bytes(r, x.bytes, x.size);
    p.x = (const void *)((uintptr_t)x.bytes - first);
    const size_t scales = (rows - 1) * p.scale_stride + line_scales;
    assert_true(scales <= MOST);
    for (size_t k = 0; k < scales; k++)
        scale[k] = (float)ldexp((double)(random_below(r, 1 << 24) + 1), (int)random_below(r, 60) - 50);
    if (random_below(r, 4) == 0) /* one of them may need other code */
        scale[scales - 1] = 0x1.8p-130f;
    random_zeros(r, (rows - 1) * p.zero_stride + line_scales);
    for (size_t y = 0; y < DQL_Y_END; y++)
        check(isa, type->type, y, &p, side, random_below(r, 4));
    guarded_free(&x);
}

/* Every count, run and start that could make a difference to a vector of up to 64 elements. */
static void shapes_of(const dql_isa_row *isa) {
    static const size_t runs[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 49, 64, 100, 1000};
    random r = {1};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t count = 1; count < 200; count += count < 70 ? 1 : 13)
            for (size_t n = 0; n < 6; n++)
                check_random(isa, &r, &reference_x_types[t], 1, count,
                             runs[random_below(&r, sizeof runs / sizeof *runs)]);
}

/* Rows, some of which are taken together. */
static void panels_of(const dql_isa_row *isa) {
    static const size_t runs[] = {1, 1, 1, 2, 3, 5, 8, 9, 15, 16, 32, 49, 300};
    random r = {7};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t rows = 2; rows < 11; rows++)
            for (size_t n = 0; n < 12; n++)
                check_random(isa, &r, &reference_x_types[t], rows, 1 + random_below(&r, n < 6 ? 70 : 200),
                             runs[random_below(&r, sizeof runs / sizeof *runs)]);
    /* Few whole runs: some ISAs have loops for them. */
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t run = 16; run <= 128; run *= 2)
            for (size_t count = run; count <= 144; count += run)
                check_random(isa, &r, &reference_x_types[t], 2 + random_below(&r, 9), count, run);
}

/* Runs that are long enough for tables of outputs, and what is left by them. */
static void long_runs_of(const dql_isa_row *isa) {
    static const size_t runs[] = {255, 256, 257, 320, 768, 999, 1000, 1001, 1064, 2049, 4000};
    random r = {6};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t n = 0; n < sizeof runs / sizeof *runs; n++)
            for (size_t k = 0; k < 4; k++)
                check_random(isa, &r, &reference_x_types[t], 1, 200 + random_below(&r, 3800), runs[n]);
}

/* Element i of a type of at most 8 bits = the lowest bits of code. */
static void set_code(uint8_t *bytes, unsigned bits, size_t i, uint8_t code) {
    const unsigned shift = (unsigned)(i * bits % 8), mask = (1u << bits) - 1;
    uint8_t *byte = &bytes[i * bits / 8];
    *byte = (uint8_t)((*byte & ~(mask << shift)) | (code & mask) << shift);
}

/* Every code of up to 16 bits, and many int32, with scales of every kind. */
static void values_of(const dql_isa_row *isa) {
    static const float scales[] = {1,
                                   -1,
                                   0,
                                   -0.0f,
                                   0.1f,
                                   0x1.000002p-3f,
                                   0x1.fffffep-4f,
                                   0x1p-14f,
                                   0x1.3p-20f,
                                   0x1p-24f,
                                   0x1.8p-110f,
                                   0x1.8p-126f,
                                   0x1p-149f,
                                   0x1.fffffcp-127f,
                                   -0x1.234568p-133f,
                                   0x1.8p8f,
                                   0x1.fffffep15f,
                                   0x1.fffffep127f,
                                   INFINITY,
                                   NAN};
    /* One run of all codes, several times if they are few: for these there are tables of outputs. And short runs. */
    enum { ALL = 1 << 16, FEW = 2048, LEAST_RUN = ALL / MOST };
    static const size_t runs[] = {ALL, 128, 64, 32, LEAST_RUN};
    static float scale[MOST];
    random r = {2};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++) {
        const dql_type type = reference_x_types[t].type;
        const unsigned bits = reference_x_types[t].bits;
        const size_t count = bits >= 16 ? ALL : FEW;
        guarded x = guarded_new(reference_bytes(type, count), AT_END, 0);
        random_bytes(&r, x.bytes, x.size);
        for (size_t k = 0; k < count; k++) {
            const uint16_t code = (uint16_t)k;
            if (bits == 16)
                memcpy(x.bytes + 2 * k, &code, 2);
            else if (bits <= 8)
                set_code(x.bytes, bits, k, (uint8_t)k);
        }
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            random_zeros(&r, MOST);
            for (size_t k = 0; k < MOST; k++)
                scale[k] = scales[s];
            for (size_t n = 0; n < (bits >= 16 ? 2 : sizeof runs / sizeof *runs); n++) {
                const dql_panel p = {.x = x.bytes, .count = count, .rows = 1, .group_length = runs[n], .scale = scale};
                for (size_t y = 0; y < DQL_Y_END; y++)
                    check(isa, type, y, &p, AT_END, 0);
            }
        }
        guarded_free(&x);
    }
}

static void widen_of(const dql_isa_row *isa) {
    enum { COUNTS = 300 };
    random r = {3};
    for (size_t t = 0; t < REFERENCE_X_TYPES + REFERENCE_SCALE_TYPES; t++) {
        const bool is_scale = t >= REFERENCE_X_TYPES;
        const reference_type *type = is_scale ? &reference_scale_types[t - REFERENCE_X_TYPES] : &reference_x_types[t];
        if (!is_scale && !dql_subtracts(type->type))
            continue;
        for (size_t count = 1; count <= COUNTS; count++) {
            const size_t i = random_below(&r, 5), first = i * type->bits / 8;
            const guard_side side = random_below(&r, 2) ? AT_START : AT_END;
            guarded from = guarded_new(reference_bytes(type->type, i + count) - first, side, random_below(&r, 4));
            guarded to = guarded_new((count + DQL_WIDEN_SLACK) * sizeof(float), side, 0);
            random_bytes(&r, from.bytes, from.size);
            if (type->type == DQL_FLOAT32 && from.size >= 16) /* NaNs of which only the lower half tells */
                memcpy(from.bytes + from.size / 4 / 2 * 4 - 4, (const uint32_t[]){0x7f800001, 0xffffffff}, 8);
            const void *start = (const void *)((uintptr_t)from.bytes - first);
            isa->kernels->widen[type->type](start, i, to.bytes, count);
            for (size_t k = 0; k < count; k++) {
                const double number = reference_decode(type->type, start, i + k);
                /* A NaN is always the same one, which is what reference_encode makes too. */
                const uint32_t got = reference_bits_of(DQL_FLOAT32, to.bytes, k);
                const bool is_int = !is_scale && got == (uint32_t)(int32_t)number;
                if (!is_int && got != reference_encode(DQL_FLOAT32, number))
                    fail_msg("%s: %s, element %zu of %zu from %zu on", dql_isa_name(isa->id), type->name, k, count, i);
            }
            assert_true(guarded_intact(&to));
            guarded_free(&from);
            guarded_free(&to);
        }
    }
}

static void count_of(const dql_isa_row *isa) {
    size_t kernels = 0, widenings = 0;
    for (size_t type = 0; type < DQL_TYPE_END; type++) {
        const bool widens = isa->kernels->widen[type] != NULL;
        assert_int_equal(widens, dql_subtracts((dql_type)type) || dql_is_scale((dql_type)type));
        widenings += widens;
        for (size_t y = 0; y < DQL_Y_END; y++)
            kernels += dql_kernel_of(isa->kernels, (dql_type)type, y) != NULL;
    }
    assert_int_equal(kernels, REFERENCE_X_TYPES * REFERENCE_Y_TYPES);
    printf("tested: ISA %s, %zu kernels, %zu widenings, %s\n", dql_isa_name(isa->id), kernels, widenings,
           isa->kernels->stream ? "streaming" : "no streaming");
}

static void shapes(void **state) {
    (void)state;
    for_each_isa(shapes_of);
}

static void panels(void **state) {
    (void)state;
    for_each_isa(panels_of);
}

static void long_runs(void **state) {
    (void)state;
    for_each_isa(long_runs_of);
}

static void values(void **state) {
    (void)state;
    for_each_isa(values_of);
}

static void widen(void **state) {
    (void)state;
    for_each_isa(widen_of);
}

static void tables_are_complete(void **state) {
    (void)state;
    for_each_isa(count_of);
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_compiled(isa) && !dql_isa_available((dql_isa)isa))
            printf("tested: not ISA %s, which this CPU lacks\n", dql_isa_name((dql_isa)isa));
}

/* ---- streaming, by plans whose non-temporal copy is an ordinary one that counts ---- */

static size_t streamed;

static void count_and_copy(void *y, const void *tile, size_t bytes) {
    assert_true((uintptr_t)tile % 64 == 0);
    memcpy(y, tile, bytes);
    streamed += bytes;
}

static dql_plan streaming_plan(const dql_spec *spec, size_t above) {
    dql_plan plan;
    assert_int_equal(dql_plan_init(&plan, spec), DQL_OK);
    assert_non_null(dql_plan_get(&plan));
    dql_plan_data data = *dql_plan_get(&plan);
    data.stream = count_and_copy;
    data.stream_above = above;
    memcpy(&plan, &data, sizeof data);
    return plan;
}

static void streams_the_same_bytes(void **state) {
    (void)state;
    enum { ROWS = 3, COLUMNS = 7001 };
    static int8_t x[ROWS * COLUMNS], zero[ROWS * COLUMNS];
    static float scale[ROWS * COLUMNS], cached[ROWS * COLUMNS], stored[ROWS * COLUMNS];
    random r = {4};
    random_bytes(&r, x, sizeof x);
    random_bytes(&r, zero, sizeof zero);
    for (size_t k = 0; k < ROWS * COLUMNS; k++)
        scale[k] = (float)(k + 1);
    for (int64_t block = 1; block < COLUMNS + 2; block += block < 40 ? 1 : 871) {
        const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS, (COLUMNS + block - 1) / block};
        const dql_spec spec = {.x_type = DQL_INT8,
                               .scale_type = DQL_FLOAT32,
                               .y_type = DQL_FLOAT32,
                               .rank = 2,
                               .shape = shape,
                               .scale_rank = 2,
                               .scale_shape = scale_shape,
                               .axis = 1,
                               .block_size = block};
        const dql_plan never = streaming_plan(&spec, sizeof cached);
        const dql_plan always = streaming_plan(&spec, sizeof cached - 1);
        streamed = 0;
        assert_int_equal(dql_run(&never, x, scale, zero, cached), DQL_OK);
        assert_int_equal(streamed, 0);
        assert_int_equal(dql_run(&always, x, scale, zero, stored), DQL_OK);
        assert_int_equal(streamed, sizeof stored);
        assert_memory_equal(stored, cached, sizeof stored);
    }
}

/* A call streams by the bytes that it writes itself; rows of a panel together. */
static void streams_by_its_own_bytes(void **state) {
    (void)state;
    enum { COLUMNS = 100, ROWS = 50, COUNT = ROWS * COLUMNS };
    static int8_t x[COUNT];
    static float whole[COUNT], part[COUNT];
    const float scale = 0.5f;
    const int64_t shape[] = {ROWS, COLUMNS};
    random r = {5};
    random_bytes(&r, x, sizeof x);
    const dql_spec spec = {
        .x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32, .rank = 2, .shape = shape};
    const dql_plan plan = streaming_plan(&spec, 1000);
    assert_int_equal(dql_run(&plan, x, &scale, NULL, whole), DQL_OK);
    const struct {
        size_t length, rows, streamed; /* elements, rows, bytes */
    } panels[] = {{250, 1, 0}, {251, 1, 1004}, {10, 25, 0}, {10, 26, 1040}, {1, 250, 0}, {1, 251, 1004}};
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        streamed = 0;
        assert_int_equal(
            dql_run_rows(&plan, x, &scale, NULL, 7, panels[k].length, panels[k].rows, 19, part, panels[k].length),
            DQL_OK);
        assert_int_equal(streamed, panels[k].streamed);
        for (size_t row = 0; row < panels[k].rows; row++)
            assert_memory_equal(part + row * panels[k].length, whole + 7 + row * 19, panels[k].length * sizeof *part);
        if (panels[k].rows > 1)
            continue;
        streamed = 0;
        assert_int_equal(dql_run_range(&plan, x, &scale, NULL, 7, 7 + panels[k].length, part), DQL_OK);
        assert_int_equal(streamed, panels[k].streamed);
    }
}

static void store_modes(void **state) {
    (void)state;
    dql_kernels kernels = *dql_isa_find(DQL_ISA_SCALAR)->kernels;
    kernels.stream = NULL;
    for (int32_t store = DQL_STORE_AUTO; store <= DQL_STORE_STREAM; store++)
        assert_true(dql_stream_above(&kernels, store) == SIZE_MAX);
    kernels.stream = count_and_copy;
    assert_true(dql_stream_above(&kernels, DQL_STORE_AUTO) == dql_cpu_last_level_cache());
    assert_true(dql_stream_above(&kernels, DQL_STORE_CACHED) == SIZE_MAX);
    assert_true(dql_stream_above(&kernels, DQL_STORE_STREAM) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(shapes),
        cmocka_unit_test(panels),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(values),
        cmocka_unit_test(widen),
        cmocka_unit_test(streams_the_same_bytes),
        cmocka_unit_test(streams_by_its_own_bytes),
        cmocka_unit_test(store_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
