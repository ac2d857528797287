#include "command.h"

#include "expansion.h"
#include "explain.h"
#include "options.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum { TAKEN, REFUSED, UNKNOWN, VERDICTS } verdict;

static const char *const verdict_names[VERDICTS] = {"yes", "no", "?"};

/* What is known of an operand before the model runs: as a TensorProto without data. Type 0: nothing. */
typedef struct {
    Onnx__TensorProto proto;
    bool has_shape;
    bool is_declared; /* a dim of -1 is not known */
    int64_t *dims;    /* owned */
} description;

/* A DequantizeLinear node, described. */
typedef struct {
    placed_node node;
    description operands[OPERANDS];
    dql_spec spec;
    bool is_read, is_constant, is_expanded;
    problem not_constant, refusal; /* the first also says why a node of constants is not expanded */
} report;

/* ---- what is known ---- */

static bool describe_shape(description *d, const Onnx__TensorShapeProto *shape) {
    d->dims = malloc((shape->n_dim > 0 ? shape->n_dim : 1) * sizeof *d->dims);
    if (d->dims == NULL)
        return false;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        const bool known = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dims[i] = known && dim->dim_value >= 0 ? dim->dim_value : -1;
    }
    d->has_shape = d->is_declared = true;
    d->proto.n_dims = shape->n_dim;
    d->proto.dims = d->dims;
    return true;
}

static bool describe_declared(description *d, const model *m, view type, problem *why) {
    Onnx__TypeProto *t = unpack_message(&onnx__type_proto__descriptor, type, m->file, why);
    if (t == NULL)
        return false;
    bool ok = true;
    if (t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
        d->proto.data_type = t->tensor_type->elem_type;
        if (t->tensor_type->shape != NULL)
            ok = describe_shape(d, t->tensor_type->shape) || fail(why, m->file, "no memory");
    }
    onnx__type_proto__free_unpacked(t, NULL);
    return ok;
}

static bool describe_operand(description *d, const model *m, value *v, problem *why) {
    tensor_source t;
    if (v == NULL)
        return true;
    if (why_not_constant(m, v) != NULL)
        return v->declared.size == 0 || describe_declared(d, m, v->declared, why);
    if (!constant_tensor(&t, m, v, why))
        return false;
    d->proto.data_type = t.proto->data_type;
    d->proto.n_dims = t.proto->n_dims;
    d->proto.dims = t.proto->dims;
    d->has_shape = true;
    return true;
}

static bool is_complete(const description *d) {
    for (size_t i = 0; i < d->proto.n_dims; i++)
        if (d->is_declared && d->proto.dims[i] < 0)
            return false;
    return d->proto.data_type != 0 && d->has_shape;
}

static bool check_types(const report *r, problem *why) {
    const dql_spec scalar = {.x_type = r->spec.x_type, .scale_type = r->spec.scale_type, .y_type = r->spec.y_type};
    dql_plan plan;
    const dql_status status = dql_plan_init(&plan, &scalar);
    return status == DQL_OK || explain_refusal(&scalar, status, r->node.m->file, why);
}

static dql_spec scalar_spec(dql_spec s) {
    s.rank = 0;
    s.shape = NULL;
    return s;
}

/* A scale that a scalar takes is one for the whole tensor, whatever that is. */
static bool is_for_every_shape(dql_spec s) {
    const dql_spec scalar = scalar_spec(s);
    dql_plan plan;
    return dql_plan_init(&plan, &scalar) == DQL_OK;
}

static verdict judge(report *r, problem *why) {
    description *x = &r->operands[0], *scale = &r->operands[1], *zero = &r->operands[2];
    if (x->proto.data_type == 0)
        x->proto.data_type = zero->proto.data_type;
    r->spec = dequantizer_spec(&r->node.op, &x->proto, &scale->proto);
    if (x->proto.data_type == 0 || scale->proto.data_type == 0) {
        fail(why, r->node.m->file, "the type of %s is not declared", x->proto.data_type == 0 ? "x" : "x_scale");
        return UNKNOWN;
    }
    if (!check_types(r, why))
        return REFUSED;
    if (!is_complete(scale) || (!is_complete(x) && !is_for_every_shape(r->spec))) {
        fail(why, r->node.m->file, "it depends on the shape of %s", is_complete(scale) ? "x" : "x_scale");
        return UNKNOWN;
    }
    dql_plan plan;
    const dql_spec spec = is_complete(x) ? r->spec : scalar_spec(r->spec);
    const tensor_source zeros = {is_complete(zero) ? &zero->proto : NULL, r->node.m->file};
    return dequantizer_plan(&plan, &r->node.op, &spec, zeros, why) ? TAKEN : REFUSED;
}

static bool would_expand(const model *m, const site *at, problem *why) {
    expansion e;
    const bool ok = expansion_plan(&e, m, at, 0, why);
    expansion_free(&e);
    return ok;
}

