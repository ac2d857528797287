/* Every kernel of every ISA that runs here equals the scalar one: every block size from 1 to 300, and every count up to
 * three vectors of 16 from every start offset. Buffers begin or end where memory does. */
#include "dispatch/dispatch.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <string.h>

enum { BLOCKS = 300, OFFSETS = 17, COUNTS = 3 * 16 + 1, MOST = 3 * BLOCKS, SLACK = 64 };

/* Whole pages, so that both ends are against a guard page; and how many floats that is. */
enum { SIZE = 1 << 16, FLOATS = SIZE / sizeof(float) };
static guarded x_memory, scale_memory, zero_memory, y_memory;
static uint8_t zero_points[SIZE];

/* `size` bytes of it, against the guard page on this side. */
static uint8_t *part(const guarded *memory, size_t size, guard_side side) {
    return side == AT_END ? memory->bytes + memory->size - size : memory->bytes;
}

/* What is next to y where there is no guard page. */
static bool intact(const uint8_t *y, size_t size, guard_side side) {
    const uint8_t *p = side == AT_END ? y - SLACK : y + size;
    for (size_t k = 0; k < SLACK; k++)
        if (p[k] != CANARY)
            return false;
    return true;
}

static void run_kernel(const dql_kernels *isa, dql_type x_type, size_t y_number, const void *x, size_t i, void *y,
                       size_t count, size_t group_length, guard_side side) {
    const size_t scales = (count + group_length - 1) / group_length, size = scales * sizeof(float);
    uint8_t *const zero = part(&zero_memory, size, side);
    int32_t words[MOST + DQL_WIDEN_SLACK] = {0};
    if (dql_subtracts(x_type))
        isa->widen[x_type](zero_points, 0, words, scales);
    memcpy(zero, words, size);
    const dql_panel panel = {.x = x,
                             .y = y,
                             .i = i,
                             .count = count,
                             .rows = 1,
                             .group_length = group_length,
                             .scale = (const float *)(const void *)part(&scale_memory, size, side),
                             .zero = (const int32_t *)(const void *)zero};
    dql_kernel_of(isa, x_type, y_number)(&panel);
}

static void check(const dql_isa_row *isa, const reference_type *x_type, size_t y_number, size_t i, size_t count,
                  size_t group_length, guard_side side) {
    static uint8_t expected[MOST * sizeof(float)];
    const dql_type y_type = reference_scale_types[y_number].type;
    const size_t first = i * x_type->bits / 8, x_size = reference_bytes(x_type->type, i + count) - first;
    const size_t y_size = reference_bytes(y_type, count);
    const void *x = (const void *)((uintptr_t)part(&x_memory, x_size, side) - first);
    uint8_t *y = part(&y_memory, y_size, side);
    run_kernel(dql_isa_find(DQL_ISA_SCALAR)->kernels, x_type->type, y_number, x, i, expected, count, group_length,
               side);
    run_kernel(isa->kernels, x_type->type, y_number, x, i, y, count, group_length, side);
    if (memcmp(y, expected, y_size) != 0)
        for (size_t k = 0; k < count; k++) {
            const uint32_t got = reference_bits_of(y_type, y, k), wanted = reference_bits_of(y_type, expected, k);
            if (!reference_equal(y_type, got, wanted))
                fail_msg("%s: %s to type %d, element %zu of %zu from %zu on, groups of %zu: %x, expected %x",
                         dql_isa_name(isa->id), x_type->name, (int)y_type, k, count, i, group_length, (unsigned)got,
                         (unsigned)wanted);
        }
    if (!intact(y, y_size, side))
        fail_msg("%s: %s to type %d, %zu from %zu on, groups of %zu: wrote outside y", dql_isa_name(isa->id),
                 x_type->name, (int)y_type, count, i, group_length);
    memset(y, CANARY, y_size);
}

static void fill(random *r) {
    random_bytes(r, x_memory.bytes, x_memory.size);
    random_bytes(r, zero_points, sizeof zero_points);
    for (size_t k = 0; k < FLOATS; k++) {
        const float scale = (float)(random_below(r, 1 << 24) + 1) * (random_below(r, 9) ? 0x1p-30f : 0x1p-140f);
        memcpy(scale_memory.bytes + k * sizeof scale, &scale, sizeof scale);
    }
}

/* Up to three blocks, of which the last is mostly short. */
static void block_sizes_of(const dql_isa_row *isa, random *r, const reference_type *x_type, size_t y_number) {
    for (size_t length = 1; length <= BLOCKS; length++) {
        const guard_side side = length % 2 ? AT_START : AT_END;
        check(isa, x_type, y_number, random_below(r, OFFSETS), 3 * length - random_below(r, length), length, side);
    }
}

static void counts_of(const dql_isa_row *isa, random *r, const reference_type *x_type, size_t y_number) {
    static const size_t group_lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 32, 33, 256, 1000};
    for (size_t count = 1; count <= COUNTS; count++)
        for (size_t i = 0; i < OFFSETS; i++) {
            const size_t length = group_lengths[random_below(r, sizeof group_lengths / sizeof *group_lengths)];
            check(isa, x_type, y_number, i, count, length, (count + i) % 2 ? AT_START : AT_END);
        }
}

static void for_each_kernel(void (*f)(const dql_isa_row *, random *, const reference_type *, size_t)) {
    random r = {7};
    for (int isa = DQL_ISA_SCALAR + 1; dql_isa_name((dql_isa)isa); isa++)
        for (size_t t = 0; t < REFERENCE_X_TYPES && dql_isa_available((dql_isa)isa); t++) {
            fill(&r);
            for (size_t y = 0; y < REFERENCE_Y_TYPES; y++)
                f(dql_isa_find(isa), &r, &reference_x_types[t], y);
        }
}

static void block_sizes(void **state) {
    (void)state;
    for_each_kernel(block_sizes_of);
}

static void counts(void **state) {
    (void)state;
    for_each_kernel(counts_of);
}

static int set_up(void **state) {
    (void)state;
    guarded *const memories[] = {&x_memory, &scale_memory, &zero_memory, &y_memory};
    for (size_t k = 0; k < sizeof memories / sizeof *memories; k++)
        *memories[k] = guarded_new(SIZE, AT_END, 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_sizes),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
