/* A user's program, C and C++ alike: the public API, and no test framework. It is what odd compilers, flags and
 * machines run. Every pair of types on every ISA must equal the reference, and a call must leave the caller's
 * floating-point environment and registers alone.
 *
 *     test_consumer [keeps|flushes|any [X_TYPES [Y_TYPES]]]
 *
 * says what is expected: of subnormals, and of types, in lists with commas; the others must be refused.
 *
 * In a program that flushes subnormals (-ffast-math sets that), dql may do so too: with a subnormal float32 scale or
 * product taken as 0, or not. */
#include "dql/dql.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "support/reference.h"
#ifdef __cplusplus
}
#endif
#include "support/registers.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 500, COUNT = ROWS * COLUMNS, BUFFER = 4 * COUNT };

static uint8_t x[BUFFER], scale[BUFFER], zero[BUFFER], y[BUFFER];
static const char *x_types = "all", *y_types = "all"; /* that the library has */
static bool flushes;
static unsigned long long values, flushed;

/* The same bytes everywhere (xorshift64*). */
static void random_bytes(uint8_t *to, size_t n) {
    static uint64_t state = 1;
    for (size_t k = 0; k < n; k++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        to[k] = (uint8_t)(state * 0x2545f4914f6cdd1d >> 56);
    }
}

/* Of ordinary size, but every eighth: any bits. */
static void random_scales(dql_type type, size_t n) {
    const size_t size = reference_bits(type) / 8;
    random_bytes(scale, n * size);
    for (size_t k = 0; k < n; k++) {
        const double value = (double)(k % 97 + 1) / 64 - 0.75;
        const uint32_t e8m0 = (uint32_t)(120 + k % 17); /* about 1 */
        const uint32_t u32 = type == DQL_FLOAT8E8M0 ? e8m0 : reference_encode(type, value);
        const uint16_t u16 = (uint16_t)u32;
        if (k % 8 == 0)
            continue;
        if (size == 4)
            memcpy(scale + 4 * k, &u32, 4);
        else if (size == 2)
            memcpy(scale + 2 * k, &u16, 2);
        else
            scale[k] = (uint8_t)u32;
    }
}

/* Bits, so that no compiler's idea of arithmetic matters here. */
static double flush(double v) {
    const uint32_t bits = reference_encode(DQL_FLOAT32, v), zero_bits = bits & 0x80000000;
    return reference_decode(DQL_FLOAT32, bits & 0x7f800000 ? &bits : &zero_bits, 0);
}

/* Whether `got` is what a program that flushes may see. */
static bool is_flushed(const dql_spec *spec, size_t i, uint32_t got) {
    const dql_type y_type = (dql_type)spec->y_type;
    const size_t s = reference_scale_number(spec, i);
    const double as_0 = flush(reference_decode((dql_type)spec->scale_type, scale, s));
    const uint32_t product = reference_element((dql_type)spec->x_type, DQL_FLOAT32, x, i, as_0, zero, s);
    const uint32_t y_bits = reference_encode(y_type, flush(reference_decode(DQL_FLOAT32, &product, 0)));
    return reference_equal(y_type, got, y_bits);
}

static bool is_right(const dql_spec *spec, size_t i) {
    const dql_type y_type = (dql_type)spec->y_type;
    const uint32_t expected = reference_y(spec, x, scale, zero, i), got = reference_bits_of(y_type, y, i);
    values++;
    if (reference_equal(y_type, got, expected))
        return true;
    if (flushes && is_flushed(spec, i, got)) {
        flushed++;
        return true;
    }
    printf("%s: types %d * %d -> %d, block size %lld: element %u is %x, expected %x\n",
           dql_isa_name((dql_isa)spec->isa), (int)spec->x_type, (int)spec->scale_type, (int)y_type,
           (long long)spec->block_size, (unsigned)i, (unsigned)got, (unsigned)expected);
    return false;
}

