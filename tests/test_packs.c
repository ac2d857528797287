/* Elements of any number of bits, as the code above the kernels sees them: that zero points are 0, and rows of them
 * that are gathered. 6 bits, four in three bytes, are no type yet; here they are what a plan says. */
#include "scales.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/test.h"
#include "zero_check.h"

#include <string.h>

enum { COUNT = 83 };

static const struct packing {
    unsigned bits;
    dql_pack pack;
} packings[] = {{2, {2, 1}}, {4, {1, 1}}, {6, {2, 3}}, {8, {0, 1}}};
enum { PACKINGS = sizeof packings / sizeof *packings };

static unsigned bits_now; /* of what read_bits reads */

static uint32_t read_bits(const void *from, size_t i, unsigned bits) {
    uint32_t value = 0;
    for (unsigned k = 0; k < bits; k++)
        value |= (uint32_t)(((const uint8_t *)from)[(i * bits + k) / 8] >> (i * bits + k) % 8 & 1) << k;
    return value;
}

static void widen_bits(const void *from, size_t i, void *to, size_t count) {
    for (size_t k = 0; k < count; k++)
        ((uint32_t *)to)[k] = read_bits(from, i + k, bits_now);
}

static void set_bits(uint8_t *to, size_t i, unsigned bits, unsigned value) {
    for (unsigned k = 0; k < bits; k++) {
        uint8_t *const byte = to + (i * bits + k) / 8;
        *byte = (uint8_t)((*byte & ~(1u << (i * bits + k) % 8)) | (value >> k & 1) << (i * bits + k) % 8);
    }
}

/* As many elements as there are scales: a line whose groups have one. */
static dql_plan_data plan_of(const struct packing *p, uint8_t zero_bits) {
    return (dql_plan_data){.x_pack = p->pack,
                           .zero_bits = zero_bits,
                           .count = COUNT,
                           .line_length = COUNT,
                           .group_length = 1,
                           .line_scales = COUNT,
                           .axis_lines = 1,
                           .block_lines = 1};
}

static void zero_points(void **state) {
    (void)state;
    random r = {1};
    for (size_t p = 0; p < PACKINGS; p++) {
        const unsigned bits = packings[p].bits;
        guarded zero = guarded_new((COUNT * bits + 7) / 8, AT_END, 0);
        for (int n = 0; n < 3000; n++) {
            /* All bits but the sign must be 0, or all. One zero point breaks that, or none. */
            const unsigned all = (1u << bits) - 1, zero_bits = n % 2 ? all : all >> 1;
            const dql_plan_data plan = plan_of(&packings[p], (uint8_t)zero_bits);
            random_bytes(&r, zero.bytes, zero.size);
            for (size_t k = 0; k < COUNT; k++)
                set_bits(zero.bytes, k, bits, read_bits(zero.bytes, k, bits) & ~zero_bits);
            const size_t begin = random_below(&r, COUNT), end = begin + 1 + random_below(&r, COUNT - begin);
            const size_t broken = random_below(&r, COUNT);
            const unsigned bit = 1u << random_below(&r, bits);
            set_bits(zero.bytes, broken, bits, read_bits(zero.bytes, broken, bits) | (bit & zero_bits));
            const bool right = broken < begin || broken >= end || !(bit & zero_bits);
            assert_true(dql_zeros_of_range_are_0(&plan, zero.bytes, begin, end) == right);
            assert_true(dql_zeros_of_rows_are_0(&plan, zero.bytes, begin, end - begin, 1, 0) == right);
        }
        guarded_free(&zero);
    }
}

static void gathered_rows(void **state) {
    (void)state;
    random r = {2};
    for (size_t p = 0; p < PACKINGS; p++) {
        bits_now = packings[p].bits;
        guarded from = guarded_new((COUNT * bits_now + 7) / 8, AT_END, 0);
        random_bytes(&r, from.bytes, from.size);
        const narrow source = {from.bytes, packings[p].pack, widen_bits};
        for (int n = 0; n < 3000; n++) {
            scale_rows s = {.n = 1 + random_below(&r, 20), .rows = 1 + random_below(&r, 4)};
            s.stride = s.n + random_below(&r, COUNT);
            while (s.rows > 1 && (s.rows - 1) * s.stride + s.n > COUNT)
                s.rows--;
            s.first = random_below(&r, COUNT - (s.rows - 1) * s.stride - s.n + 1);
            if (n % 2) { /* the last element of all is one of them */
                s.first = COUNT - (s.rows - 1) * s.stride - s.n;
            }
            words to;
            const widened w = dql_gather_rows(&source, &s, &to);
            for (size_t row = 0; row < s.rows; row++)
                for (size_t k = 0; k < s.n; k++)
                    assert_int_equal(w.first[row * w.stride + k],
                                     read_bits(from.bytes, s.first + row * s.stride + k, bits_now));
        }
        guarded_free(&from);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(zero_points), cmocka_unit_test(gathered_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
