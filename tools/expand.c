#include "command.h"

#include "job.h"
#include "kernel.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_type(int32_t *type, const char *name) {
#define TRY(TYPE, type_name, bits)                                                                                     \
    if (strcmp(name, #type_name) == 0) {                                                                               \
        *type = DQL_##TYPE;                                                                                            \
        return true;                                                                                                   \
    }
    DQL_Y_TYPES(TRY)
#undef TRY
    return false;
}

static bool parse_jobs(unsigned *jobs, const char *text) {
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    *jobs = (unsigned)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number >= 1 && number <= MOST_JOBS;
}

/* It is kept beside the model, on any system. */
static bool is_file_name(const char *name) {
    return name[0] != '\0' && strpbrk(name, "/\\:") == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int parse_option(expand_options *o, const char *name, const char *argument) {
    const bool twice =
        (strcmp(name, "-o") == 0 && o->output != NULL) || (strcmp(name, "--external-data") == 0 && o->data != NULL);
    if (argument == NULL || twice)
        return usage_error(twice ? "given twice" : "needs an argument", name);
    if (strcmp(name, "-o") == 0)
        o->output = argument;
    else if (strcmp(name, "--external-data") == 0)
        o->data = argument;
    else if (strcmp(name, "--dtype") == 0 && !parse_type(&o->y_type, argument))
        return usage_error("--dtype is float32, float16 or bfloat16, not", argument);
    else if (strcmp(name, "--jobs") == 0 && !parse_jobs(&o->jobs, argument))
        return usage_error("--jobs is a number from 1 to 256, not", argument);
    return EXIT_OK;
}

static bool is_option(const char *name) {
    return strcmp(name, "-o") == 0 || strcmp(name, "--external-data") == 0 || strcmp(name, "--dtype") == 0 ||
           strcmp(name, "--jobs") == 0;
}

static unsigned cpus(void) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > MOST_JOBS ? MOST_JOBS : (unsigned)online;
}

static int parse_options(expand_options *o, int count, char **arguments) {
    bool only_files = false;
    *o = (expand_options){.jobs = cpus()};
    for (int i = 0; i < count; i++) {
        char *argument = arguments[i];
        if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && is_option(argument)) {
            const int status = parse_option(o, argument, i + 1 < count ? arguments[i + 1] : NULL);
            if (status != EXIT_OK)
                return status;
            i++;
        } else if (!only_files && argument[0] == '-') {
            return usage_error("unknown option", argument);
        } else if (o->input != NULL) {
            return usage_error("expand takes one model, not also", argument);
        } else {
            o->input = argument;
        }
    }
    if (o->input == NULL || o->output == NULL)
        return usage_error(o->input == NULL ? "expand needs a model" : "expand needs -o OUT.onnx", "");
    if (o->data != NULL && !is_file_name(o->data))
        return usage_error("--external-data is the name of a file beside OUT.onnx, not", o->data);
    return EXIT_OK;
}

/* ---- the table ---- */

enum { TYPES = 64 }; /* more than ONNX has */

typedef struct {
    uint64_t tensors, elements, before, after;
} row;

static uint64_t operand_bytes(tensor_source s) {
    size_t count;
    if (s.proto == NULL || !count_elements(&count, s.proto->n_dims, s.proto->dims))
        return 0;
    const unsigned bits = type_bits(s.proto->data_type), per_byte = bits < 8 ? 8 / bits : 1;
    return bits < 8 ? count / per_byte + (count % per_byte != 0) : (uint64_t)count * (bits / 8);
}

static void add_to_row(row *r, const expansion *e) {
    r->tensors++;
    r->elements += dql_plan_count(&e->plan);
    for (size_t i = 0; i < OPERANDS; i++)
        r->before += operand_bytes(e->operands[i]);
    r->after += e->size;
}

static void print_row(const char *x, const char *y, const row *r) {
    printf("%-15s %-9s %8" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", x, y, r->tensors, r->elements,
           r->before, r->after);
}

static void print_rows(const job *j) {
    row rows[TYPES][TYPES] = {{{0}}}, all = {0};
    for (size_t i = 0; i < j->expansion_count; i++) {
        const expansion *e = &j->expansions[i];
        add_to_row(&rows[e->spec.x_type % TYPES][e->spec.y_type % TYPES], e);
        add_to_row(&all, e);
    }
    printf("x               y          tensors       elements   bytes before    bytes after\n");
    for (int32_t x = 0; x < TYPES; x++)
        for (int32_t y = 0; y < TYPES; y++)
            if (rows[x][y].tensors > 0)
                print_row(type_label(x).text, type_label(y).text, &rows[x][y]);
    print_row("all", "", &all);
}

static void print_table(const job *j) {
    print_rows(j);
    printf("files: %zu bytes before, %" PRIu64 " after\n", j->m.bytes.size, j->new_model.size + j->data_size);
    printf("time: %.3f s, %.2f GB/s written, %u job%s, %s\n", j->seconds,
           j->seconds > 0 ? (double)j->y_size / j->seconds * 1e-9 : 0.0, j->options->jobs,
           j->options->jobs > 1 ? "s" : "", dql_isa_name(dql_isa_active()));
    if (j->left_count > 0)
        printf("%zu node%s left: dql inspect says why\n", j->left_count, j->left_count > 1 ? "s are" : " is");
}

/* ---- the command ---- */

int expand_command(int count, char **arguments) {
    expand_options options;
    problem why;
    const int status = parse_options(&options, count, arguments);
    if (status != EXIT_OK)
        return status;
    job j;
    const bool ok = job_plan(&j, &options, &why) && job_run(&j, &why);
    if (ok)
        print_table(&j);
    else
        print_problem(&why);
    job_free(&j);
    return ok ? EXIT_OK : EXIT_FAILED;
}