static verdict make_report(report *r, const model *m, const site *at) {
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < OPERANDS; i++)
        onnx__tensor_proto__init(&r->operands[i].proto);
    r->is_read = placed_node_read(&r->node, m, at, &r->refusal);
    if (!r->is_read)
        return REFUSED;
    r->is_constant = placed_node_is_constant(&r->node, &r->not_constant);
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(&r->node, i) && !describe_operand(&r->operands[i], m, r->node.operands[i], &r->refusal))
            return REFUSED;
    const verdict v = judge(r, &r->refusal);
    if (v == TAKEN && r->is_constant)
        r->is_expanded = would_expand(m, at, &r->not_constant);
    return v;
}

static void free_report(report *r) {
    for (size_t i = 0; i < OPERANDS; i++)
        free(r->operands[i].dims);
    placed_node_free(&r->node);
}

/* ---- how it is said ---- */

static void print_view(view v) {
    char text[201];
    const size_t size = v.size < sizeof text ? v.size : sizeof text - 1;
    if (size > 0)
        memcpy(text, v.data, size);
    text[size] = '\0';
    print_clean(stdout, text);
}

/* The graphs or the function that a node is in, but not the model's graph. */
static void print_scope(const model *m, size_t in) {
    if (in == 0)
        return;
    if (m->scopes[in].parent != NO_SCOPE)
        print_scope(m, (size_t)m->scopes[in].parent);
    print_view(m->scopes[in].name);
    printf("/");
}

static void print_operand(const description *d) {
    printf("%s", d->proto.data_type != 0 ? type_label(d->proto.data_type).text : "?");
    if (!d->has_shape) {
        printf("[?]");
        return;
    }
    const label shape = shape_label(d->proto.n_dims, d->proto.dims);
    for (const char *c = shape.text; *c != '\0'; c++) /* -1 is not known */
        if (*c == '-' && d->is_declared)
            putchar('?'), c++;
        else
            putchar(*c);
}

/* Of a scale whose shape is known; it is the same for every x that fits. */
static granularity_label granularity(const report *r) {
    dql_spec s = r->spec;
    if (!r->operands[0].has_shape)
        s.rank = s.scale_rank;
    return granularity_of(&s);
}

static void print_call(const report *r) {
    print_operand(&r->operands[0]);
    printf(" * ");
    print_operand(&r->operands[1]);
    printf(" -> %s", r->spec.y_type != 0 ? type_label(r->spec.y_type).text : "?");
    if (is_complete(&r->operands[1]))
        printf("; %s", granularity(r).text);
}

static void print_opset(const report *r) {
    const char *domain = string_or_empty(r->node.node->domain);
    int64_t opset;
    if (!find_opset(&opset, model_opsets(r->node.m, r->node.at->scope), domain))
        return;
    printf("; ");
    print_clean(stdout, is_onnx_domain(domain) ? "opset" : domain);
    printf(" %" PRId64, opset);
}

static void print_report(const report *r, verdict v) {
    printf("%-3s  ", verdict_names[v]);
    print_scope(r->node.m, r->node.at->scope);
    if (r->node.node != NULL && r->node.node->n_output > 0)
        print_clean(stdout, r->node.node->output[0]);
    printf("  ");
    if (r->is_read) {
        print_call(r);
        printf("; ");
        print_clean(stdout, r->is_constant ? "constant" : r->not_constant.text);
        if (v == TAKEN && r->is_constant && !r->is_expanded) {
            printf("; ");
            print_clean(stdout, r->not_constant.text);
        }
    }
    if (r->node.node != NULL)
        print_opset(r);
    if (v != TAKEN) {
        printf("; ");
        print_clean(stdout, r->refusal.text);
    }
    printf("\n");
}

static void inspect_model(const model *m) {
    size_t count[VERDICTS] = {0}, expanded = 0;
    for (size_t i = 0; i < m->site_count; i++) {
        report r;
        const verdict v = make_report(&r, m, &m->sites[i]);
        count[v]++;
        expanded += r.is_expanded;
        print_report(&r, v);
        free_report(&r);
    }
    printf("%zu DequantizeLinear: dql takes %zu, of which %zu can be expanded; not %zu; and can't tell of %zu\n",
           m->site_count, count[TAKEN], expanded, count[REFUSED], count[UNKNOWN]);
}

int inspect_command(int count, char **arguments) {
    model m;
    problem why;
    int files, status;
    if (!options_parse(NULL, 0, count, arguments, &files, &status))
        return status;
    if (files != 1)
        return usage_error("inspect takes one model", "");
    if (!model_load(&m, arguments[0], &why)) {
        print_problem(&why);
        return EXIT_FAILED;
    }
    inspect_model(&m);
    model_free(&m);
    return EXIT_OK;
}
