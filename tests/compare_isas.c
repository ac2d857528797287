/* Every kernel of every ISA that runs here against the scalar one, bit for bit. It needs neither cmocka nor guard
 * pages, for platforms that have none; test_kernel does more. */
#include "dispatch/dispatch.h"
#include "support/random.h"
#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 400, MARGIN = 8, CANARY = 0xa5 };

static uint8_t x[4 * (MOST + MARGIN)], y[4 * (MOST + MARGIN)], expected[4 * (MOST + MARGIN)];
static float scale[MOST], zero[MOST];

/* Ordinary ones; and now and then what overflows, or makes subnormals. */
static float random_scale(random *r) {
    static const float odd[] = {0, -0.0f, 0x1p-149f, 0x1.8p-126f, 0x1.3p-20f, 0x1p121f, 0x1.fffffep127f, INFINITY};
    if (random_below(r, 8) == 0)
        return odd[random_below(r, sizeof odd / sizeof *odd)];
    return ldexpf((float)(random_below(r, 1 << 24) + 1), (int)random_below(r, 60) - 50);
}

static bool same(const dql_kernels *kernels, const dql_kernels *scalar, random *r, const reference_type *type,
                 size_t column, size_t count, size_t run) {
    const dql_type y_type = reference_scale_types[column].type;
    const size_t i = random_below(r, MARGIN), to = random_below(r, MARGIN), scales = (count + run - 1) / run;
    random_bytes(r, x, sizeof x);
    for (size_t k = 0; k < scales; k++) {
        uint8_t code[4];
        random_bytes(r, code, sizeof code);
        scale[k] = random_scale(r);
        zero[k] = reference_is_float(type->type) || type->bits == 32 ? 0 : (float)reference_decode(type->type, code, 0);
    }
    memset(y, CANARY, sizeof y);
    memset(expected, CANARY, sizeof expected);
    kernels->dequantize[type->type][column](x, i, y + to, count, run, scale, zero);
    scalar->dequantize[type->type][column](x, i, expected + to, count, run, scale, zero);
    for (size_t k = 0; k < count; k++) {
        const uint32_t bits = reference_bits_of(y_type, expected + to, k);
        if (!reference_equal(y_type, reference_bits_of(y_type, y + to, k), bits))
            return false;
    }
    const size_t end = to + reference_bytes(y_type, count);
    return memcmp(y, expected, to) == 0 && memcmp(y + end, expected + end, sizeof y - end) == 0;
}

static bool compare(const dql_isa_row *isa, const dql_isa_row *scalar) {
    static const size_t runs[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 48, 64, 100, MOST};
    random r = {1};
    size_t calls = 0;
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t column = 0; column < REFERENCE_Y_TYPES; column++)
            for (size_t count = 1; count <= MOST; count += count < 70 ? 1 : 13)
                for (size_t n = 0; n < 4; n++, calls++) {
                    const size_t run = runs[random_below(&r, sizeof runs / sizeof *runs)];
                    if (!same(isa->kernels, scalar->kernels, &r, &reference_x_types[t], column, count, run)) {
                        printf("%s differs: %s to %s, %d elements, run %d\n", dql_isa_name(isa->id),
                               reference_x_types[t].name, reference_scale_types[column].name, (int)count, (int)run);
                        return false;
                    }
                }
    printf("tested: ISA %s, %d calls like scalar's\n", dql_isa_name(isa->id), (int)calls);
    return true;
}

int main(void) {
    bool right = true;
    for (int isa = DQL_ISA_SCALAR + 1; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_available((dql_isa)isa))
            right &= compare(dql_isa_find(isa), dql_isa_find(DQL_ISA_SCALAR));
    printf("active: %s\n", dql_isa_name(dql_isa_active()));
    return !right;
}
