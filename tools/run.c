#include "command.h"

#include "explain.h"
#include "externals.h"
#include "node.h"
#include "options.h"
#include "output.h"
#include <stdlib.h>
#include <string.h>

enum { VALUES_SHOWN = 8 };

typedef struct {
    char *model;
    char **inputs;
    size_t input_count;
    const char *output; /* NULL: none */
} run_options;

static bool parse_options(run_options *o, int count, char **arguments, int *status) {
    int files;
    *o = (run_options){0};
    const option options[] = {{"-o", &o->output, NULL}};
    if (!options_parse(options, 1, count, arguments, &files, status))
        return false;
    if (files == 0) {
        *status = usage_error("run needs a model", "");
        return false;
    }
    o->model = arguments[0];
    o->inputs = arguments + 1;
    o->input_count = (size_t)files - 1;
    return true;
}

static void print_result(const result *r, const operands *o, FILE *to) {
    const dql_spec *s = &r->spec;
    fprintf(to, "x            %s\n", tensor_label(s->x_type, s->rank, s->shape).text);
    fprintf(to, "x_scale      %s\n", tensor_label(s->scale_type, s->scale_rank, s->scale_shape).text);
    const Onnx__TensorProto *zero = o->of[X_ZERO_POINT].proto;
    if (zero != NULL)
        fprintf(to, "x_zero_point %s\n", tensor_label(zero->data_type, zero->n_dims, zero->dims).text);
    fprintf(to, "y            %s\n", tensor_label(s->y_type, s->rank, s->shape).text);
    fprintf(to, "granularity  %s\n", granularity_of(s).text);
    fprintf(to, "isa          %s\n", dql_isa_name(r->isa));
    fprintf(to, "values      ");
    for (size_t i = 0; i < r->y.count && i < VALUES_SHOWN; i++)
        fprintf(to, " %.9g", (double)float_value(r->y.type, tensor_bits(&r->y, i)));
    fprintf(to, "%s\n", r->y.count > VALUES_SHOWN ? " ..." : "");
}

/* What the model may read besides its own file, and what the inputs may. */
static bool add_files(file_set *read, const run_options *options, const node *n, const operands *o, problem *why) {
    bool ok = file_set_add(read, options->model, why) && externals_check(read, &n->m, NULL, 0, NULL, why);
    for (size_t i = 0; ok && i < o->loaded_count; i++)
        ok = file_set_add(read, options->inputs[i], why) && externals_add(read, o->loaded[i], options->inputs[i], why);
    return ok;
}

static bool write_result(result *r, const run_options *options, const node *n, const operands *o, problem *why) {
    file_set read = {0};
    const bool ok = add_files(&read, options, n, o, why) && tensor_write(&r->y, n->y_name, options->output, &read, why);
    file_set_free(&read);
    return ok;
}

static bool run_node(const run_options *options, const node *n, problem *why) {
    operands o;
    result r;
    if (!operands_load(&o, n, options->inputs, options->input_count, why))
        return false;
    bool ok = node_run(n, &o, &r, why);
    if (ok) {
        const bool piped = options->output != NULL && is_standard_output(options->output);
        ok = options->output == NULL || write_result(&r, options, n, &o, why);
        if (ok)
            print_result(&r, &o, piped ? stderr : stdout);
        result_free(&r);
    }
    operands_free(&o);
    return ok;
}

int run_command(int count, char **arguments) {
    run_options options;
    node n;
    problem why, note;
    int status;
    if (!parse_options(&options, count, arguments, &status))
        return status;
    bool ok = node_load(&n, options.model, &why);
    if (ok) {
        if (model_is_newer(&n.m, &note))
            print_problem(&note);
        ok = run_node(&options, &n, &why);
        node_free(&n);
    }
    if (!ok)
        print_problem(&why);
    return ok ? EXIT_OK : EXIT_FAILED;
}
