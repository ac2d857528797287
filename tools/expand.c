#define _GNU_SOURCE /* sched_getaffinity */
#include "command.h"

#include "job.h"
#include "kernel.h"
#include "options.h"
#include <inttypes.h>
#include <sched.h>
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

/* Those that this process may run on: taskset and cpusets leave it some of those that are there. */
static unsigned cpus(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT /* Linux; it fails where there may be more than 1,024 */
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        count = CPU_COUNT(&usable);
#endif
    return count < 1 ? 1 : count > MOST_JOBS ? MOST_JOBS : (unsigned)count;
}

static int check_options(expand_options *o, const char *dtype, const char *jobs, int files, char **arguments) {
    if (files > 1)
        return usage_error("expand takes one model, not also", arguments[1]);
    if (files == 0 || o->output == NULL)
        return usage_error(files == 0 ? "expand needs a model" : "expand needs -o OUT.onnx", "");
    if (o->data != NULL && !is_file_name(o->data))
        return usage_error("--external-data is the name of a file beside OUT.onnx, not", o->data);
    if (dtype != NULL && !parse_type(&o->y_type, dtype))
        return usage_error("--dtype is float32, float16 or bfloat16, not", dtype);
    if (jobs != NULL && !parse_jobs(&o->jobs, jobs))
        return usage_error("--jobs is a number from 1 to 256, not", jobs);
    o->input = arguments[0];
    return EXIT_OK;
}

static bool parse_options(expand_options *o, int count, char **arguments, int *status) {
    const char *dtype = NULL, *jobs = NULL;
    int files;
    *o = (expand_options){.jobs = cpus()};
    const option options[] = {{"-o", &o->output, NULL},
                              {"--external-data", &o->data, NULL},
                              {"--dtype", &dtype, NULL},
                              {"--jobs", &jobs, NULL},
                              {"--constant-inputs", NULL, &o->constant_inputs}};
    if (!options_parse(options, sizeof options / sizeof options[0], count, arguments, &files, status))
        return false;
    *status = check_options(o, dtype, jobs, files, arguments);
    return *status == EXIT_OK;
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
    return bytes_of_elements(s.proto->data_type, count);
}

static void add_to_row(row *r, const expansion *e) {
    r->tensors++;
    r->elements += dql_plan_count(&e->plan);
    for (size_t i = 0; i < OPERANDS; i++)
        if (i != X_SCALE || e->scale_from == NULL)
            r->before += operand_bytes(e->operands[i]);
    r->after += expansion_is_dropped(e) ? 0 : e->size;
}

static void print_row(const char *x, const char *y, const row *r) {
    printf("%-15s %-9s %8" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", x, y, r->tensors, r->elements,
           r->before, r->after);
}

static void print_rows(const job *j) {
    row rows[TYPES][TYPES] = {{{0}}}, all = {0};
    for (size_t i = 0; i < j->m.site_count; i++) {
        const expansion *e = &j->all.of[i];
        if (e->becomes != EXPANDED)
            continue;
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

/* Names those that somebody has to look at; that inputs are not constant is nothing special. */
static void print_left(const job *j) {
    const size_t left = j->all.count[LEFT];
    problem why;
    for (size_t i = 0; i < j->m.site_count; i++)
        if (!j->all.of[i].is_read) {
            expansion_blame(&j->all.of[i], &why);
            printf("left: ");
            print_clean(stdout, why.text);
            printf("\n");
        }
    if (left > 0)
        printf("%zu node%s left: dql inspect says why\n", left, left > 1 ? "s are" : " is");
}

static void print_table(const job *j) {
    print_rows(j);
    printf("files: %" PRIu64 " bytes before, %" PRIu64 " after\n", j->read_size, j->new_model.size + j->data_size);
    printf("time: %.3f s, %.2f GB/s written, %u job%s, %s\n", j->seconds,
           j->seconds > 0 ? (double)j->y_size / j->seconds * 1e-9 : 0.0, j->options->jobs,
           j->options->jobs > 1 ? "s" : "", dql_isa_name(dql_isa_active()));
    print_left(j);
}

/* ---- the command ---- */

int expand_command(int count, char **arguments) {
    expand_options options;
    problem why, note;
    int status;
    if (!parse_options(&options, count, arguments, &status))
        return status;
    job j;
    const bool ok = job_plan(&j, &options, &why) && job_run(&j, &why);
    if (model_is_newer(&j.m, &note))
        print_problem(&note);
    if (ok)
        print_table(&j);
    else
        print_problem(&why);
    job_free(&j);
    return ok ? EXIT_OK : EXIT_FAILED;
}
