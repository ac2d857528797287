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
static void check_row(const dql_isa_row *isa, dql_type x_type, dql_type y_type, const dql_panel *panel, size_t r) {
    const size_t i = panel->i + r * panel->x_stride;
    for (size_t k = 0; k < panel->count; k++) {
        const size_t s = r * panel->scale_stride + k / panel->group_length,
                     z = r * panel->zero_stride + k / panel->group_length;
        /* In double the difference is exact where the kernel's has to be; of int32 only with a zero point of 0. */
        const double zero = dql_subtracts(x_type) ? reference_decode(x_type, zero_points, z) : 0;
        const double difference = (double)load_element(x_type, panel->x, i + k) - zero;
        const float product = (float)((double)(float)difference * (double)panel->scale[s]);
        const uint32_t expected = reference_encode(y_type, (double)product),
                       got = reference_bits_of(y_type, panel->y, r * panel->y_stride + k);
        if (!reference_equal(y_type, got, expected))
            fail_msg(
                "%s: type %d -> %d, row %zu of %zu, element %zu of %zu from %zu on, groups of %zu: %x, expected %x",
                dql_isa_name(isa->id), (int)x_type, (int)y_type, r, panel->rows, k, panel->count, i,
                panel->group_length, (unsigned)got, (unsigned)expected);
    }
    const size_t bytes = dql_y_bytes(y_type);
    for (size_t b = panel->count * bytes; b < panel->y_stride * bytes && r + 1 < panel->rows; b++)
        assert_int_equal(((const uint8_t *)panel->y)[r * panel->y_stride * bytes + b], CANARY);
}

/* One call of one kernel with each buffer between guard pages. */
static void check(const dql_isa_row *isa, dql_type x_type, size_t y_number, const dql_panel *call, guard_side side,
                  size_t off) {
    const dql_type y_type = reference_scale_types[y_number].type;
    dql_panel panel = *call;
    const size_t line_scales = (panel.count + panel.group_length - 1) / panel.group_length,
                 scales = (panel.rows - 1) * panel.scale_stride + line_scales,
                 zeros = (panel.rows - 1) * panel.zero_stride + line_scales;
    guarded y = guarded_new(reference_bytes(y_type, (panel.rows - 1) * panel.y_stride + panel.count), side, off);
    int32_t words[MOST + DQL_WIDEN_SLACK] = {0};
    if (dql_subtracts(x_type))
        isa->kernels->widen[x_type](zero_points, 0, words, zeros);
    guarded s = copy_words(panel.scale, scales, side), z = copy_words(words, zeros, side);
    panel.y = y.bytes;
    panel.scale = (const float *)(const void *)s.bytes;
    const bool none = zeros <= DQL_NO_ZEROS && !memcmp(words, dql_no_zero, zeros * sizeof *words);
    panel.zero = none && side == AT_START ? dql_no_zero : (const int32_t *)(const void *)z.bytes;
    dql_kernel_of(isa->kernels, x_type, y_number)(&panel);
    for (size_t r = 0; r < panel.rows; r++)
        check_row(isa, x_type, y_type, &panel, r);
    assert_true(guarded_intact(&y));
    guarded_free(&y);
    guarded_free(&s);
    guarded_free(&z);
}

/* Of n scales, and some of them 0, or all. */
static void random_zeros(random *r, size_t n) {
    random_bytes(r, zero_points, n * sizeof(int16_t));
    if (random_below(r, 3) == 0)
        memset(zero_points, 0, n * sizeof(int16_t));
    for (size_t k = 0; k < n * sizeof(int16_t); k++)
        if (random_below(r, 4) == 0)
            zero_points[k] = 0;
}

/* A random call of each pair of types. */
static void check_random(const dql_isa_row *isa, random *r, const reference_type *type, size_t rows, size_t count,
                         size_t group_length) {
    static float scale[MOST];
    dql_panel panel = {
        .i = random_below(r, 9), .count = count, .rows = rows, .group_length = group_length, .scale = scale};
    panel.x_stride = random_below(r, count + 9);
    panel.y_stride = count + random_below(r, 3);
    const size_t line_scales = (count + group_length - 1) / group_length;
    if (rows > 1 && random_below(r, 3) == 0)
        panel.scale_stride = 1 + random_below(r, (MOST - line_scales) / (rows - 1) < 20 ? 1 : line_scales + 2);
    if (panel.scale_stride) /* zero points are as far apart, or not, or have others beside them */
        panel.zero_stride = random_below(r, 3) ? panel.scale_stride : random_below(r, line_scales + 7);
    if ((rows - 1) * panel.zero_stride + line_scales > MOST)
        panel.zero_stride = panel.scale_stride;
    const guard_side side = random_below(r, 2) ? AT_START : AT_END;
    /* Bytes of x before element i are not to be read either: they are on the page that can't be. */
    const size_t first = panel.i * type->bits / 8;
    guarded x = guarded_new(reference_bytes(type->type, panel.i + (rows - 1) * panel.x_stride + count) - first, side,
                            random_below(r, 4));
    random_bytes(r, x.bytes, x.size);
    panel.x = (const void *)((uintptr_t)x.bytes - first);
    const size_t scales = (rows - 1) * panel.scale_stride + line_scales;
    assert_true(scales <= MOST);
    for (size_t k = 0; k < scales; k++)
        scale[k] = (float)ldexp((double)(random_below(r, 1 << 24) + 1), (int)random_below(r, 60) - 50);
    if (random_below(r, 4) == 0) /* one of them may need other code */
        scale[scales - 1] = 0x1.8p-130f;
    random_zeros(r, (rows - 1) * panel.zero_stride + line_scales);
    for (size_t y = 0; y < DQL_Y_END; y++)
        check(isa, type->type, y, &panel, side, random_below(r, 4));
    guarded_free(&x);
}

