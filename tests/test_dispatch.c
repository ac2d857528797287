/* Which ISA is picked, and when. This program's first call of the library that matters is made by many threads at once.
 */
#define _DEFAULT_SOURCE /* setenv */
#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 32 };

static pthread_barrier_t barrier;

/* Forces and asks, as fast as it can; an ISA that is there is active at all times. */
static void *force_and_ask(void *isa) {
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 1000; k++) {
        if (dql_isa_force(*(dql_isa *)isa) != DQL_OK || !dql_isa_available(dql_isa_active()) ||
            dql_isa_active() == DQL_ISA_AUTO)
            return isa;
    }
    return NULL;
}

static void threads(void **state) {
    (void)state;
    const dql_isa before = dql_isa_active();
    pthread_t threads[THREADS];
    dql_isa isas[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t k = 0; k < THREADS; k++) {
        isas[k] = k % 2 ? DQL_ISA_AUTO : DQL_ISA_SCALAR;
        assert_int_equal(pthread_create(&threads[k], NULL, force_and_ask, &isas[k]), 0);
    }
    for (size_t k = 0; k < THREADS; k++) {
        void *failed;
        assert_int_equal(pthread_join(threads[k], &failed), 0);
        assert_null(failed);
    }
    pthread_barrier_destroy(&barrier);
    assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
    assert_int_equal(dql_isa_active(), before);
}

/* An array as on an imaginary machine: two ISAs that need features, and better ones that were not built. */
enum { A = 1, B = 2 };
static const dql_kernels some;
static const dql_isa_row made_up[] = {
    {DQL_ISA_AVX512, 0, NULL}, {DQL_ISA_SVE, A | B, &some}, {DQL_ISA_AVX2, A, NULL},
    {DQL_ISA_NEON, A, &some},  {DQL_ISA_SCALAR, 0, &some},
};

static dql_isa pick(uint32_t features, const char *wish) {
    return dql_isa_pick(made_up, sizeof made_up / sizeof *made_up, features, wish)->id;
}

static void picks(void **state) {
    (void)state;
    assert_int_equal(pick(0, NULL), DQL_ISA_SCALAR);
    assert_int_equal(pick(A, NULL), DQL_ISA_NEON);
    assert_int_equal(pick(B, NULL), DQL_ISA_SCALAR);
    assert_int_equal(pick(A | B, NULL), DQL_ISA_SVE);
    assert_int_equal(pick(UINT32_MAX, NULL), DQL_ISA_SVE);
    assert_null(dql_isa_pick(made_up, 1, A, NULL));
}

static void wishes(void **state) {
    (void)state;
    assert_int_equal(pick(A | B, "scalar"), DQL_ISA_SCALAR);
    assert_int_equal(pick(A | B, "neon"), DQL_ISA_NEON);
    assert_int_equal(pick(A, "sve"), DQL_ISA_NEON);
    assert_int_equal(pick(0, "neon"), DQL_ISA_SCALAR);
    assert_int_equal(pick(A, "avx2"), DQL_ISA_NEON); /* not built */
    const char *const unknown[] = {"",        "auto", "SCALAR",
                                   "scalar ", "sca",  "a name that is longer than that of any ISA"};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        assert_int_equal(pick(A, unknown[k]), DQL_ISA_NEON);
}

/* It counts when the library is loaded, and never again. */
static void environment_is_not_asked_again(void **state) {
    (void)state;
    const dql_isa before = dql_isa_active();
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++) {
        assert_int_equal(setenv("DQL_ISA", dql_isa_name((dql_isa)isa), 1), 0);
        assert_int_equal(dql_isa_active(), before);
        assert_int_equal(dql_isa_force(DQL_ISA_SCALAR), DQL_OK);
        assert_int_equal(dql_isa_active(), DQL_ISA_SCALAR);
        assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
        assert_int_equal(dql_isa_active(), before);
    }
    assert_int_equal(unsetenv("DQL_ISA"), 0);
}

static void numbers_without_an_isa(void **state) {
    (void)state;
    int end = DQL_ISA_AUTO;
    while (dql_isa_name((dql_isa)end))
        end++;
    const int outside[] = {-1, end, 255, 256, 257, 1 << 16, 1 << 30, DQL_ISA_SVE2 /* reserved */};
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++) {
        assert_null(dql_isa_find(outside[k]));
        assert_false(dql_isa_compiled(outside[k]));
    }
}

/* Both sources say the same wherever both can be asked. */
static void sources_agree(void **state) {
    (void)state;
    if (!dql_cpu_has_cpuinfo()) {
        print_message("skipped: cpuinfo can't be asked here\n");
        skip();
    }
    assert_int_equal(dql_cpu_ask_cpuinfo(), dql_cpu_ask_directly());
    assert_int_equal(dql_cpu_ask_cpuinfo(), dql_cpu_features());
}

