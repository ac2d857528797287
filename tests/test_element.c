/* The meaning of each type, against the definitions of the formats. */
#include "scalar/element.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <math.h>

static void same_value(dql_type type, const void *from, size_t i) {
    const double expected = reference_decode(type, from, i);
    const float got = load_element(type, from, i);
    if (!reference_equal(DQL_FLOAT32, f32_bits(got), reference_encode(DQL_FLOAT32, expected)))
        fail_msg("type %d, bits %x: got %a, expected %a", (int)type, (unsigned)reference_bits_of(type, from, i),
                 (double)got, expected);
}

/* Every code at every place in a byte, between others at random. */
static void codes_up_to_8_bits(void **state) {
    (void)state;
    random r = {4};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++) {
        const reference_type *type = &reference_x_types[t];
        if (type->bits > 8)
            continue;
        uint8_t codes[8];
        for (uint32_t code = 0; code < 1u << type->bits; code++)
            for (size_t i = 0; i < sizeof codes * 8 / type->bits; i++) {
                random_bytes(&r, codes, sizeof codes);
                reference_write_code(codes, type->bits, i, code);
                assert_int_equal(reference_bits_of(type->type, codes, i), code);
                same_value(type->type, codes, i);
            }
    }
    for (unsigned code = 0; code < 256; code++)
        same_value(DQL_FLOAT8E8M0, (uint8_t[]){(uint8_t)code}, 0);
}

/* The reference itself, by examples of whole packs: four elements of 6 bits in three bytes, two of 4 bits in one. */
static void packs_of_the_reference(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        size_t count;
        uint8_t codes[6], bytes[5];
    } examples[] = {{6, 6, {0x00, 0x20, 0x01, 0x08, 0x1f, 0x1f}, {0, 24, 32, 223, 7}},
                    {4, 3, {0x1, 0x8, 0xf}, {0x81, 0x0f}},
                    {2, 5, {1, 2, 3, 0, 2}, {0x39, 0x02}}};
    for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
        uint8_t bytes[sizeof examples[e].bytes] = {0};
        for (size_t i = 0; i < examples[e].count; i++) {
            assert_int_equal(reference_read_code(examples[e].bytes, examples[e].bits, i), examples[e].codes[i]);
            reference_write_code(bytes, examples[e].bits, i, examples[e].codes[i]);
        }
        assert_memory_equal(bytes, examples[e].bytes, sizeof bytes);
    }
}

static void codes_of_16_bits(void **state) {
    (void)state;
    const dql_type types[] = {DQL_INT16, DQL_UINT16, DQL_FLOAT16, DQL_BFLOAT16};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t code = 0; code <= 0xffff; code++)
            same_value(types[t], (uint16_t[2]){(uint16_t)code}, 0);
}

static void codes_of_32_bits(void **state) {
    (void)state;
    random r = {1};
    const int32_t edges[] = {
        0, 1, -1, 1 << 24, (1 << 24) + 1, -(1 << 24) - 1, INT32_MAX, INT32_MAX - 63, INT32_MIN, INT32_MIN + 64};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
        same_value(DQL_INT32, edges, k);
    for (size_t k = 0; k < 100000; k++) {
        const uint32_t bits = (uint32_t)random_u64(&r) >> random_below(&r, 32);
        same_value(DQL_INT32, &bits, 0);
        same_value(DQL_FLOAT32, &bits, 0);
    }
}

static void elements_at_any_address(void **state) {
    (void)state;
    random r = {2};
    uint8_t bytes[64];
    random_bytes(&r, bytes, sizeof bytes);
    for (size_t off = 0; off < 8; off++)
        for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
            for (size_t i = 0; i < 11; i++)
                same_value(reference_x_types[t].type, bytes + off, i);
}

static void same_bits(dql_type type, float value) {
    const uint32_t expected = reference_encode(type, (double)value);
    uint32_t got = 0;
    store_element(type, &got, 0, value);
    got = reference_bits_of(type, &got, 0);
    if (!reference_equal(type, got, expected))
        fail_msg("%a to type %d: got %x, expected %x", (double)value, (int)type, (unsigned)got, (unsigned)expected);
}

/* Each number of a 16-bit format, what lies halfway to the next one, and the float32s beside both. */
static void rounding_to_16_bits(void **state) {
    (void)state;
    const dql_type types[] = {DQL_FLOAT16, DQL_BFLOAT16};
    for (size_t t = 0; t < 2; t++)
        for (uint32_t code = 0; code < 0xffff; code++) {
            const double here = reference_decode(types[t], (uint16_t[2]){(uint16_t)code}, 0);
            const double next = reference_decode(types[t], (uint16_t[2]){(uint16_t)(code + 1)}, 0);
            const float exact = (float)here, half = (float)(here + (next - here) / 2);
            const float values[] = {exact, nextafterf(exact, INFINITY), nextafterf(exact, -INFINITY),
                                    half,  nextafterf(half, INFINITY),  nextafterf(half, -INFINITY)};
            for (size_t k = 0; k < sizeof values / sizeof *values; k++)
                same_bits(types[t], values[k]);
        }
}

static void rounding_of_any_float32(void **state) {
    (void)state;
    random r = {3};
    const float edges[] = {0.0f,  -0.0f,    INFINITY, -INFINITY,       65504,     65519.996f,
                           65520, 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1p-149f, 0x1.fffffep127f};
    for (size_t t = 0; t < REFERENCE_Y_TYPES; t++) {
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
            same_bits(reference_scale_types[t].type, edges[k]);
        for (size_t k = 0; k < 500000; k++)
            same_bits(reference_scale_types[t].type, f32_from_bits((uint32_t)random_u64(&r)));
    }
}

static void nan_stays_nan(void **state) {
    (void)state;
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t mantissa = 1; mantissa < 0x800000; mantissa = mantissa * 2 + (mantissa & 1)) {
            uint16_t half;
            const float nan = f32_from_bits(sign << 31 | 0x7f800000 | mantissa);
            store_element(DQL_FLOAT16, &half, 0, nan);
            assert_true(isnan(f32_from_f16(half)));
            store_element(DQL_BFLOAT16, &half, 0, nan);
            assert_true(isnan(f32_from_bf16(half)));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_of_the_reference),  cmocka_unit_test(codes_up_to_8_bits),
        cmocka_unit_test(codes_of_16_bits),        cmocka_unit_test(codes_of_32_bits),
        cmocka_unit_test(elements_at_any_address), cmocka_unit_test(rounding_to_16_bits),
        cmocka_unit_test(rounding_of_any_float32), cmocka_unit_test(nan_stays_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
