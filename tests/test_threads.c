/* Many threads at once: as the first callers, before the library's constructor has run; with plans that they share;
 * while the active ISA changes under them. ThreadSanitizer watches. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "dql/dql.h"
#include "support/random.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 32, ROWS = 96, COLUMNS = 200, COUNT = ROWS * COLUMNS };

static const int64_t shape[] = {ROWS, COLUMNS}, scale_shape[] = {ROWS};
static const dql_spec spec = {.x_type = DQL_INT16,
                              .scale_type = DQL_FLOAT32,
                              .y_type = DQL_FLOAT32,
                              .rank = 2,
                              .shape = shape,
                              .scale_rank = 1,
                              .scale_shape = scale_shape,
                              .axis = 0};
static int16_t x[COUNT], zero[ROWS];
static float scale[ROWS], right[COUNT], y[COUNT];

static pthread_barrier_t barrier;

/* body(number) in 32 threads that start together; returns how many failed. */
static int failures(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    int failed = 0;
    if (pthread_barrier_init(&barrier, NULL, THREADS) != 0)
        return -1;
    for (size_t k = 0; k < THREADS; k++) {
        numbers[k] = k;
        if (pthread_create(&threads[k], NULL, body, &numbers[k]) != 0)
            return -1;
    }
    for (size_t k = 0; k < THREADS; k++) {
        void *result;
        if (pthread_join(threads[k], &result) != 0)
            return -1;
        failed += result != NULL;
    }
    pthread_barrier_destroy(&barrier);
    return failed;
}

static void fill(void) {
    random r = {1};
    random_bytes(&r, x, sizeof x);
    random_bytes(&r, zero, sizeof zero);
    for (size_t k = 0; k < ROWS; k++)
        scale[k] = (float)(k + 1) / 8;
    for (size_t k = 0; k < COUNT; k++)
        right[k] = (float)(x[k] - zero[k / COLUMNS]) * scale[k / COLUMNS];
}

static bool part_is_right(const dql_plan *plan, size_t part) {
    size_t begin, end;
    dql_plan_slice(plan, THREADS, part, &begin, &end);
    return dql_run_range(plan, x, scale, zero, begin, end, y + begin) == DQL_OK &&
           memcmp(y + begin, right + begin, (end - begin) * sizeof *y) == 0;
}

/* ---- the first calls ---- */

static int first_failures = -1;
static dql_isa first_active;

/* Each begins with another function. */
static void *first_call(void *number) {
    const size_t n = *(const size_t *)number;
    dql_plan plan;
    pthread_barrier_wait(&barrier);
    if (n % 4 == 1 && !dql_isa_available(DQL_ISA_SCALAR))
        return number;
    if (n % 4 == 2 && dql_isa_active() == DQL_ISA_AUTO)
        return number;
    if (n % 4 == 3 && dql_isa_force(DQL_ISA_AUTO) != DQL_OK)
        return number;
    return dql_plan_init(&plan, &spec) == DQL_OK && part_is_right(&plan, n) ? NULL : number;
}

/* This one comes before those without a number, and so before the library's, as one of another library may. That the
 * library had not yet read DQL_ISA shows that it did. */
__attribute__((constructor(101))) static void before_the_library(void) {
    char *const wish = getenv("DQL_ISA") ? strdup(getenv("DQL_ISA")) : NULL;
    fill();
    setenv("DQL_ISA", "scalar", 1);
    first_failures = failures(first_call);
    first_active = dql_isa_active();
    if (wish)
        setenv("DQL_ISA", wish, 1);
    else
        unsetenv("DQL_ISA");
    free(wish);
}

static void first_calls(void **state) {
    (void)state;
    assert_int_equal(first_failures, 0);
    assert_int_equal(first_active, DQL_ISA_SCALAR);
    assert_int_equal(dql_isa_active(), DQL_ISA_SCALAR);
}

/* ---- plans that are shared ---- */

static dql_plan shared;

static void *run_shared(void *number) {
    const size_t n = *(const size_t *)number;
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 20; k++)
        if (!part_is_right(&shared, n))
            return number;
    return NULL;
}

static void shared_plans(void **state) {
    (void)state;
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        for (int store = DQL_STORE_AUTO; store <= DQL_STORE_STREAM && dql_isa_available((dql_isa)isa); store++) {
            dql_spec s = spec;
            s.isa = isa;
            s.store = store;
            assert_int_equal(dql_plan_init(&shared, &s), DQL_OK);
            memset(y, 0, sizeof y);
            assert_int_equal(failures(run_shared), 0);
            assert_memory_equal(y, right, sizeof y);
        }
}

/* ---- the active ISA changes ---- */

/* Even threads force one ISA after the other, odd ones run the shared plan and plans of their own. */
static void *force_and_run(void *number) {
    const size_t n = *(const size_t *)number;
    const dql_isa before = dql_plan_isa(&shared);
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 50; k++) {
        dql_plan plan;
        const dql_isa isa = (dql_isa)((n + (size_t)k) % 16);
        if (n % 2 == 0 && dql_isa_force(isa) != (dql_isa_available(isa) ? DQL_OK : DQL_ERROR_ISA))
            return number;
        if (n % 2 == 1 && (!part_is_right(&shared, n) || dql_plan_isa(&shared) != before))
            return number;
        if (n % 2 == 1 && (dql_plan_init(&plan, &spec) != DQL_OK || !part_is_right(&plan, n)))
            return number;
    }
    return NULL;
}

static void forced_while_plans_run(void **state) {
    (void)state;
    assert_int_equal(dql_plan_init(&shared, &spec), DQL_OK);
    assert_int_equal(failures(force_and_run), 0);
    assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
    assert_int_equal(dql_isa_active(), DQL_ISA_SCALAR);
}

/* ---- other processes ---- */

/* What the body of a child says: 0 if all is right. */
static int in_child(int (*body)(void)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
        _exit(body());
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int use_all(void) {
    dql_plan plan;
    if (!part_is_right(&shared, 0) || dql_isa_force(DQL_ISA_SCALAR) != DQL_OK || dql_isa_active() != DQL_ISA_SCALAR)
        return 1;
    return dql_plan_init(&plan, &spec) != DQL_OK || !part_is_right(&plan, 0);
}

static void *fork_or_run(void *number) {
    if (*(const size_t *)number != 0)
        return force_and_run(number);
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 20; k++)
        if (in_child(use_all) != 0)
            return number;
    return NULL;
}

static void forked_while_threads_run(void **state) {
    (void)state;
    assert_int_equal(dql_plan_init(&shared, &spec), DQL_OK);
    assert_int_equal(failures(fork_or_run), 0);
    assert_int_equal(dql_isa_force(DQL_ISA_AUTO), DQL_OK);
}

static int use_all_as_nobody(void) {
    enum { NOBODY = 65534 };
    return setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || use_all() != 0;
}

static void after_setuid(void **state) {
    (void)state;
    if (getuid() != 0) {
        print_message("skipped: only root can become another user\n");
        skip();
    }
    assert_int_equal(dql_plan_init(&shared, &spec), DQL_OK);
    assert_int_equal(in_child(use_all_as_nobody), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_calls),
        cmocka_unit_test(shared_plans),
        cmocka_unit_test(forced_while_plans_run),
        cmocka_unit_test(forked_while_threads_run),
        cmocka_unit_test(after_setuid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
