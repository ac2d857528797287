/* Plans of arbitrary specs: what dql_plan_init says, and what it makes of a spec, against the header's list; then what
 * ranges, panels and slices it allows. Nothing here ever touches a tensor. */
#include "cursor.h"
#include "dql/dql.h"
#include "fuzz/fuzz.h"
#include "support/memory.h"

#include <string.h>

enum { MAX_RANK = 4000 };

/* ---- a spec from an input ---- */

/* What may be near a limit of something. */
static int64_t take_number(input *in) {
    static const int64_t edges[] = {INT64_MIN,         INT64_MIN + 1,           INT32_MIN,     INT32_MAX,
                                    UINT32_MAX,        (int64_t)UINT32_MAX + 1, INT64_MAX / 4, INT64_MAX / 2,
                                    INT64_MAX / 2 + 1, INT64_MAX - 1,           INT64_MAX};
    const int64_t n = (int64_t)take(in, 1);
    if (n < 200)
        return n % 20 - 1;
    if (n < 255 - (int64_t)(sizeof edges / sizeof *edges))
        return (int64_t)take(in, (size_t)n % 8 + 1);
    return n == 255 ? (int64_t)take(in, 8) : edges[254 - n];
}

/* In memory of exactly its size. Long ones are 1 but for the dims at their ends. */
static guarded take_shape(input *in, size_t *rank, const guarded *like) {
    enum { ENDS = 4 };
    const size_t n = take_below(in, 256);
    *rank = n < 250 ? n % 7 : take_below(in, MAX_RANK);
    if (like && n % 2)
        *rank = like->size / sizeof(int64_t);
    guarded g = guarded_new(*rank * sizeof(int64_t), AT_END, 0);
    for (size_t d = 0; d < *rank; d++) {
        int64_t dim = 1;
        if (like && d < like->size / sizeof dim && (n & 2 || d + ENDS < *rank))
            memcpy(&dim, like->bytes + d * sizeof dim, sizeof dim);
        if (d < ENDS || d + ENDS >= *rank)
            dim = like && n & 2 && take_below(in, 4) ? dim : take_number(in);
        memcpy(g.bytes + d * sizeof dim, &dim, sizeof dim);
    }
    return g;
}

static int32_t take_small(input *in, int32_t usual) {
    const int32_t n = (int32_t)take(in, 1);
    return n < 224 ? usual : n < 250 ? n - 224 : (int32_t)take(in, 4);
}

static dql_spec take_spec(input *in, guarded *shape, guarded *scale_shape) {
    static const int32_t x_types[] = {DQL_INT8, DQL_INT4, DQL_INT32, DQL_FLOAT8E5M2};
    static const int32_t floats[] = {DQL_FLOAT32, DQL_FLOAT16};
    dql_spec s = {.x_type = take_small(in, x_types[take_below(in, 4)])};
    s.scale_type = take_small(in, floats[take_below(in, 2)]);
    s.y_type = take_small(in, floats[take_below(in, 2)]);
    s.store = take_small(in, DQL_STORE_AUTO);
    s.isa = take_small(in, DQL_ISA_AUTO);
    *shape = take_shape(in, &s.rank, NULL);
    *scale_shape = take_shape(in, &s.scale_rank, shape);
    s.shape = s.rank ? (const int64_t *)(void *)shape->bytes : NULL;
    s.scale_shape = s.scale_rank ? (const int64_t *)(void *)scale_shape->bytes : NULL;
    s.axis = take_number(in);
    s.block_size = take_number(in);
    const size_t odd = take_below(in, 256);
    if (odd == 255)
        s.shape = NULL;
    if (odd == 254)
        s.scale_shape = NULL;
    if (odd == 253)
        s.reserved0 = 1 << take_below(in, 31);
    if (odd == 252)
        s.reserved[take_below(in, 4)] = UINT64_C(1) << take_below(in, 64);
    return s;
}

/* ---- the header's list ---- */

static size_t size_of_y(int32_t type) {
    return type == DQL_FLOAT32 ? 4 : type == DQL_FLOAT16 || type == DQL_BFLOAT16 ? 2 : 0;
}

#define CASE(TYPE, ...)                                                                                                \
    case DQL_##TYPE: return true;
static bool is_x(int32_t type) {
    switch (type) {
        DQL_X_TYPES(CASE)
    default: return false;
    }
}

static bool is_scale(int32_t type) {
    switch (type) {
        DQL_SCALE_TYPES(CASE)
    default: return false;
    }
}
#undef CASE

/* False if it can't be counted. */
static bool count_of(const dql_spec *s, size_t *count) {
    bool fits = true;
    size_t bytes = size_of_y(s->y_type);
    for (size_t d = 0; d < s->rank; d++)
        if (s->shape[d] == 0) {
            *count = 0;
            return true;
        }
    for (size_t d = 0; d < s->rank; d++)
        fits = fits && !__builtin_mul_overflow(bytes, s->shape[d], &bytes);
    *count = bytes / size_of_y(s->y_type);
    return fits;
}

