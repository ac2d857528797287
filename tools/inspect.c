#include "command.h"

#include "expansions.h"
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
    int64_t *dims; /* owned */
} description;

/* A DequantizeLinear node, described. */
typedef struct {
    const expansion *e;
    description operands[OPERANDS];
    dql_spec spec;
    problem refusal;
} report;

/* ---- what is known ---- */

static bool describe_shape(description *d, const Onnx__TensorShapeProto *shape) {
    d->dims = malloc((shape->n_dim > 0 ? shape->n_dim : 1) * sizeof *d->dims);
    if (d->dims == NULL)
        return false;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        const bool known = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dims[i] = known && dim->dim_value >= 0 ? dim->dim_value : UNKNOWN_DIM;
    }
    d->has_shape = true;
    d->proto.n_dims = shape->n_dim;
    d->proto.dims = d->dims;
    return true;
}

enum { TYPE_TENSOR = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1 };

static bool has_too_many_dims(view type) {
    view shape = wire_string(wire_string(type, TYPE_TENSOR), TENSOR_SHAPE);
    wire_field f;
    size_t count = 0;
    while (count <= MOST_DIMS && wire_next(&shape, &f))
        count += f.number == SHAPE_DIM;
    return count > MOST_DIMS;
}

static bool describe_declared(description *d, const model *m, view type, problem *why) {
    if (has_too_many_dims(type))
        return unsupported(why, m->file, "a tensor is declared with more than %d dims", MOST_DIMS);
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

static void describe_head(description *d, const Onnx__TensorProto *head) {
    d->proto.data_type = head->data_type;
    d->proto.n_dims = head->n_dims;
    d->proto.dims = head->dims;
    d->has_shape = true;
}

static bool describe_operand(description *d, const expansion *e, size_t i, problem *why) {
    const model *m = e->node.m;
    value *v = e->node.operands[i];
    tensor_source t;
    if (e->operands[i].proto != NULL)
        return describe_head(d, e->operands[i].proto), true;
    if (v == NULL)
        return true;
    if (why_not_constant(m, v) != NULL)
        return v->declared.size == 0 || describe_declared(d, m, v->declared, why);
    if (!constant_tensor(&t, m, v, why))
        return false;
    describe_head(d, t.proto);
    return true;
}

static bool is_complete(const description *d) {
    for (size_t i = 0; i < d->proto.n_dims; i++)
        if (d->proto.dims[i] == UNKNOWN_DIM)
            return false;
    return d->proto.data_type != 0 && d->has_shape;
}

static bool is_one_element(const dql_spec *s) {
    size_t count;
    return count_elements(&count, s->scale_rank, s->scale_shape) && count == 1;
}

/* A scale that a scalar takes is one for the whole tensor, whatever that is. */
static bool is_for_every_shape(dql_spec s) {
    dql_plan plan;
    s.rank = 0;
    s.shape = NULL;
    return dql_plan_init(&plan, &s) == DQL_OK;
}

static bool depends_on(const report *r, size_t operand, problem *why) {
    return fail(why, r->e->node.m->file, "it depends on the shape of %s", operand_names[operand]);
}

static verdict judge_without_shape(const report *r, problem *why) {
    const dql_spec *s = &r->spec;
    if (is_for_every_shape(*s))
        return TAKEN;
    if (s->scale_rank > 1 && s->block_size == 0 && !is_one_element(s))
        return explain_missing_block_size(s, false, r->e->node.m->file, why), REFUSED;
    return depends_on(r, X, why), UNKNOWN;
}

/* A dim of x, or one that fits the scale where it is not known. */
static int64_t fitting_dim(const dql_spec *s, size_t i) {
    const int64_t axis = s->axis < 0 ? s->axis + (int64_t)s->rank : s->axis;
    const bool on_axis = (int64_t)i == axis;
    if (s->shape[i] != UNKNOWN_DIM)
        return s->shape[i];
    if (s->scale_rank != s->rank || s->block_size == 0)
        return s->scale_rank == 1 && on_axis ? s->scale_shape[0] : 1;
    const int64_t dim = s->scale_shape[i];
    if (!on_axis || s->block_size < 0) /* which no dim fits */
        return dim;
    return dim > INT64_MAX / s->block_size ? INT64_MAX : dim * s->block_size;
}

/* Whether the scale would not fit any dim in the place of one that is not known. */
static bool depends_on_unknown(const dql_spec *s) {
    const int64_t axis = s->axis < 0 ? s->axis + (int64_t)s->rank : s->axis;
    const bool per_axis = s->scale_rank == 1 && s->block_size == 0;
    for (size_t i = 0; i < s->rank; i++)
        if (s->shape[i] == UNKNOWN_DIM && (!per_axis || (int64_t)i == axis))
            return !is_for_every_shape(*s) && !(is_one_element(s) && s->scale_rank <= s->rank);
    return false;
}

/* x has a rank, but maybe not all of its dims are known. */
static verdict judge_with_shape(const report *r, problem *why) {
    const char *file = r->e->node.m->file;
    const size_t rank = r->spec.rank;
    int64_t *dims = malloc((rank > 0 ? rank : 1) * sizeof *dims);
    dql_spec fitting = r->spec;
    dql_plan plan;
    if (dims == NULL)
        return fail(why, file, "no memory"), UNKNOWN;
    for (size_t i = 0; i < rank; i++)
        dims[i] = fitting_dim(&r->spec, i);
    fitting.shape = dims;
    const dql_status status = dql_plan_init(&plan, &fitting);
    free(dims);
    if (status != DQL_OK)
        return explain_refusal(&r->spec, status, file, why), REFUSED;
    return depends_on_unknown(&r->spec) ? (depends_on(r, X, why), UNKNOWN) : TAKEN;
}

static verdict judge_shapes(const report *r, problem *why) {
    const description *x = &r->operands[X], *scale = &r->operands[X_SCALE], *zero = &r->operands[X_ZERO_POINT];
    if (!is_complete(scale))
        return depends_on(r, X_SCALE, why), UNKNOWN;
    const verdict v = x->has_shape ? judge_with_shape(r, why) : judge_without_shape(r, why);
    if (v == TAKEN && is_complete(zero) && !dequantizer_check_zero(&r->e->node.op, &r->spec, &zero->proto, why))
        return REFUSED;
    return v;
}

/* The constants among the operands of a node that has others too. */
static bool check_constants(const report *r, problem *why) {
    const placed_node *n = &r->e->node;
    tensor_source t;
    for (size_t i = 0; i < OPERANDS; i++)
        if (n->operands[i] != NULL && why_not_constant(n->m, n->operands[i]) == NULL &&
            !(constant_tensor(&t, n->m, n->operands[i], why) && tensor_check(t, why)))
            return false;
    return true;
}

/* Of a node whose operands are not all constants. */
static verdict judge(report *r, problem *why) {
    description *x = &r->operands[X], *scale = &r->operands[X_SCALE], *zero = &r->operands[X_ZERO_POINT];
    const char *file = r->e->node.m->file;
    if (x->proto.data_type == 0)
        x->proto.data_type = zero->proto.data_type;
    r->spec = dequantizer_spec(&r->e->node.op, &x->proto, &scale->proto);
    if (x->proto.data_type == 0 || scale->proto.data_type == 0) {
        fail(why, file, "the type of %s is not declared", operand_names[x->proto.data_type == 0 ? X : X_SCALE]);
        return UNKNOWN;
    }
    if (!dequantizer_takes_types(&r->e->node.op, &r->spec, why))
        return REFUSED;
    if (zero->proto.data_type != 0 && zero->proto.data_type != x->proto.data_type)
        return dequantizer_check_zero(&r->e->node.op, &r->spec, &zero->proto, why), REFUSED;
    return check_constants(r, why) ? judge_shapes(r, why) : REFUSED;
}

static verdict make_report(report *r, const expansion *e) {
    memset(r, 0, sizeof *r);
    r->e = e;
    for (size_t i = 0; i < OPERANDS; i++)
        onnx__tensor_proto__init(&r->operands[i].proto);
    if (!e->is_read)
        return REFUSED;
    bool ok = true;
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(&e->node, i) && ok)
            ok = describe_operand(&r->operands[i], e, i, &r->refusal);
    const verdict v = judge(r, ok ? &r->refusal : &(problem){0});
    if (e->becomes == WRONG) {
        recall_problem(&e->reason, &r->refusal);
        return REFUSED;
    }
    return e->becomes == EXPANDED ? TAKEN : ok ? v : REFUSED;
}