static bool check(const dql_spec *spec) {
    dql_plan plan;
    dql_status status = dql_plan_init(&plan, spec);
    if (status == DQL_OK) {
        if (dql_run(&plan, x, scale, zero, y) == DQL_ERROR_ZERO_POINT) /* floats, whose zero points are 0 */
            memset(zero, 0, sizeof zero);
        const registers before = registers_set();
        status = dql_run(&plan, x, scale, zero, y);
        if (!registers_kept(&before)) {
            printf("%s: types %d -> %d, block size %lld: %s\n", dql_isa_name((dql_isa)spec->isa), (int)spec->x_type,
                   (int)spec->y_type, (long long)spec->block_size, registers_problem);
            return false;
        }
    }
    if (status != DQL_OK) {
        printf("%s\n", dql_status_text(status));
        return false;
    }
    for (size_t i = 0; i < COUNT; i++)
        if (!is_right(spec, i))
            return false;
    return true;
}

/* Whether a type is in a list of names with commas between them, or that is "all". */
static bool lists(const char *list, const char *name) {
    const size_t length = strlen(name);
    if (strcmp(list, "all") == 0)
        return true;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

/* Whether a plan for a type that was left out is refused. */
static bool check_refused(const dql_spec *spec) {
    dql_plan plan;
    if (dql_plan_init(&plan, spec) == DQL_ERROR_TYPE)
        return true;
    printf("types %d -> %d were left out, and yet there is a plan\n", (int)spec->x_type, (int)spec->y_type);
    return false;
}

/* Every type of x with every type of scale and y, in blocks of this size. */
static bool check_types(dql_isa isa, dql_store store, int64_t block_size) {
    const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS, (COLUMNS + block_size - 1) / block_size};
    for (size_t t = 0; t < REFERENCE_X_TYPES; t++)
        for (size_t s = 0; s < REFERENCE_SCALE_TYPES * REFERENCE_Y_TYPES; s++) {
            dql_spec spec;
            memset(&spec, 0, sizeof spec);
            spec.x_type = (int32_t)reference_x_types[t].type;
            spec.scale_type = (int32_t)reference_scale_types[s / REFERENCE_Y_TYPES].type;
            spec.y_type = (int32_t)reference_scale_types[s % REFERENCE_Y_TYPES].type;
            spec.store = (int32_t)store;
            spec.isa = (int32_t)isa;
            spec.rank = spec.scale_rank = 2;
            spec.shape = shape;
            spec.scale_shape = scale_shape;
            spec.axis = 1;
            spec.block_size = block_size;
            if (!lists(x_types, reference_x_types[t].name) ||
                !lists(y_types, reference_scale_types[s % REFERENCE_Y_TYPES].name)) {
                if (!check_refused(&spec))
                    return false;
                continue;
            }
            random_bytes(x, sizeof x);
            random_bytes(zero, sizeof zero);
            random_scales((dql_type)spec.scale_type, (size_t)(scale_shape[0] * scale_shape[1]));
            if (!check(&spec))
                return false;
        }
    return true;
}

int main(int count, char **arguments) {
    static const int64_t block_sizes[] = {1, 2, 3, 9, 16, 32, 49, 128, 300, COLUMNS};
    flushes = flushes_subnormals();
    if (count > 1 && strcmp(arguments[1], flushes ? "keeps" : "flushes") == 0) {
        printf("subnormals are %s in this program\n", flushes ? "flushed" : "not flushed");
        return 1;
    }
    if (count > 2)
        x_types = arguments[2];
    if (count > 3)
        y_types = arguments[3];
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++) {
        if (!dql_isa_available((dql_isa)isa))
            continue;
        for (size_t b = 0; b < sizeof block_sizes / sizeof *block_sizes; b++)
            if (!check_types((dql_isa)isa, b % 2 ? DQL_STORE_STREAM : DQL_STORE_CACHED, block_sizes[b]))
                return 1;
        printf("%s%s: right", dql_isa_name((dql_isa)isa), (dql_isa)isa == dql_isa_active() ? " (active)" : "");
        if (flushes)
            printf(", %llu of %llu values flushed", flushed, values);
        puts("");
        values = flushed = 0;
    }
    return 0;
}
