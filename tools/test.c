#include "command.h"

#include "file.h"
#include "node.h"
#include "options.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum { PASSED, FAILED, SKIPPED, OUTCOMES } outcome;

typedef struct {
    size_t count[OUTCOMES];
} tally;

typedef struct {
    char **names;
    size_t count;
} list;

static void list_free(list *l) {
    for (size_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    *l = (list){NULL, 0};
}

/* Takes over `name`, which may be NULL for want of memory. */
static bool list_add(list *l, char *name, problem *why) {
    char **names = realloc(l->names, (l->count + 1) * sizeof *names);
    if (names != NULL)
        l->names = names;
    if (names == NULL || name == NULL) {
        free(name);
        return fail(why, "list of files", "no memory");
    }
    l->names[l->count++] = name;
    return true;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder that start with `prefix`, sorted, without hidden ones. */
static bool list_folder(list *l, const char *folder, const char *prefix, problem *why) {
    DIR *stream = opendir(folder);
    *l = (list){NULL, 0};
    if (stream == NULL)
        return fail(why, folder, "%s", strerror(errno));
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(stream)) != NULL;)
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            ok = list_add(l, strdup(entry->d_name), why);
    closedir(stream);
    if (!ok)
        list_free(l);
    else if (l->count > 0)
        qsort(l->names, l->count, sizeof *l->names, compare_names);
    return ok;
}

static bool same_type_and_shape(const tensor *y, tensor_source expected, problem *why) {
    const Onnx__TensorProto *e = expected.proto;
    if (y->type == e->data_type && y->rank == e->n_dims &&
        (y->rank == 0 || memcmp(y->dims, e->dims, y->rank * sizeof *y->dims) == 0))
        return true;
    return fail(why, expected.file, "got %s, expected %s", tensor_label(y->type, y->rank, y->dims).text,
                tensor_label(e->data_type, e->n_dims, e->dims).text);
}

static bool same_element(int32_t type, uint32_t a, uint32_t b) {
    return a == b || (isnan(float_value(type, a)) && isnan(float_value(type, b)));
}

/* Sets `why` to the first difference. */
static bool same_elements(const tensor *y, const tensor *expected, const char *file, problem *why) {
    const int digits = (int)(2 * y->size / (y->count > 0 ? y->count : 1));
    for (size_t i = 0; i < y->count; i++) {
        const uint32_t got = tensor_bits(y, i), wanted = tensor_bits(expected, i);
        if (!same_element(y->type, got, wanted))
            return fail(why, file, "element %zu: got 0x%0*x (%.9g), expected 0x%0*x (%.9g)", i, digits, (unsigned)got,
                        (double)float_value(y->type, got), digits, (unsigned)wanted,
                        (double)float_value(y->type, wanted));
    }
    return true;
}

static bool compare(const tensor *y, const char *file, problem *why) {
    tensor expected;
    Onnx__TensorProto *proto = load_tensor(file, why);
    if (proto == NULL)
        return false;
    const tensor_source source = {proto, file, NULL, NULL};
    bool ok = same_type_and_shape(y, source, why) && tensor_decode(&expected, source, why);
    if (ok) {
        ok = same_elements(y, &expected, file, why);
        tensor_free(&expected);
    }
    onnx__tensor_proto__free_unpacked(proto, NULL);
    return ok;
}

/* Sets *paths to folder/input_0.pb, folder/input_1.pb, ..., as many as there are. */
static bool list_inputs(list *paths, const char *folder, problem *why) {
    list names;
    *paths = (list){NULL, 0};
    if (!list_folder(&names, folder, "input_", why))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < names.count; i++) {
        char name[40], *path;
        snprintf(name, sizeof name, "input_%zu.pb", i);
        ok = join_path(&path, folder, name, why) && list_add(paths, path, why);
    }
    list_free(&names);
    return ok;
}

/* "int8[6,4] * float32[6] -> float32" */
typedef struct {
    char text[400];
} summary;

static summary summary_of(const dql_spec *s) {
    summary line;
    snprintf(line.text, sizeof line.text, "%s * %s -> %s", tensor_label(s->x_type, s->rank, s->shape).text,
             tensor_label(s->scale_type, s->scale_rank, s->scale_shape).text, type_label(s->y_type).text);
    return line;
}

