#include "node.h"

#include "text.h"
#include "types.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct tensor {
    const element_type *type; /* NULL: none, or one that dql does not take */
    const int64_t *shape;     /* [rank] */
    size_t rank;
    void *data;
    bool is_there;
} tensor;

typedef struct inputs {
    tensor x, scale, zero;
} inputs;

/* A node whose declared shapes are complete has a plan from the start. It is used if the tensors have these shapes:
 * what a model declares need not be true. */
typedef struct node {
    ort_kernel base;
    const settings *settings;
    char *name;
    int64_t axis, block_size;
    const element_type *y_type;
    inputs declared; /* without data */
    dql_plan plan;
    bool has_plan;
} node;

/* ---- messages ---- */

static void add_tensor(text *message, const char *name, const tensor *t) {
    enum { MOST_DIMS = 16 };
    text_add(message, "%s %s[", name, t->type ? t->type->name : "of a type that dql does not take");
    for (size_t d = 0; d < t->rank && d < MOST_DIMS; d++)
        text_add(message, "%s%" PRId64, d ? "," : "", t->shape[d]);
    text_add(message, "%s]", t->rank > MOST_DIMS ? ",..." : "");
}

/* The status of a run that can't be: the node, why, and what it was given. */
static ort_status *refuse(const node *n, const inputs *in, const char *why) {
    text message = {.size = 0};
    text_add(&message, "dql: DequantizeLinear ");
    text_add_name(&message, n->name);
    text_add(&message, ": %s", why);
    const char *separator = " (";
    const struct {
        const char *name;
        const tensor *tensor;
    } rows[] = {{"x", &in->x}, {"x_scale", &in->scale}, {"x_zero_point", &in->zero}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].tensor->is_there) {
            text_add(&message, "%s", separator);
            add_tensor(&message, rows[i].name, rows[i].tensor);
            separator = ", ";
        }
    text_add(&message, "%saxis %" PRId64 ", block_size %" PRId64 ", y %s)", separator, n->axis, n->block_size,
             n->y_type ? n->y_type->name : "of a type that dql does not take");
    return fail(n->settings->api, ORT_INVALID_ARGUMENT, "%s", message.bytes);
}

/* ---- plans ---- */

static size_t multiply_or_max(size_t a, size_t b) {
    return a && b > SIZE_MAX / a ? SIZE_MAX : a * b;
}

static size_t bytes_of_y(const node *n, const tensor *x) {
    size_t bytes = n->y_type->bytes;
    for (size_t d = 0; d < x->rank; d++)
        bytes = multiply_or_max(bytes, x->shape[d] > 0 ? (size_t)x->shape[d] : 0);
    return bytes;
}

static dql_status make_plan(const node *n, const inputs *in, dql_plan *plan) {
    const dql_spec spec = {
        .x_type = in->x.type->onnx,
        .scale_type = in->scale.type->onnx,
        .y_type = n->y_type->onnx,
        .store = bytes_of_y(n, &in->x) > n->settings->cache ? DQL_STORE_STREAM : DQL_STORE_CACHED,
        .isa = (int32_t)n->settings->isa,
        .rank = in->x.rank,
        .shape = in->x.shape,
        .scale_rank = in->scale.rank,
        .scale_shape = in->scale.shape,
        .axis = n->axis,
        .block_size = n->block_size,
    };
    return dql_plan_init(plan, &spec);
}

