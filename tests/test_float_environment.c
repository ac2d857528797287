/* Other floating-point environments than the default one: what docs/integration.md says of them, on every ISA. */
#include "support/random.h"
#include "support/reference.h"
#include "support/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { ROWS = 8, COLUMNS = 301, COUNT = ROWS * COLUMNS };

static uint8_t x[COUNT * 4], zero[ROWS * 4], scale[ROWS * 4], usual[COUNT * 4], y[COUNT * 4];

/* A call, on a tensor with a scale for each row. */
typedef struct call {
    dql_type x_type, scale_type, y_type;
    dql_plan plan;
    const void *zero;
} call;

/* float32(x - zero) of element i, and its scale. */
static double difference(const call *c, size_t i) {
    const double value = reference_decode(c->x_type, x, i);
    return c->zero ? value - reference_decode(c->x_type, zero, i / COLUMNS) : value;
}

static double scale_of(const call *c, size_t i) {
    return reference_decode(c->scale_type, scale, i / COLUMNS);
}

static double y_of(const call *c, const void *from, size_t i) {
    return reference_decode(c->y_type, from, i);
}

static void run(const call *c, void *to) {
    assert_int_equal(dql_run(&c->plan, x, scale, c->zero, to), DQL_OK);
}

/* Large, small, and so small that they, or products with them, are subnormal in some type. */
static void make_scales(dql_type type) {
    static const int exponents[ROWS] = {0, -5, -14, -20, -24, -126, -130, -149};
    for (size_t k = 0; k < ROWS; k++) {
        if (type == DQL_FLOAT8E8M0) { /* an exponent */
            scale[k] = (uint8_t)(exponents[k] < -127 ? 0 : exponents[k] + 127);
            continue;
        }
        const uint32_t bits = reference_encode(type, ldexp(1 + (double)k / 16, exponents[k]));
        const uint16_t half = (uint16_t)bits;
        if (type == DQL_FLOAT32)
            memcpy(scale + k * sizeof bits, &bits, sizeof bits);
        else
            memcpy(scale + k * sizeof half, &half, sizeof half);
    }
}

static void with_every_call(void (*check)(const call *c)) {
    enum { PAIRS = REFERENCE_SCALE_TYPES * REFERENCE_Y_TYPES };
    static const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS};
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        for (size_t k = 0; dql_isa_available((dql_isa)isa) && k < REFERENCE_X_TYPES * PAIRS; k++) {
            call c = {.x_type = reference_x_types[k / PAIRS].type,
                      .scale_type = reference_scale_types[k / REFERENCE_Y_TYPES % REFERENCE_SCALE_TYPES].type,
                      .y_type = reference_scale_types[k % REFERENCE_Y_TYPES].type};
            const dql_spec spec = {.x_type = (int32_t)c.x_type,
                                   .scale_type = (int32_t)c.scale_type,
                                   .y_type = (int32_t)c.y_type,
                                   .isa = isa,
                                   .rank = 2,
                                   .shape = shape,
                                   .scale_rank = 1,
                                   .scale_shape = scale_shape};
            random r = {1 + k};
            random_bytes(&r, x, sizeof x);
            random_bytes(&r, zero, sizeof zero);
            make_scales(c.scale_type);
            assert_int_equal(dql_plan_init(&c.plan, &spec), DQL_OK);
            c.zero = zero;
            if (dql_run(&c.plan, x, scale, zero, y) == DQL_ERROR_ZERO_POINT)
                c.zero = NULL;
            run(&c, usual);
            check(&c);
        }
}

/* ---- flush-to-zero and denormals-are-zero ---- */

#if defined(__x86_64__)
#define CAN_FLUSH true
static void flush(bool on) {
    enum { FTZ = 0x8000, DAZ = 0x0040 };
    _mm_setcsr(on ? _mm_getcsr() | FTZ | DAZ : _mm_getcsr() & ~(unsigned)(FTZ | DAZ));
}
#elif defined(__aarch64__)
#define CAN_FLUSH true
static void flush(bool on) {
    const uint64_t fz = (uint64_t)1 << 24;
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = on ? fpcr | fz : fpcr & ~fz;
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr) : "memory");
}
#else
#define CAN_FLUSH false
static void flush(bool on) {
    (void)on;
}
#endif

/* Only subnormal float32 numbers change: a scale, or a product, that is one counts as 0. */
static void check_flushed(const call *c) {
    size_t flushed = 0;
    flush(true);
    run(c, y);
    flush(false);
    for (size_t i = 0; i < COUNT; i++) {
        if (reference_equal(c->y_type, reference_bits_of(c->y_type, y, i), reference_bits_of(c->y_type, usual, i)))
            continue;
        const double d = difference(c, i), s = scale_of(c, i);
        assert_true(s < 0x1p-126 || fabs(d * s) < 0x1p-126);
        assert_true(isinf(d) ? isnan(y_of(c, y, i)) : y_of(c, y, i) == 0); /* infinity * 0 is NaN */
        flushed++;
    }
    if (c->scale_type == DQL_FLOAT32 && c->y_type == DQL_FLOAT32)
        assert_true(flushed > 0);
}

static void flushing(void **state) {
    (void)state;
    if (!CAN_FLUSH)
        skip();
    with_every_call(check_flushed);
}

/* ---- rounding modes ---- */

static float rounded(double value, float factor) {
    const volatile float as_float = (float)value; /* int32 may be rounded here */
    const volatile float product = as_float * factor;
    return product;
}

/* float32 y is rounded in the mode that is set; the sign of a zero is not promised. */
static void check_rounded(const call *c) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (c->y_type != DQL_FLOAT32)
        return;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        assert_int_equal(fesetround(modes[m]), 0);
        run(c, y);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        for (size_t i = 0; i < COUNT; i++) {
            const volatile double d = difference(c, i);
            const float s = (float)scale_of(c, i);
            fesetround(modes[m]);
            const float expected = rounded(d, s);
            fesetround(FE_TONEAREST);
            const double got = y_of(c, y, i);
            assert_true(isnan(expected) ? isnan(got) : (double)expected == got);
        }
    }
}

static void rounding(void **state) {
    (void)state;
    with_every_call(check_rounded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushing),
        cmocka_unit_test(rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
