/* The commands of dql on files of arbitrary bytes. An input is a model and the files of its inputs, with a line of four
 * bytes between them; scripts/fuzz makes the first ones of tests/vectors. */
#define _GNU_SOURCE /* memmem */
#include "fuzz/fuzz.h"

#include "command.h"
#include "expansions.h"

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

static void write_bytes(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        FAIL("%s can't be written", path);
}

/* Returns how many files there are. */
static int write_files(const uint8_t *data, size_t size) {
    const uint8_t *const end = data + size;
    int count = 0;
    for (;;) {
        const size_t left = (size_t)(end - data), length = sizeof separator - 1;
        const uint8_t *cut = count + 1 < MAX_FILES ? memmem(data, left, separator, length) : NULL;
        write_bytes(paths[count++], data, (size_t)((cut ? cut : end) - data));
        if (!cut)
            break;
        data = cut + length;
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

/* What dql inspect counts: nodes, and what becomes of them; all nodes are wrong in what is no model. */
typedef struct {
    bool is_model;
    size_t nodes, becomes[FATES];
} plan;

static plan plan_model(const char *path) {
    model m;
    expansions all;
    problem why;
    plan p = {0};
    if (!model_load(&m, path, &why))
        return p;
    if (expansions_plan(&all, &m, &why)) {
        p = (plan){.is_model = true, .nodes = m.site_count};
        memcpy(p.becomes, all.count, sizeof p.becomes);
        expansions_free(&all, &m);
    }
    model_free(&m);
    return p;
}

/* dql expand does what dql inspect says, and leaves nothing to do. */
static void inspect_and_expand(void) {
    char option[] = "-o", jobs[] = "--jobs", one[] = "1";
    char *expand[] = {paths[0], option, expanded, jobs, one}, *inspect[] = {paths[0]};
    unlink(expanded);
    const plan before = plan_model(paths[0]);
    const int status = expand_command(5, expand);
    if ((inspect_command(1, inspect) == EXIT_OK) != before.is_model)
        FAIL("inspect reads what expand doesn't, or the other way round");
    if ((status == EXIT_OK) != (before.is_model && before.becomes[WRONG] == 0) ||
        (status != EXIT_OK && access(expanded, F_OK) == 0))
        FAIL("expand: status %d, of %zu nodes %zu are wrong", status, before.nodes, before.becomes[WRONG]);
    if (status != EXIT_OK)
        return;
    const plan after = plan_model(expanded);
    if (!after.is_model || after.becomes[EXPANDED] != 0 || after.nodes != before.nodes - before.becomes[EXPANDED])
        FAIL("expand: replaced %zu of %zu nodes, and there are %zu", before.becomes[EXPANDED], before.nodes,
             after.nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!folder[0])
        make_folder();
    run_and_test(write_files(data, size));
    inspect_and_expand();
    return 0;
}