static void free_report(report *r) {
    for (size_t i = 0; i < OPERANDS; i++)
        free(r->operands[i].dims);
}

/* ---- how it is said ---- */

/* The graphs or the function that a node is in, but not the model's graph. */
static void print_scope(const model *m, size_t in) {
    if (in == 0)
        return;
    if (m->scopes[in].parent != NO_SCOPE)
        print_scope(m, (size_t)m->scopes[in].parent);
    print_clean(stdout, quoted(m->scopes[in].name).text);
    printf("/");
}

static void print_operand(const description *d) {
    printf("%s%s", d->proto.data_type != 0 ? type_label(d->proto.data_type).text : "?",
           d->has_shape ? shape_label(d->proto.n_dims, d->proto.dims).text : "[...]");
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
    const opsets *imported = &r->e->node.m->scopes[r->e->node.at->scope].imported;
    const view domain = r->e->node.op.domain;
    if (is_onnx_domain(domain) && imported->has_onnx)
        printf("; opset %" PRId64, imported->onnx);
    else if (view_equals(domain, "com.microsoft"))
        printf("; com.microsoft %" PRId64, imported->has_microsoft ? imported->microsoft : 1);
}

static void print_reason(const problem *why) {
    printf("; ");
    print_clean(stdout, why->text);
}