static bool check_output(const tensor *y, const char *folder, problem *why) {
    char *path;
    if (!join_path(&path, folder, "output_0.pb", why))
        return false;
    const bool ok = compare(y, path, why);
    free(path);
    return ok;
}

static bool run_inputs(summary *line, const node *n, const char *folder, const list *inputs, problem *why) {
    operands o;
    result r;
    if (!operands_load(&o, n, inputs->names, inputs->count, why))
        return false;
    bool ok = node_run(n, &o, &r, why);
    if (ok) {
        *line = summary_of(&r.spec);
        ok = check_output(&r.y, folder, why);
        result_free(&r);
    }
    operands_free(&o);
    return ok;
}

static bool run_set(summary *line, const node *n, const char *folder, const char *set, problem *why) {
    char *path;
    list inputs;
    if (!join_path(&path, folder, set, why))
        return false;
    const bool ok = list_inputs(&inputs, path, why) && run_inputs(line, n, path, &inputs, why);
    list_free(&inputs);
    free(path);
    return ok;
}

static bool run_sets(summary *line, const node *n, const char *folder, problem *why) {
    list sets;
    if (!list_folder(&sets, folder, "test_data_set_", why))
        return false;
    bool ok = sets.count > 0 || fail(why, folder, "no test_data_set_* in it");
    for (size_t i = 0; ok && i < sets.count; i++)
        ok = run_set(line, n, folder, sets.names[i], why);
    list_free(&sets);
    return ok;
}

static bool run_test(summary *line, const char *folder, const char *model_file, problem *why) {
    node n;
    problem note;
    if (!node_load(&n, model_file, why))
        return false;
    if (model_is_newer(&n.m, &note))
        print_problem(&note);
    const bool ok = run_sets(line, &n, folder, why);
    node_free(&n);
    return ok;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void print_line(const char *verdict, const char *folder, const char *text, const char *file) {
    printf("%s  ", verdict);
    print_clean(stdout, base_name(folder));
    printf("  ");
    print_clean(stdout, text);
    if (file != NULL) {
        printf(" (");
        print_clean(stdout, file);
        printf(")");
    }
    printf("\n");
}

static outcome report_test(const char *folder, const char *model_file) {
    summary line;
    problem why;
    if (run_test(&line, folder, model_file, &why)) {
        print_line("pass", folder, line.text, NULL);
        return PASSED;
    }
    if (why.unsupported) {
        print_line("skip", folder, why.text, NULL);
        return SKIPPED;
    }
    print_line("FAIL", folder, why.text, why.file);
    return FAILED;
}

/* Runs the test in a folder if it is one. */
static bool try_folder(tally *t, const char *folder, bool *is_test, problem *why) {
    struct stat status;
    char *model_file;
    if (!join_path(&model_file, folder, "model.onnx", why))
        return false;
    *is_test = stat(model_file, &status) == 0;
    if (*is_test)
        t->count[report_test(folder, model_file)]++;
    free(model_file);
    return true;
}

static bool try_children(tally *t, const char *folder, bool *any, problem *why) {
    list children;
    if (!list_folder(&children, folder, "", why))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < children.count; i++) {
        char *child;
        bool is_test = false;
        ok = join_path(&child, folder, children.names[i], why) && try_folder(t, child, &is_test, why);
        free(child);
        *any |= is_test;
    }
    list_free(&children);
    return ok;
}

static bool test_argument(tally *t, char *folder, problem *why) {
    bool any;
    for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
        folder[length - 1] = '\0';
    if (!try_folder(t, folder, &any, why) || (!any && !try_children(t, folder, &any, why)))
        return false;
    return any || fail(why, folder, "no ONNX node test in it, nor in its folders: no model.onnx");
}

int test_command(int count, char **arguments) {
    tally t = {{0}};
    problem why;
    bool ok = true;
    int folders, status;
    if (!options_parse(NULL, 0, count, arguments, &folders, &status))
        return status;
    if (folders == 0)
        return usage_error("test needs a folder", "");
    for (int i = 0; i < folders; i++)
        if (!test_argument(&t, arguments[i], &why)) {
            print_problem(&why);
            ok = false;
        }
    printf("%zu passed, %zu failed, %zu skipped\n", t.count[PASSED], t.count[FAILED], t.count[SKIPPED]);
    return ok && t.count[FAILED] == 0 ? EXIT_OK : EXIT_FAILED;
}