/* Machines that are not here, as CPUID and XCR0 describe them, and the best ISA there. */
enum {
    CLEAN_OS = 0xe7, /* XCR0: x87, SSE, AVX, opmask and both halves of ZMM */
    OSXSAVE = 1 << 27,
    AVX = 1 << 28,
    F16C = 1 << 29,
    FMA = 1 << 12,
    AVX2 = 1 << 5,
    F = 1 << 16,
    DQ = 1 << 17,
    BW = 1 << 30,
    VBMI = 1 << 1,
    BF16 = 1 << 5,
    LEAF1 = OSXSAVE | AVX | F16C | FMA,
};
#define VL    (1u << 31)
#define LEAF7 (AVX2 | F | DQ | BW | VL)

static const struct {
    const char *what;
    dql_cpu_x86 cpu;
    dql_isa best;
} machines[] = {
    {"everything", {LEAF1, LEAF7, VBMI, BF16, CLEAN_OS}, DQL_ISA_AVX512BF16},
    {"all bits", {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, DQL_ISA_AVX512BF16},
    {"no bits", {0, 0, 0, 0, 0}, DQL_ISA_SCALAR},
    {"AVX-512 without BF16", {LEAF1, LEAF7, VBMI, 0, CLEAN_OS}, DQL_ISA_AVX512VBMI},
    {"AVX-512 without VBMI", {LEAF1, LEAF7, 0, BF16, CLEAN_OS}, DQL_ISA_AVX512},
    {"AVX-512 without either", {LEAF1, LEAF7, 0, 0, CLEAN_OS}, DQL_ISA_AVX512},
    {"F without BW", {LEAF1, LEAF7 - BW, VBMI, BF16, CLEAN_OS}, DQL_ISA_AVX2},
    {"F without DQ", {LEAF1, LEAF7 - DQ, VBMI, BF16, CLEAN_OS}, DQL_ISA_AVX2},
    {"F without VL", {LEAF1, LEAF7 - VL, VBMI, BF16, CLEAN_OS}, DQL_ISA_AVX2},
    {"BW, DQ and VL without F", {LEAF1, LEAF7 - F, VBMI, BF16, CLEAN_OS}, DQL_ISA_AVX2},
    {"AVX2", {LEAF1, AVX2, 0, 0, 0x07}, DQL_ISA_AVX2},
    {"AVX2 without FMA", {LEAF1 - FMA, AVX2, 0, 0, 0x07}, DQL_ISA_AVX2},
    {"AVX2 without F16C", {LEAF1 - F16C, AVX2, 0, 0, 0x07}, DQL_ISA_SCALAR},
    {"AVX-512 without F16C", {LEAF1 - F16C, LEAF7, VBMI, BF16, CLEAN_OS}, DQL_ISA_SCALAR},
    {"AVX-512 without AVX2", {LEAF1, LEAF7 - AVX2, VBMI, BF16, CLEAN_OS}, DQL_ISA_SCALAR},
    {"all but AVX", {LEAF1 - AVX, LEAF7, VBMI, BF16, CLEAN_OS}, DQL_ISA_SCALAR},
    {"AVX alone", {LEAF1, 0, 0, 0, 0x07}, DQL_ISA_SCALAR},
    {"OSXSAVE off, whatever XCR0 would be", {LEAF1 - OSXSAVE, LEAF7, VBMI, BF16, CLEAN_OS}, DQL_ISA_SCALAR},
    {"an OS that keeps no YMM", {LEAF1, LEAF7, VBMI, BF16, 0x03}, DQL_ISA_SCALAR},
    {"an OS that keeps YMM but not XMM", {LEAF1, LEAF7, VBMI, BF16, 0xe5}, DQL_ISA_SCALAR},
    {"an OS that keeps no ZMM", {LEAF1, LEAF7, VBMI, BF16, 0x07}, DQL_ISA_AVX2},
    {"an OS that keeps no opmasks", {LEAF1, LEAF7, VBMI, BF16, CLEAN_OS - 0x20}, DQL_ISA_AVX2},
    {"an OS that keeps half of ZMM0 to 15", {LEAF1, LEAF7, VBMI, BF16, CLEAN_OS - 0x40}, DQL_ISA_AVX2},
    {"an OS that keeps ZMM0 to 15 only", {LEAF1, LEAF7, VBMI, BF16, CLEAN_OS - 0x80}, DQL_ISA_AVX2},
    {"an OS that keeps ZMM but not YMM", {LEAF1, LEAF7, VBMI, BF16, CLEAN_OS - 0x04}, DQL_ISA_SCALAR},
};

/* What this build picks where features are these. */
static dql_isa pick_compiled(uint32_t features) {
    size_t count;
    const dql_isa_row *rows = dql_isa_rows(&count);
    return dql_isa_pick(rows, count, features, NULL)->id;
}

/* The best ISA of this build that is no better than this one and needs nothing that it doesn't. */
static dql_isa best_compiled(dql_isa isa) {
    size_t count, r = 0;
    const dql_isa_row *rows = dql_isa_rows(&count);
    while (rows[r].id != isa)
        r++;
    const uint32_t features = rows[r].needs;
    while (!rows[r].kernels || rows[r].needs & ~features)
        r++;
    return rows[r].id == DQL_ISA_SCALAR && dql_isa_compiled(DQL_ISA_SIMDE) ? DQL_ISA_SIMDE : rows[r].id;
}

static void x86_machines(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
        const dql_isa got = pick_compiled(dql_cpu_from_x86(&machines[k].cpu));
        if (got != best_compiled(machines[k].best))
            fail_msg("%s: %s", machines[k].what, dql_isa_name(got));
    }
}

