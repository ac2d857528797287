#include "explain.h"

#include "tensor.h"
#include <inttypes.h>

/* Asks the library, so that this stays right when it takes more types. */
static bool takes(int32_t x_type, int32_t scale_type, int32_t y_type) {
    dql_plan plan;
    const dql_spec scalar = {.x_type = x_type, .scale_type = scale_type, .y_type = y_type};
    return dql_plan_init(&plan, &scalar) == DQL_OK;
}

static bool explain_type(const dql_spec *s, const char *file, problem *why) {
    if (!takes(s->x_type, DQL_FLOAT32, DQL_FLOAT32))
        return unsupported(why, file, "x of %s is not supported", type_label(s->x_type).text);
    if (!takes(s->x_type, s->scale_type, DQL_FLOAT32))
        return unsupported(why, file, "x_scale of %s is not supported", type_label(s->scale_type).text);
    return unsupported(why, file, "y of %s is not supported", type_label(s->y_type).text);
}

static bool explain_shape(const dql_spec *s, const char *file, problem *why) {
    size_t count;
    const bool scale = !count_elements(&count, s->scale_rank, s->scale_shape);
    const label shape = scale ? shape_label(s->scale_rank, s->scale_shape) : shape_label(s->rank, s->shape);
    return fail(why, file, "%s of shape %s has %s", scale ? "x_scale" : "x", shape.text,
                scale ? shape_fault(s->scale_rank, s->scale_shape) : shape_fault(s->rank, s->shape));
}

/* The axis counted from the front. */
static size_t axis_of(const dql_spec *s) {
    return s->axis < 0 ? s->rank - (size_t)-s->axis : (size_t)s->axis;
}

static int64_t blocks_of(int64_t dim, int64_t block_size) {
    return dim / block_size + (dim % block_size != 0);
}

static bool explain_axis(const dql_spec *s, const char *file, problem *why) {
    if (s->rank == 0)
        return fail(why, file, "x is a scalar, so x_scale must be one too, but has shape %s",
                    shape_label(s->scale_rank, s->scale_shape).text);
    return fail(why, file, "axis %" PRId64 " is outside [-%zu, %zu) of x of shape %s", s->axis, s->rank, s->rank,
                shape_label(s->rank, s->shape).text);
}

static bool explain_per_axis(const dql_spec *s, const char *file, problem *why) {
    return fail(why, file, "axis %" PRId64 " of x of shape %s has %" PRId64 " elements, but x_scale has %" PRId64,
                s->axis, shape_label(s->rank, s->shape).text, s->shape[axis_of(s)], s->scale_shape[0]);
}

static bool explain_blocked(const dql_spec *s, const char *file, problem *why) {
    const size_t axis = axis_of(s);
    for (size_t i = 0; i < s->rank; i++) {
        const int64_t expected = i == axis ? blocks_of(s->shape[i], s->block_size) : s->shape[i];
        if (s->shape[i] != UNKNOWN_DIM && s->scale_shape[i] != expected)
            return fail(why, file,
                        "dim %zu of x_scale of shape %s must be %" PRId64 ": x has shape %s, axis %" PRId64
                        ", block_size %" PRId64,
                        i, shape_label(s->scale_rank, s->scale_shape).text, expected,
                        shape_label(s->rank, s->shape).text, s->axis, s->block_size);
    }
    return fail(why, file, "%s", dql_status_text(DQL_ERROR_SCALE_SHAPE));
}

/* "2 would fit": the block sizes that cut the axis into as many blocks as the scale has. */
typedef struct {
    char text[160];
} advice;

static advice block_sizes_for(const dql_spec *s) {
    const size_t axis = axis_of(s);
    const int64_t dim = s->shape[axis], blocks = s->scale_shape[axis];
    advice a;
    bool fits = dim > 0 && blocks > 0;
    for (size_t i = 0; i < s->rank; i++)
        fits &= i == axis || s->scale_shape[i] == s->shape[i];
    const int64_t least = fits ? blocks_of(dim, blocks) : 0;
    if (!fits || blocks_of(dim, least) != blocks)
        snprintf(a.text, sizeof a.text, "no block_size fits");
    else if (blocks == 1)
        snprintf(a.text, sizeof a.text, "%" PRId64 " or more would fit", least);
    else if (blocks_of(dim, blocks - 1) - 1 > least)
        snprintf(a.text, sizeof a.text, "%" PRId64 " to %" PRId64 " would fit", least, blocks_of(dim, blocks - 1) - 1);
    else
        snprintf(a.text, sizeof a.text, "%" PRId64 " would fit", least);
    return a;
}

static bool has_unknown_dim(const dql_spec *s) {
    for (size_t i = 0; i < s->rank; i++)
        if (s->shape[i] == UNKNOWN_DIM)
            return true;
    return false;
}

bool explain_missing_block_size(const dql_spec *s, bool has_shape, const char *file, problem *why) {
    const label scale = shape_label(s->scale_rank, s->scale_shape);
    if (!has_shape || has_unknown_dim(s))
        return fail(why, file, "block_size is missing: x_scale has shape %s", scale.text);
    return fail(why, file, "block_size is missing: x_scale has shape %s, x %s: %s on axis %" PRId64, scale.text,
                shape_label(s->rank, s->shape).text, block_sizes_for(s).text, s->axis);
}

static bool explain_granularity(const dql_spec *s, const char *file, problem *why) {
    if (s->block_size < 0)
        return fail(why, file, "block_size is negative: %" PRId64, s->block_size);
    if (s->scale_rank == 1 && s->block_size == 0)
        return explain_per_axis(s, file, why);
    if (s->scale_rank != s->rank)
        return fail(why, file, "x_scale of shape %s has rank %zu, but x of shape %s rank %zu",
                    shape_label(s->scale_rank, s->scale_shape).text, s->scale_rank, shape_label(s->rank, s->shape).text,
                    s->rank);
    if (s->block_size == 0)
        return explain_missing_block_size(s, true, file, why);
    return explain_blocked(s, file, why);
}

bool explain_refusal(const dql_spec *spec, dql_status status, const char *file, problem *why) {
    switch (status) {
    case DQL_ERROR_TYPE: return explain_type(spec, file, why);
    case DQL_ERROR_SHAPE: return explain_shape(spec, file, why);
    case DQL_ERROR_AXIS: return explain_axis(spec, file, why);
    case DQL_ERROR_SCALE_SHAPE:
    case DQL_ERROR_BLOCK_SIZE: return explain_granularity(spec, file, why);
    default: return fail(why, file, "%s", dql_status_text(status));
    }
}

static bool is_per_tensor(const dql_spec *s) {
    size_t count;
    return s->scale_rank == 0 || (s->scale_rank <= (s->rank > 1 ? s->rank : 1) &&
                                  count_elements(&count, s->scale_rank, s->scale_shape) && count == 1);
}

granularity_label granularity_of(const dql_spec *s) {
    granularity_label g;
    if (is_per_tensor(s))
        snprintf(g.text, sizeof g.text, "per tensor");
    else if (s->block_size == 0 && s->scale_rank == 1)
        snprintf(g.text, sizeof g.text, "per axis, axis %" PRId64, s->axis);
    else if (s->block_size == 0)
        snprintf(g.text, sizeof g.text, "blocked, axis %" PRId64 ", no block size", s->axis);
    else
        snprintf(g.text, sizeof g.text, "blocked, axis %" PRId64 ", block size %" PRId64, s->axis, s->block_size);
    return g;
}