static bool any_negative(const int64_t *dims, size_t rank) {
    for (size_t d = 0; d < rank; d++)
        if (dims[d] < 0)
            return true;
    return false;
}

static bool all_ones(const int64_t *dims, size_t rank) {
    for (size_t d = 0; d < rank; d++)
        if (dims[d] != 1)
            return false;
    return true;
}

/* dim and size are positive, or dim is 0. */
static int64_t blocks(int64_t dim, int64_t size) {
    return dim == 0 ? 0 : (dim - 1) / size + 1;
}

/* Whether some size gives this number of blocks: the number falls as the size grows, so a search finds the first size
 * that gives no more. */
static bool some_size_gives(int64_t dim, int64_t wanted) {
    int64_t low = 1, high = INT64_MAX;
    if (dim == 0 || wanted == 0)
        return false;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (blocks(dim, middle) <= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return blocks(dim, low) == wanted;
}

static dql_status blocked_status(const dql_spec *s, size_t axis) {
    for (size_t d = 0; d < s->rank; d++)
        if (d != axis && s->shape[d] != s->scale_shape[d])
            return DQL_ERROR_SCALE_SHAPE;
    if (blocks(s->shape[axis], s->block_size) == s->scale_shape[axis])
        return DQL_OK;
    return some_size_gives(s->shape[axis], s->scale_shape[axis]) ? DQL_ERROR_BLOCK_SIZE : DQL_ERROR_SCALE_SHAPE;
}

static bool is_per_tensor(const dql_spec *s) {
    return all_ones(s->scale_shape, s->scale_rank) &&
           (s->scale_rank == 0 || s->scale_rank <= s->rank || s->scale_rank == 1);
}

/* Of an axis in its range. */
static size_t axis_of(const dql_spec *s) {
    return s->axis < 0 ? s->rank - (size_t)-s->axis : (size_t)s->axis;
}

static dql_status expected_status(const dql_spec *s, size_t *count) {
    if ((s->rank && !s->shape) || (s->scale_rank && !s->scale_shape))
        return DQL_ERROR_NULL;
    if (s->reserved0 || s->reserved[0] || s->reserved[1] || s->reserved[2] || s->reserved[3])
        return DQL_ERROR_RESERVED;
    if (!is_x(s->x_type) || !is_scale(s->scale_type) || !size_of_y(s->y_type))
        return DQL_ERROR_TYPE;
    if (s->store < 0 || s->store > 2 || s->isa < 0 || !dql_isa_available((dql_isa)s->isa))
        return DQL_ERROR_ISA;
    if (any_negative(s->shape, s->rank) || any_negative(s->scale_shape, s->scale_rank) || !count_of(s, count))
        return DQL_ERROR_SHAPE;
    if (s->block_size < 0)
        return DQL_ERROR_BLOCK_SIZE;
    if (is_per_tensor(s))
        return DQL_OK;
    if (s->axis >= (int64_t)s->rank || s->axis < -(int64_t)s->rank)
        return DQL_ERROR_AXIS;
    if (s->scale_rank == 1 && s->block_size == 0)
        return s->scale_shape[0] == s->shape[axis_of(s)] ? DQL_OK : DQL_ERROR_SCALE_SHAPE;
    if (s->scale_rank != s->rank)
        return DQL_ERROR_SCALE_SHAPE;
    return s->block_size == 0 ? DQL_ERROR_BLOCK_SIZE : blocked_status(s, axis_of(s));
}

/* ---- the plan ---- */

/* The number of the scale of element i, by its indices. */
static size_t expected_scale(const dql_spec *s, size_t i) {
    if (is_per_tensor(s))
        return 0;
    size_t number = 0, step = 1;
    for (size_t d = s->rank; d-- > 0;) {
        const size_t index = i % (size_t)s->shape[d];
        i /= (size_t)s->shape[d];
        if (s->block_size == 0) {
            if (d == axis_of(s))
                return index;
            continue;
        }
        number += step * (d == axis_of(s) ? index / (size_t)s->block_size : index);
        step *= (size_t)s->scale_shape[d];
    }
    return number;
}

static void check_scale(const dql_spec *s, const dql_plan_data *plan, size_t i) {
    const size_t number = cursor_at(plan, i).scale;
    if (number != expected_scale(s, i))
        FAIL("element %zu has scale %zu, expected %zu", i, number, expected_scale(s, i));
}

static void check_normal(const dql_spec *s, const dql_plan_data *plan, input *in) {
    if (!plan)
        FAIL("not a plan");
    if (plan->count == 0)
        return;
    if (!plan->group_length || plan->group_length > plan->line_length || plan->line_length > plan->count ||
        plan->count % plan->line_length)
        FAIL("group %zu, line %zu, count %zu", plan->group_length, plan->line_length, plan->count);
    if (!plan->axis_lines || !plan->block_lines || plan->block_lines > plan->axis_lines)
        FAIL("axis_lines %zu, block_lines %zu", plan->axis_lines, plan->block_lines);
    check_scale(s, plan, 0);
    check_scale(s, plan, plan->count - 1);
    for (int k = 0; k < 8; k++)
        check_scale(s, plan, take_below(in, plan->count));
}

/* Each slice begins where the one before it ends, on a cache line. */
static void check_slices(const dql_plan *plan, size_t y_size, input *in) {
    const size_t count = dql_plan_count(plan);
    const size_t slices = 1 + (size_t)take(in, take_below(in, 4) ? 1 : 8), slice = take_below(in, slices ? slices : 1);
    size_t begin, end, next, after;
    dql_plan_slice(plan, slices, slice, &begin, &end);
    dql_plan_slice(plan, slices, slice + 1, &next, &after);
    if (begin > end || end > count || (slice == 0 && slices && begin != 0) ||
        (end != count && (end * y_size % 64 != 0 || next != end)) || (slice + 1 == slices && end != count))
        FAIL("slice %zu of %zu: %zu to %zu of %zu", slice, slices, begin, end, count);
    if (slice + 1 < slices && next > count)
        FAIL("slice %zu of %zu begins at %zu", slice + 1, slices, next);
}

static bool row_ends(size_t begin, size_t length, size_t rows, size_t stride, size_t *end) {
    size_t offset;
    return !__builtin_mul_overflow(rows - 1, stride, &offset) && !__builtin_add_overflow(offset, length, end) &&
           !__builtin_add_overflow(*end, begin, end);
}

static dql_status expected_of_rows(size_t count, size_t y_size, size_t begin, size_t length, size_t rows,
                                   size_t x_stride, size_t y_stride) {
    size_t end, bytes;
    if (begin > count)
        return DQL_ERROR_RANGE;
    if (length == 0 || rows == 0)
        return DQL_OK;
    if (!row_ends(begin, length, rows, x_stride, &end) || end > count || (rows > 1 && y_stride < length) ||
        !row_ends(0, length, rows, y_stride, &end) || __builtin_mul_overflow(end, y_size, &bytes))
        return DQL_ERROR_RANGE;
    return DQL_ERROR_NULL;
}

static size_t take_near(input *in, size_t count) {
    const size_t kind = take_below(in, 8);
    if (kind == 0)
        return (size_t)take_number(in);
    return kind < 4 ? count - (size_t)take(in, 1) % 4 + 1 : count ? take_below(in, count) : 0;
}

/* Without buffers: a range that is right lacks them, and is refused for that. */
static void check_calls(const dql_plan *plan, size_t y_size, input *in) {
    const size_t count = dql_plan_count(plan), begin = take_near(in, count), end = take_near(in, count);
    dql_status right = begin > end || end > count ? DQL_ERROR_RANGE : begin == end ? DQL_OK : DQL_ERROR_NULL;
    dql_status status = dql_run_range(plan, NULL, NULL, NULL, begin, end, NULL);
    if (status != right)
        FAIL("range %zu to %zu of %zu: %s", begin, end, count, dql_status_text(status));
    const size_t length = take_near(in, count), rows = take_near(in, take_below(in, 256));
    const size_t x_stride = take_near(in, rows ? count / rows : count), y_stride = take_near(in, length);
    right = expected_of_rows(count, y_size, begin, length, rows, x_stride, y_stride);
    status = dql_run_rows(plan, NULL, NULL, NULL, begin, length, rows, x_stride, NULL, y_stride);
    if (status != right)
        FAIL("%zu rows of %zu from %zu of %zu, strides %zu and %zu: %s", rows, length, begin, count, x_stride, y_stride,
             dql_status_text(status));
    status = dql_run(plan, NULL, NULL, NULL, NULL);
    if (status != (count ? DQL_ERROR_NULL : DQL_OK))
        FAIL("run: %s", dql_status_text(status));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    input in = {bytes, bytes + size};
    guarded shape, scale_shape;
    const dql_spec s = take_spec(&in, &shape, &scale_shape);
    size_t count = 0;
    dql_plan plan;
    memset(&plan, 0xff, sizeof plan);
    const dql_status status = dql_plan_init(&plan, &s), right = expected_status(&s, &count);
    if (status != right)
        FAIL("%s, expected: %s", dql_status_text(status), dql_status_text(right));
    if (status == DQL_OK) {
        if (dql_plan_count(&plan) != count || dql_plan_isa(&plan) == DQL_ISA_AUTO)
            FAIL("%zu elements, expected %zu", dql_plan_count(&plan), count);
        check_normal(&s, dql_plan_get(&plan), &in);
        check_slices(&plan, size_of_y(s.y_type), &in);
        check_calls(&plan, size_of_y(s.y_type), &in);
    } else if (dql_plan_count(&plan) != 0 || dql_run(&plan, NULL, NULL, NULL, NULL) != DQL_ERROR_PLAN)
        FAIL("after an error, a plan");
    guarded_free(&shape);
    guarded_free(&scale_shape);
    return 0;
}