static void print_report(const report *r, verdict v) {
    const expansion *e = r->e;
    problem reason = {0};
    if (e->becomes != EXPANDED)
        recall_problem(&e->reason, &reason);
    printf("%-3s  ", verdict_names[v]);
    print_scope(e->node.m, e->node.at->scope);
    print_clean(stdout, quoted(e->node.op.y).text);
    printf("  ");
    if (e->is_read) {
        print_call(r);
        if (e->is_constant)
            printf("; constant");
        if (e->becomes == LEFT && (!e->is_constant || v == TAKEN))
            print_reason(&reason);
    } else {
        printf("?");
    }
    print_opset(r);
    if (v != TAKEN)
        print_reason(e->is_read ? &r->refusal : &reason);
    printf("\n");
}

static void inspect_sites(const model *m, const expansions *all) {
    size_t count[VERDICTS] = {0};
    for (size_t i = 0; i < m->site_count; i++) {
        report r;
        const verdict v = make_report(&r, &all->of[i]);
        count[v]++;
        print_report(&r, v);
        free_report(&r);
    }
    printf("%zu DequantizeLinear: %zu yes, %zu no, %zu ?; ", m->site_count, count[TAKEN], count[REFUSED],
           count[UNKNOWN]);
    if (all->count[WRONG] > 0)
        printf("dql expand fails, as %zu %s wrong\n", all->count[WRONG], all->count[WRONG] > 1 ? "are" : "is");
    else
        printf("dql expand replaces %zu\n", all->count[EXPANDED]);
}

static bool inspect_model(const model *m, problem *why) {
    expansions all;
    problem note;
    if (!expansions_plan(&all, m, why))
        return false;
    if (model_is_newer(m, &note))
        print_problem(&note);
    inspect_sites(m, &all);
    expansions_free(&all, m);
    return true;
}

int inspect_command(int count, char **arguments) {
    model m;
    problem why;
    int files, status;
    bool constant_inputs = false;
    const option options[] = {{"--constant-inputs", NULL, &constant_inputs}};
    if (!options_parse(options, 1, count, arguments, &files, &status))
        return status;
    if (files != 1)
        return usage_error("inspect takes one model", "");
    bool ok = model_load(&m, arguments[0], &why);
    if (ok) {
        m.constant_inputs = constant_inputs;
        ok = inspect_model(&m, &why);
        model_free(&m);
    }
    if (!ok)
        print_problem(&why);
    return ok ? EXIT_OK : EXIT_FAILED;
}