static bool same_shape(const tensor *a, const tensor *b) {
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static bool same_tensor(const tensor *a, const tensor *b) {
    return a->type == b->type && same_shape(a, b);
}

static bool has_one_element(const tensor *t) {
    for (size_t d = 0; d < t->rank; d++)
        if (t->shape[d] != 1)
            return false;
    return true;
}

/* ---- running ---- */

static ort_status *read_tensor(const ort_api *api, const ort_value *value, tensor *t) {
    int type;
    TRY(api->get_tensor_type_and_shape(value, &type, &t->shape, &t->rank));
    t->type = element_type_of(type);
    t->is_there = true;
    return api->get_tensor_data(value, &t->data);
}

static ort_status *read_inputs(const ort_api *api, const ort_kernel_context *context, inputs *in) {
    tensor *const tensors[] = {&in->x, &in->scale, &in->zero};
    size_t count;
    TRY(api->get_input_count(context, &count));
    for (size_t i = 0; i < count && i < sizeof tensors / sizeof *tensors; i++) {
        const ort_value *value = NULL;
        TRY(api->get_input(context, i, &value));
        if (value)
            TRY(read_tensor(api, value, tensors[i]));
    }
    return NULL;
}

/* Why the inputs can't be what dql is told they are; NULL if they can. The runtime has checked types against the
 * operator's schema, but this is where memory is read. */
static const char *find_fault(const node *n, const inputs *in) {
    if (!in->x.is_there)
        return "there is no x";
    if (!in->scale.is_there)
        return "there is no x_scale";
    if (!in->x.type || !in->scale.type || !n->y_type)
        return dql_status_text(DQL_ERROR_TYPE);
    if (!in->zero.is_there)
        return NULL;
    if (in->zero.type != in->x.type)
        return "x_zero_point has another type than x";
    if (!same_shape(&in->zero, &in->scale) && !(has_one_element(&in->zero) && has_one_element(&in->scale)))
        return "x_zero_point has another shape than x_scale";
    return NULL;
}

typedef struct job {
    const dql_plan *plan;
    const inputs *in;
    char *y;
    size_t y_bytes; /* of an element */
    size_t slices;
    _Atomic(dql_status) status;
} job;

static void run_slice(void *state, size_t number) {
    job *j = state;
    size_t begin, end;
    dql_plan_slice(j->plan, j->slices, number, &begin, &end);
    const dql_status status = dql_run_range(j->plan, j->in->x.data, j->in->scale.data, j->in->zero.data, begin, end,
                                            j->y + begin * j->y_bytes);
    if (status != DQL_OK)
        j->status = status;
}

/* Runs a plan, in slices on the session's threads if it is worth it. */
static ort_status *run_plan(const node *n, ort_kernel_context *context, const dql_plan *plan, const inputs *in,
                            void *y) {
    enum { SLICE_BYTES = 256 << 10 }; /* of y: docs/integration.md says why */
    job j = {.plan = plan, .in = in, .y = y, .y_bytes = n->y_type->bytes, .status = DQL_OK};
    j.slices = n->settings->threads ? dql_plan_count(plan) * j.y_bytes / SLICE_BYTES : 0;
    if (j.slices > 1)
        TRY(n->settings->api->parallel_for(context, run_slice, j.slices, 0, &j));
    else
        j.status = dql_run(plan, in->x.data, in->scale.data, in->zero.data, y);
    return j.status == DQL_OK ? NULL : refuse(n, in, dql_status_text(j.status));
}

static ort_status *compute(ort_kernel *kernel, ort_kernel_context *context) {
    const node *n = (const node *)kernel;
    const ort_api *api = n->settings->api;
    inputs in = {.x = {.is_there = false}};
    TRY(read_inputs(api, context, &in));
    const char *fault = find_fault(n, &in);
    if (fault)
        return refuse(n, &in, fault);
    dql_plan made;
    const dql_plan *plan = &n->plan;
    if (!n->has_plan || !same_tensor(&in.x, &n->declared.x) || !same_tensor(&in.scale, &n->declared.scale)) {
        const dql_status status = make_plan(n, &in, &made);
        if (status != DQL_OK)
            return refuse(n, &in, dql_status_text(status));
        plan = &made;
    }
    ort_value *output = NULL;
    void *y = NULL;
    TRY(api->get_output(context, 0, in.x.shape, in.x.rank, &output));
    TRY(api->get_tensor_data(output, &y));
    return run_plan(n, context, plan, &in, y);
}

/* ---- creating ---- */

/* A copy of the node's name, or of its output's where it has none. *name is to be freed, also after an error. */
static ort_status *copy_name(const ort_api *api, const ort_kernel_info *info, char **name) {
    size_t size = 0, output_size = 0;
    TRY(api->get_node_name(info, NULL, &size));
    const bool has_name = size > 1;
    if (!has_name)
        TRY(api->get_output_name(info, 0, NULL, &output_size));
    size = has_name ? size : output_size;
    *name = calloc(size + 1, 1);
    if (!*name)
        return fail(api, ORT_FAIL, "dql: no memory");
    return has_name ? api->get_node_name(info, *name, &size) : api->get_output_name(info, 0, *name, &size);
}

/* A type that is no tensor's has no element type. */
static ort_status *read_element_type(const ort_api *api, const ort_type_info *info, const ort_tensor_info **shape,
                                     const element_type **type) {
    int number = 0;
    TRY(api->get_tensor_info(info, shape));
    if (*shape)
        TRY(api->get_element_type(*shape, &number));
    *type = element_type_of(number);
    return NULL;
}

/* t->shape becomes a copy to be freed, also after an error. Unknown dims are -1. (A shape of unknown rank comes as one
 * of rank 0: then the tensors have another.) */
static ort_status *read_declared(const ort_api *api, const ort_type_info *info, tensor *t) {
    const ort_tensor_info *shape = NULL;
    TRY(read_element_type(api, info, &shape, &t->type));
    if (!shape)
        return NULL;
    TRY(api->get_rank(shape, &t->rank));
    int64_t *dims = calloc(t->rank + 1, sizeof *dims);
    if (!dims)
        return fail(api, ORT_FAIL, "dql: no memory");
    t->shape = dims;
    return api->get_dims(shape, dims, t->rank);
}

static ort_status *declare_input(const ort_api *api, const ort_kernel_info *info, size_t index, tensor *t) {
    ort_type_info *type = NULL;
    TRY(api->get_input_type(info, index, &type));
    ort_status *status = read_declared(api, type, t);
    api->release_type_info(type);
    return status;
}

static ort_status *declare_output(const ort_api *api, const ort_kernel_info *info, const element_type **y_type) {
    const ort_tensor_info *shape = NULL;
    ort_type_info *type = NULL;
    TRY(api->get_output_type(info, 0, &type));
    ort_status *status = read_element_type(api, type, &shape, y_type);
    api->release_type_info(type);
    return status;
}

/* A shape that can't be known now is no error: the tensors will tell. */
static void declare_shapes(const ort_api *api, const ort_kernel_info *info, node *n) {
    ort_status *status = declare_input(api, info, 0, &n->declared.x);
    if (!status)
        status = declare_input(api, info, 1, &n->declared.scale);
    if (status)
        api->release_status(status);
    else if (n->declared.x.type && n->declared.scale.type && n->y_type)
        n->has_plan = make_plan(n, &n->declared, &n->plan) == DQL_OK;
}

/* Attributes that are absent keep their defaults. */
static void read_attribute(const ort_api *api, const ort_kernel_info *info, const char *name, int64_t *value) {
    ort_status *status = api->get_attribute(info, name, value);
    if (status)
        api->release_status(status);
}

static ort_status *fill_node(const ort_api *api, const ort_kernel_info *info, node *n) {
    n->axis = 1;
    read_attribute(api, info, "axis", &n->axis);
    read_attribute(api, info, "block_size", &n->block_size);
    TRY(copy_name(api, info, &n->name));
    TRY(declare_output(api, info, &n->y_type));
    declare_shapes(api, info, n);
    return NULL;
}

static void release(ort_kernel *kernel) {
    node *n = (node *)kernel;
    free((void *)n->declared.x.shape);
    free((void *)n->declared.scale.shape);
    free(n->name);
    free(n);
}

ort_status *node_create(void *state, const ort_kernel_info *info, ort_kernel **kernel) {
    const settings *s = state;
    node *n = calloc(1, sizeof *n);
    if (!n)
        return fail(s->api, ORT_FAIL, "dql: no memory");
    n->base = (ort_kernel){.version = ORT_VERSION, .compute = compute, .release = release};
    n->settings = s;
    ort_status *status = fill_node(s->api, info, n);
    if (status)
        release(&n->base);
    else
        *kernel = &n->base;
    return status;
}
