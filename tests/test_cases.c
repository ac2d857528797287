/* What is measured is right: every case of the benchmarks, on every ISA, by the reference. */
#include "cases.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <string.h>

enum { MOST = 4096 };

static uint8_t x[4 * MOST], scale[4 * MOST], zero[4 * MOST], y[4 * MOST];
static uint32_t expected[MOST];

static void check_isa(const tensor_case *t, const dql_spec *spec, dql_isa isa) {
    dql_spec with_isa = *spec;
    with_isa.isa = (int32_t)isa;
    assert_int_equal(dql_dequantize(&with_isa, x, scale, t->has_zero ? zero : NULL, y), DQL_OK);
    for (size_t i = 0; i < t->elements; i++) {
        const uint32_t got = reference_bits_of(t->y->type, y, i);
        if (!reference_equal(t->y->type, got, expected[i]))
            fail_msg("%s, %s to %s, %s: element %zu is %x, not %x", dql_isa_name(isa), t->x->name, t->y->name, t->name,
                     i, got, expected[i]);
    }
}

static void check(const bench_case *c, size_t elements, const bench_type *x_type, const bench_type *y_type,
                  bool has_zero) {
    tensor_case t;
    if (!tensor_case_make(&t, c, elements, x_type, y_type, has_zero))
        return;
    const dql_spec *spec = tensor_case_spec(&t);
    if (x_type->is_float)
        memset(zero, 0, sizeof zero);
    for (size_t i = 0; i < t.elements; i++)
        expected[i] = reference_y(spec, x, scale, has_zero ? zero : NULL, i);
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_available((dql_isa)isa))
            check_isa(&t, spec, (dql_isa)isa);
}

static void all(void **state) {
    (void)state;
    random r = {1};
    for (size_t c = 0; c < CASES; c++)
        for (size_t s = 0; s < CASE_SIZES && case_sizes[s] <= MOST; s++)
            for (size_t k = 0; k < X_TYPES * Y_TYPES * 2; k++) {
                random_bytes(&r, x, sizeof x);
                random_bytes(&r, scale, sizeof scale);
                random_bytes(&r, zero, sizeof zero);
                check(&cases[c], case_sizes[s], &x_types[k / 2 / Y_TYPES], &y_types[k / 2 % Y_TYPES], k % 2);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
