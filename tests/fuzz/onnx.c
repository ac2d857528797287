/* The commands of dql on files of arbitrary bytes. An input is a model and the files of its inputs, with a line of four
 * bytes between them; scripts/fuzz makes the first ones of tests/vectors. */
#define _GNU_SOURCE /* memmem */
#include "command.h"
#include "fuzz/fuzz.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 5, PATH = 64 };
static const char separator[] = "\n==\n";
static char folder[24], set[48], paths[MAX_FILES][PATH], output[PATH], expanded[PATH];

/* The commands' own main is not here, and its complaint would be about arguments, which are right. */
int usage_error(const char *message, const char *argument) {
    FAIL("usage error: %s: %s", message, argument);
}

int help(void) {
    FAIL("no argument asks for help");
}

static void remove_files(void) {
    for (size_t k = 0; k < MAX_FILES; k++)
        unlink(paths[k]);
    unlink(output);
    unlink(expanded);
    rmdir(set);
    rmdir(folder);
}

/* A node test: folder/model.onnx, folder/test_data_set_0/input_0.pb, ... */
static void make_folder(void) {
    snprintf(folder, sizeof folder, "%s/dql-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* memory is faster */
    if (!mkdtemp(folder))
        FAIL("no folder in /dev/shm or /tmp");
    snprintf(set, sizeof set, "%s/test_data_set_0", folder);
    mkdir(set, 0700);
    snprintf(paths[0], PATH, "%s/model.onnx", folder);
    for (int k = 1; k < MAX_FILES; k++)
        snprintf(paths[k], PATH, "%s/input_%d.pb", set, k - 1);
    snprintf(output, sizeof output, "%s/output_0.pb", set);
    snprintf(expanded, sizeof expanded, "%s/expanded.onnx", folder);
    atexit(remove_files);
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        FAIL("%s can't be written", path);
}

/* Returns how many files there are. */
static int write_files(const uint8_t *bytes, size_t size) {
    const uint8_t *const end = bytes + size;
    int count = 0;
    for (;;) {
        const size_t left = (size_t)(end - bytes), length = sizeof separator - 1;
        const uint8_t *cut = count + 1 < MAX_FILES ? memmem(bytes, left, separator, length) : NULL;
        write_bytes(paths[count++], bytes, (size_t)((cut ? cut : end) - bytes));
        if (!cut)
            break;
        bytes = cut + length;
    }
    for (int k = count; k < MAX_FILES; k++)
        unlink(paths[k]);
    return count;
}

/* What `dql run` makes of a model, `dql test` finds right. */
static void run_and_test(int files) {
    char option[] = "-o", *run[MAX_FILES + 2], *test[] = {folder};
    for (int k = 0; k < files; k++)
        run[k] = paths[k];
    run[files] = option;
    run[files + 1] = output;
    unlink(output);
    const int status = run_command(files + 2, run);
    if (status != EXIT_OK && (status != EXIT_FAILED || access(output, F_OK) == 0))
        FAIL("run: status %d", status);
    if (test_command(1, test) != EXIT_OK && status == EXIT_OK)
        FAIL("test fails on what run wrote");
}

/* What `dql expand` makes of a model can be read. */
static void inspect_and_expand(void) {
    char option[] = "-o", jobs[] = "--jobs", one[] = "1";
    char *expand[] = {paths[0], option, expanded, jobs, one}, *inspect[] = {expanded}, *model[] = {paths[0]};
    unlink(expanded);
    const int status = expand_command(5, expand);
    if (status == EXIT_OK ? inspect_command(1, inspect) != EXIT_OK : access(expanded, F_OK) == 0)
        FAIL("expand: status %d, or what it wrote is no model", status);
    inspect_command(1, model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!folder[0])
        make_folder();
    run_and_test(write_files(bytes, size));
    inspect_and_expand();
    return 0;
}
