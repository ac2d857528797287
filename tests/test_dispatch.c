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

/* An array as on an imaginary machine: two ISAs that need features, the better one also not to be picked without
 * another. */
enum { A = 1, B = 2, WIDE = 4 };
static const dql_isa_row made_up[] = {
    {DQL_ISA_SVE, NULL, A | B, WIDE},
    {DQL_ISA_NEON, NULL, A, 0},
    {DQL_ISA_SCALAR, NULL, 0, 0},
};

static dql_isa pick(uint32_t features, const char *wish) {
    return dql_isa_pick(made_up, sizeof made_up / sizeof *made_up, features, wish)->id;
}

static void picks(void **state) {
    (void)state;
    assert_int_equal(pick(0, NULL), DQL_ISA_SCALAR);
    assert_int_equal(pick(A, NULL), DQL_ISA_NEON);
    assert_int_equal(pick(B, NULL), DQL_ISA_SCALAR);
    assert_int_equal(pick(B | WIDE, NULL), DQL_ISA_SCALAR);
    assert_int_equal(pick(A | B, NULL), DQL_ISA_NEON);
    assert_int_equal(pick(A | B | WIDE, NULL), DQL_ISA_SVE);
    assert_int_equal(pick(UINT32_MAX, NULL), DQL_ISA_SVE);
}

static void wishes(void **state) {
    (void)state;
    assert_int_equal(pick(A | B | WIDE, "scalar"), DQL_ISA_SCALAR);
    assert_int_equal(pick(A | B | WIDE, "neon"), DQL_ISA_NEON);
    assert_int_equal(pick(A | B, "sve"), DQL_ISA_SVE); /* available, if not preferred */
    assert_int_equal(pick(A, "sve"), DQL_ISA_NEON);
    assert_int_equal(pick(0, "neon"), DQL_ISA_SCALAR);
    assert_int_equal(pick(A, "avx2"), DQL_ISA_NEON);
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

static void numbers_outside_the_enum(void **state) {
    (void)state;
    const int outside[] = {-1, 9, 255, 256, 257, 1 << 16, 1 << 30};
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
    assert_int_equal(dql_cpu_ask_cpuinfo(), dql_cpu_ask_builtin());
    assert_int_equal(dql_cpu_ask_cpuinfo(), dql_cpu_features());
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
        cmocka_unit_test(numbers_outside_the_enum),
        cmocka_unit_test(sources_agree),
        cmocka_unit_test(cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