static void arm64_machines(void **state) {
    (void)state;
    const unsigned long SVE = 1ul << 22;
    const struct {
        unsigned long hwcap;
        uint32_t features;
        dql_isa best;
    } cases[] = {
        {0, DQL_CPU_NEON, DQL_ISA_NEON},
        {~SVE, DQL_CPU_NEON, DQL_ISA_NEON},
        {SVE, DQL_CPU_NEON | DQL_CPU_SVE, DQL_ISA_SVE},
        {~0ul, DQL_CPU_NEON | DQL_CPU_SVE, DQL_ISA_SVE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(dql_cpu_from_arm64(cases[k].hwcap), cases[k].features);
        if (dql_isa_compiled((int)cases[k].best)) /* else another one is picked */
            assert_int_equal(pick_compiled(cases[k].features), cases[k].best);
    }
}

/* Whatever the features: what is picked is built and has what it needs, and nothing better has. */
static void every_set_of_features(void **state) {
    (void)state;
    size_t count;
    const dql_isa_row *rows = dql_isa_rows(&count);
    for (uint32_t features = 0; features < 1u << DQL_CPU_BITS; features++) {
        const dql_isa_row *row = dql_isa_pick(rows, count, features, NULL);
        assert_non_null(row);
        assert_non_null(row->kernels);
        assert_int_equal(row->needs & ~features, 0);
        while (row-- > rows)
            assert_true(!row->kernels || row->needs & ~features);
    }
}

static const dql_kernels *kernels_named(const char *name) {
    size_t count;
    const dql_isa_row *rows = dql_isa_rows(&count);
    for (size_t r = 0; r < count; r++)
        if (strcmp(dql_isa_name(rows[r].id), name) == 0)
            return rows[r].kernels;
    return NULL;
}

/* An ISA needs all that its fallback needs, and its table of kernels names the same one. */
static void fallbacks(void **state) {
    (void)state;
    static const struct {
        const char *name, *fallback;
    } isas[] = {
#define ISA(ID, name, source, family, needs, fallback, ...) {#name, #fallback},
#include "isas.def"
    };
    size_t count;
    const dql_isa_row *rows = dql_isa_rows(&count);
    assert_int_equal(count, sizeof isas / sizeof *isas);
    for (size_t r = 0; r < count; r++) {
        if (!rows[r].kernels)
            continue;
        assert_ptr_equal(rows[r].kernels->fallback, kernels_named(isas[r].fallback));
        for (size_t f = 0; f < count; f++)
            if (rows[r].kernels->fallback && rows[f].kernels == rows[r].kernels->fallback)
                assert_true((rows[f].needs & ~rows[r].needs) == 0 && f > r);
    }
}

static void cpu(void **state) {
    (void)state;
    assert_true(dql_cpu_last_level_cache() >= 1 << 15);
    for (unsigned bit = 0; bit < DQL_CPU_BITS; bit++)
        assert_non_null(dql_cpu_feature_name(bit));
    assert_null(dql_cpu_feature_name(DQL_CPU_BITS));
    char name[4];
    assert_ptr_equal(dql_cpu_name(name, sizeof name), name);
    assert_true(strlen(name) == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads),
        cmocka_unit_test(picks),
        cmocka_unit_test(wishes),
        cmocka_unit_test(environment_is_not_asked_again),
        cmocka_unit_test(numbers_without_an_isa),
        cmocka_unit_test(sources_agree),
        cmocka_unit_test(x86_machines),
        cmocka_unit_test(arm64_machines),
        cmocka_unit_test(every_set_of_features),
        cmocka_unit_test(fallbacks),
        cmocka_unit_test(cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
