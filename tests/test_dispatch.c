/* Which ISA is picked, and when. This program's first call of the library that matters is made by many threads at once.
 */
#define _DEFAULT_SOURCE /* setenv */
#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 32, ALL_FEATURES = (1 << DQL_CPU_BITS) - 1 };

static pthread_barrier_t barrier;

static void *first_call(void *result) {
    pthread_barrier_wait(&barrier);
    *(dql_isa *)result = dql_isa_active();
    return NULL;
}

static void threads_agree(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    dql_isa picked[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, first_call, &picked[k]), 0);
    for (size_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (size_t k = 0; k < THREADS; k++)
        assert_int_equal(picked[k], dql_isa_active());
    pthread_barrier_destroy(&barrier);
}

static void picks_the_best_of_what_is_there(void **state) {
    (void)state;
    assert_int_equal(dql_isa_pick(0, NULL)->id, DQL_ISA_SCALAR);
    for (uint32_t features = 0; features <= ALL_FEATURES; features++) {
        const dql_isa_row *row = dql_isa_pick(features, NULL);
        assert_non_null(row);
        assert_int_equal(features & row->needs, row->needs);
        assert_int_equal(features & row->prefers, row->prefers);
    }
}

static void wishes(void **state) {
    (void)state;
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++) {
        const char *name = dql_isa_name((dql_isa)isa);
        const dql_isa_row *wished = dql_isa_pick(ALL_FEATURES, name);
        if (dql_isa_compiled((dql_isa)isa))
            assert_int_equal(wished->id, isa);
        else
            assert_ptr_equal(wished, dql_isa_pick(ALL_FEATURES, NULL));
        const dql_isa_row *impossible = dql_isa_pick(0, name);
        assert_int_equal(impossible->needs, 0);
    }
    const char *const unknown[] = {"",        "auto",    "SCALAR",
                                   "scalar ", "avx1024", "a very long name that is not the name of an ISA"};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        assert_ptr_equal(dql_isa_pick(ALL_FEATURES, unknown[k]), dql_isa_pick(ALL_FEATURES, NULL));
}

/* The variable counts when the library is loaded, and again when a force is undone. */
static void environment(void **state) {
    (void)state;
    const dql_isa before = dql_isa_active();
    assert_int_equal(setenv("DQL_ISA", "scalar", 1), 0);
    assert_int_equal(dql_isa_active(), before);
    assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
    assert_int_equal(dql_isa_active(), DQL_ISA_SCALAR);
    assert_int_equal(setenv("DQL_ISA", "nonsense", 1), 0);
    assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
    assert_int_equal(dql_isa_active(), dql_isa_pick(dql_cpu_features(), NULL)->id);
    assert_int_equal(unsetenv("DQL_ISA"), 0);
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
        cmocka_unit_test(threads_agree), cmocka_unit_test(picks_the_best_of_what_is_there),
        cmocka_unit_test(wishes),        cmocka_unit_test(environment),
        cmocka_unit_test(sources_agree), cmocka_unit_test(cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