/* Every count, group length and start that could make a difference to a vector of up to 64 elements. */
static void shapes_of(const dql_isa_row *isa) {
    static const size_t group_lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 49, 64, 100, 1000};
    random r = {1};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t count = 1; count < 200; count += count < 70 ? 1 : 13)
            for (size_t n = 0; n < 6; n++)
                check_random(isa, &r, &reference_x_types[t], 1, count,
                             group_lengths[random_below(&r, sizeof group_lengths / sizeof *group_lengths)]);
}

/* Rows, some of which are taken together. */
static void panels_of(const dql_isa_row *isa) {
    static const size_t group_lengths[] = {1, 1, 1, 2, 3, 5, 8, 9, 15, 16, 32, 49, 300};
    random r = {7};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t rows = 2; rows < 11; rows++)
            for (size_t n = 0; n < 12; n++)
                check_random(isa, &r, &reference_x_types[t], rows, 1 + random_below(&r, n < 6 ? 70 : 200),
                             group_lengths[random_below(&r, sizeof group_lengths / sizeof *group_lengths)]);
    /* Few whole groups: some ISAs have loops for them. */
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t length = 16; length <= 128; length *= 2)
            for (size_t count = length; count <= 144; count += length)
                check_random(isa, &r, &reference_x_types[t], 2 + random_below(&r, 9), count, length);
}

/* Rows that kernels write past the caches. */
static void streamed_rows_of(const dql_isa_row *isa) {
    static float scale[256];
    random r = {8};
    for (size_t k = 0; k < 256; k++)
        scale[k] = (float)ldexp((double)(random_below(&r, 1 << 24) + 1), (int)random_below(&r, 60) - 50);
    for (size_t t = 0; isa->kernels->stream && t < REFERENCE_X_TYPES; t++)
        for (size_t rows = 1; rows < 10; rows++) {
            const reference_type *const type = &reference_x_types[t];
            dql_panel panel = {.i = 4 * random_below(&r, 3),
                               .count = 32 * (1 + random_below(&r, 7)),
                               .rows = rows,
                               .group_length = 1,
                               .scale = scale,
                               .streams = true};
            panel.x_stride = 4 * random_below(&r, panel.count / 4 + 9);
            panel.y_stride = panel.count + 32 * random_below(&r, 3);
            const guard_side side = random_below(&r, 2) ? AT_START : AT_END;
            guarded x =
                guarded_new(reference_bytes(type->type, panel.i + (rows - 1) * panel.x_stride + panel.count), side, 0);
            random_bytes(&r, x.bytes, x.size);
            panel.x = x.bytes;
            random_zeros(&r, panel.count);
            for (size_t y = 0; y < DQL_Y_END; y++)
                check(isa, type->type, y, &panel, side, 0);
            guarded_free(&x);
        }
}

/* Groups that are long enough for tables of outputs, and what is left by them. */
static void long_groups_of(const dql_isa_row *isa) {
    static const size_t group_lengths[] = {255, 256, 257, 320, 768, 999, 1000, 1001, 1064, 2049, 4000};
    random r = {6};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t n = 0; n < sizeof group_lengths / sizeof *group_lengths; n++)
            for (size_t k = 0; k < 4; k++)
                check_random(isa, &r, &reference_x_types[t], 1, 200 + random_below(&r, 3800), group_lengths[n]);
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
    /* One group of all codes, several times if they are few: for these there are tables of outputs. And short groups.
     */
    enum { ALL = 1 << 16, FEW = 2048, LEAST_GROUP = ALL / MOST };
    static const size_t group_lengths[] = {ALL, 128, 64, 32, LEAST_GROUP};
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
                reference_write_code(x.bytes, bits, k, (uint32_t)k);
        }
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            random_zeros(&r, MOST);
            for (size_t k = 0; k < MOST; k++)
                scale[k] = scales[s];
            for (size_t n = 0; n < (bits >= 16 ? 2 : sizeof group_lengths / sizeof *group_lengths); n++) {
                const dql_panel panel = {
                    .x = x.bytes, .count = count, .rows = 1, .group_length = group_lengths[n], .scale = scale};
                for (size_t y = 0; y < DQL_Y_END; y++)
                    check(isa, type, y, &panel, AT_END, 0);
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

static void long_groups(void **state) {
    (void)state;
    for_each_isa(long_groups_of);
}

static void streamed_rows(void **state) {
    (void)state;
    for_each_isa(streamed_rows_of);
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
        cmocka_unit_test(long_groups),
        cmocka_unit_test(streamed_rows),
        cmocka_unit_test(values),
        cmocka_unit_test(widen),
        cmocka_unit_test(streams_the_same_bytes),
        cmocka_unit_test(streams_by_its_own_bytes),
        cmocka_unit_test(store_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
