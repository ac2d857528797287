/* The shared library, loaded and unloaded as a plugin's dependency is: nothing is lost, however often.
 *
 *     test_loading LIBRARY */
#define _GNU_SOURCE /* mallinfo2 */
#include "dql/dql.h"
#include "support/test.h"

#include <dirent.h>
#include <dlfcn.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS = 1000, FIRST_LOADS = 10 };

static const char *library;

static void load_and_use(void) {
    static const float scale = 2;
    static const int8_t x = 21, zero = 0;
    const dql_spec spec = {.x_type = DQL_INT8, .scale_type = DQL_FLOAT32, .y_type = DQL_FLOAT32};
    float y = 0;
    dql_status (*dequantize)(const dql_spec *, const void *, const void *, const void *, void *);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *const symbol = dlsym(handle, "dql_dequantize");
    assert_non_null(symbol);
    memcpy(&dequantize, &symbol, sizeof symbol); /* C has no cast for this */
    assert_int_equal(dequantize(&spec, &x, &scale, &zero, &y), DQL_OK);
    assert_true(y == 42);
    assert_int_equal(dlclose(handle), 0);
}

static size_t allocated(void) {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#endif
#endif
    return 0; /* not known here */
}

static size_t lines_of(const char *file) {
    size_t lines = 0;
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    for (int c; (c = fgetc(stream)) != EOF;)
        lines += c == '\n';
    fclose(stream);
    return lines;
}

static size_t files_in(const char *folder) {
    size_t files = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    while (readdir(stream))
        files++;
    closedir(stream);
    return files;
}

static void loads(void **state) {
    (void)state;
    for (int k = 0; k < FIRST_LOADS; k++)
        load_and_use();
    const size_t maps = lines_of("/proc/self/maps"), files = files_in("/proc/self/fd"), memory = allocated();
    for (int k = FIRST_LOADS; k < LOADS; k++)
        load_and_use();
    assert_int_equal(allocated(), memory);
    assert_int_equal(lines_of("/proc/self/maps"), maps);
    assert_int_equal(files_in("/proc/self/fd"), files);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads)};
    if (argc != 2)
        return EXIT_FAILURE;
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
