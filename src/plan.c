/* spec -> plan: validate, normalise. */
#include "plan.h"

#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "scalar/int32_exact.h"

#include <assert.h>
#include <string.h>

/* Engines compile against these layouts. */
#define AFTER_FIELDS(pointers) (24 + (pointers) * sizeof(void *))
_Static_assert(offsetof(dql_spec, x_type) == 0 && offsetof(dql_spec, scale_type) == 4 &&
                   offsetof(dql_spec, y_type) == 8 && offsetof(dql_spec, store) == 12 &&
                   offsetof(dql_spec, isa) == 16 && offsetof(dql_spec, reserved0) == 20 &&
                   offsetof(dql_spec, rank) == 24 && offsetof(dql_spec, shape) == AFTER_FIELDS(1) &&
                   offsetof(dql_spec, scale_rank) == AFTER_FIELDS(2) &&
                   offsetof(dql_spec, scale_shape) == AFTER_FIELDS(3) && offsetof(dql_spec, axis) == AFTER_FIELDS(4) &&
                   offsetof(dql_spec, block_size) == AFTER_FIELDS(4) + 8 &&
                   offsetof(dql_spec, reserved) == AFTER_FIELDS(4) + 16 && sizeof(dql_spec) == AFTER_FIELDS(4) + 48,
               "the layout of dql_spec is part of the ABI");
_Static_assert(sizeof(dql_plan) == 128, "the size of dql_plan is part of the ABI");
_Static_assert(sizeof(dql_plan_data) <= sizeof(dql_plan), "a plan holds its normal form");
_Static_assert(_Alignof(dql_plan_data) <= _Alignof(dql_plan), "a plan's normal form is read where the caller has it");

/* Which types are taken as what, and what else types.h says of them in its lists alone; all 0 for other types. */
static const struct type_facts {
    bool x, scale, y;
    uint8_t zero_bits, y_number;
} types[DQL_TYPE_END] = {
#define X_FACTS(TYPE, name, bits, KIND, must_be_0) [DQL_##TYPE].x = DQL_HAS_X(TYPE), [DQL_##TYPE].zero_bits = must_be_0,
#define SCALE_FACTS(TYPE, name, bits)              [DQL_##TYPE].scale = true,
#define Y_FACTS(TYPE, name, bits)                  [DQL_##TYPE].y = DQL_HAS_Y(TYPE), [DQL_##TYPE].y_number = DQL_Y_##TYPE,
    DQL_X_TYPES(X_FACTS) DQL_SCALE_TYPES(SCALE_FACTS) DQL_Y_TYPES(Y_FACTS)};

static struct type_facts facts_of(int32_t type) {
    return type >= 0 && type < DQL_TYPE_END ? types[type] : (struct type_facts){0};
}

static dql_status check_fields(const dql_spec *spec) {
    if ((spec->rank && !spec->shape) || (spec->scale_rank && !spec->scale_shape))
        return DQL_ERROR_NULL;
    uint64_t reserved = (uint32_t)spec->reserved0;
    for (size_t k = 0; k < sizeof spec->reserved / sizeof *spec->reserved; k++)
        reserved |= spec->reserved[k];
    if (reserved)
        return DQL_ERROR_RESERVED;
    if (!facts_of(spec->x_type).x || !facts_of(spec->scale_type).scale || !facts_of(spec->y_type).y)
        return DQL_ERROR_TYPE;
    if (spec->store < DQL_STORE_AUTO || spec->store > DQL_STORE_STREAM || !dql_isa_find(spec->isa))
        return DQL_ERROR_ISA;
    return DQL_OK;
}

/* *count = the elements of x. One zero dim makes it 0, whatever the others are. */
static dql_status count_elements(size_t *count, const dql_spec *spec, size_t y_size) {
    *count = 1;
    for (size_t d = 0; d < spec->rank; d++)
        if (spec->shape[d] == 0)
            *count = 0;
    for (size_t d = 0; d < spec->rank && *count; d++) {
        if ((uint64_t)spec->shape[d] > SIZE_MAX / y_size / *count)
            return DQL_ERROR_SHAPE;
        *count *= (size_t)spec->shape[d];
    }
    return DQL_OK;
}

static dql_status check_dims(const int64_t *shape, size_t rank) {
    for (size_t d = 0; d < rank; d++)
        if (shape[d] < 0)
            return DQL_ERROR_SHAPE;
    return DQL_OK;
}

static bool is_per_tensor(const dql_spec *spec) {
    if (spec->scale_rank > (spec->rank ? spec->rank : 1))
        return false;
    for (size_t d = 0; d < spec->scale_rank; d++)
        if (spec->scale_shape[d] != 1)
            return false;
    return true;
}

/* Blocks of `block_size` in an axis of `dim`. */
static int64_t blocks_of(int64_t dim, int64_t block_size) {
    return dim / block_size + (dim % block_size != 0);
}

/* Whether a block size cuts an axis of `dim` into `blocks`: if one does, then the smallest that gives no more. */
static bool some_block_gives(int64_t dim, int64_t blocks) {
    return dim > 0 && blocks > 0 && blocks_of(dim, blocks_of(dim, blocks)) == blocks;
}

static dql_status check_blocked(const dql_spec *spec, size_t axis) {
    for (size_t d = 0; d < spec->rank; d++)
        if (d != axis && spec->scale_shape[d] != spec->shape[d])
            return DQL_ERROR_SCALE_SHAPE;
    if (spec->scale_shape[axis] == blocks_of(spec->shape[axis], spec->block_size))
        return DQL_OK;
    return some_block_gives(spec->shape[axis], spec->scale_shape[axis]) ? DQL_ERROR_BLOCK_SIZE : DQL_ERROR_SCALE_SHAPE;
}

/* ---- normalise ---- */

static void normalise_tensor(dql_plan_data *plan) {
    plan->line_length = plan->group_length = plan->count;
    plan->line_scales = plan->axis_lines = plan->block_lines = 1;
    plan->blocks = 0;
}

/* The product of dims [begin, end): no overflow, since the tensor has elements. */
static size_t product(const int64_t *shape, size_t begin, size_t end) {
    size_t result = 1;
    for (size_t d = begin; d < end; d++)
        result *= (size_t)shape[d];
    return result;
}

static void normalise_axis(dql_plan_data *plan, const dql_spec *spec, size_t axis) {
    const size_t inner = product(spec->shape, axis + 1, spec->rank), outer = product(spec->shape, 0, axis);
    plan->line_length = (size_t)spec->shape[axis] * inner;
    plan->group_length = inner;
    plan->line_scales = (size_t)spec->shape[axis];
    plan->axis_lines = plan->block_lines = outer;
    plan->blocks = 0;
}

static void normalise_blocked(dql_plan_data *plan, const dql_spec *spec, size_t axis) {
    const size_t inner = product(spec->shape, axis + 1, spec->rank), dim = (size_t)spec->shape[axis];
    const size_t block = spec->block_size < spec->shape[axis] ? (size_t)spec->block_size : dim;
    const size_t blocks = (size_t)spec->scale_shape[axis];
    if (inner == 1) {
        plan->line_length = dim;
        plan->group_length = block;
        plan->line_scales = blocks;
        plan->axis_lines = plan->block_lines = plan->blocks = 1;
    } else {
        plan->line_length = plan->line_scales = inner;
        plan->group_length = 1;
        plan->axis_lines = dim;
        plan->block_lines = block;
        plan->blocks = blocks;
    }
    /* Each line has scales of its own and no group ends short: all lines are one. */
    if (plan->block_lines == 1 && plan->line_length % plan->group_length == 0) {
        plan->line_length = plan->count;
        plan->line_scales = plan->count / plan->group_length;
        plan->axis_lines = 1;
        plan->blocks = 0;
    }
}

/* Steps 3 to 8 of the header's list. */
static dql_status find_granularity(dql_plan_data *plan, const dql_spec *spec) {
    if (spec->block_size < 0)
        return DQL_ERROR_BLOCK_SIZE;
    normalise_tensor(plan);
    if (is_per_tensor(spec))
        return DQL_OK;

    const int64_t rank = (int64_t)spec->rank;
    if (spec->axis < -rank || spec->axis >= rank)
        return DQL_ERROR_AXIS;
    const size_t axis = (size_t)(spec->axis < 0 ? spec->axis + rank : spec->axis);

    if (spec->scale_rank == 1 && spec->block_size == 0) {
        if (spec->scale_shape[0] != spec->shape[axis])
            return DQL_ERROR_SCALE_SHAPE;
        if (plan->count)
            normalise_axis(plan, spec, axis);
        return DQL_OK;
    }
    if (spec->scale_rank != spec->rank)
        return DQL_ERROR_SCALE_SHAPE;
    if (spec->block_size == 0)
        return DQL_ERROR_BLOCK_SIZE;
    const dql_status status = check_blocked(spec, axis);
    if (status == DQL_OK && plan->count)
        normalise_blocked(plan, spec, axis);
    return status;
}

size_t dql_stream_above(const dql_kernels *kernels, int32_t store) {
    if (!kernels->stream || store == DQL_STORE_CACHED)
        return SIZE_MAX;
    return store == DQL_STORE_STREAM ? 0 : dql_cpu_last_level_cache();
}

/* int32 zero points need no widening. */
static void copy_int32(const void *from, size_t i, void *to, size_t count) {
    memcpy(to, (const char *)from + i * sizeof(int32_t), count * sizeof(int32_t));
}

static dql_pack pack_of(unsigned bits) {
    uint8_t length_log2 = 0;
    while (1u << length_log2 < dql_pack_length(bits))
        length_log2++;
    assert(dql_pack_length(bits) <= DQL_MAX_PACK_LENGTH);
    return (dql_pack){length_log2, (uint8_t)dql_pack_bytes(bits)};
}

/* What the types and the ISA say. */
static dql_plan_data plan_of_types(const dql_spec *spec) {
    const size_t y_number = facts_of(spec->y_type).y_number;
    const dql_isa_row *const isa = dql_isa_find(spec->isa);
    const bool is_int32 = spec->x_type == DQL_INT32;
    return (dql_plan_data){.magic = DQL_PLAN_MAGIC,
                           .isa = (uint8_t)isa->id,
                           .x_type = (uint8_t)spec->x_type,
                           .scale_type = (uint8_t)spec->scale_type,
                           .y_type = (uint8_t)spec->y_type,
                           .x_pack = pack_of(dql_x_bits((dql_type)spec->x_type)),
                           .scale_pack = pack_of(dql_bits((dql_type)spec->scale_type)),
                           .y_size = (uint8_t)dql_y_bytes((dql_type)spec->y_type),
                           .zero_bits = facts_of(spec->x_type).zero_bits,
                           .stream_above = dql_stream_above(isa->kernels, spec->store),
                           .kernel = dql_kernel_of(isa->kernels, (dql_type)spec->x_type, y_number),
                           .exact_kernel = is_int32 ? dql_int32_exact[y_number] : NULL,
                           .widen_scale = isa->kernels->widen[spec->scale_type],
                           .widen_zero = is_int32 ? copy_int32 : isa->kernels->widen[spec->x_type],
                           .stream = isa->kernels->stream};
}

/* Lines that are not worth a loop of their own: unless whole vectors of several of them share their scales. */
static bool has_short_lines(const dql_plan_data *plan) {
    return plan->line_length <= DQL_SHORT_LINE && plan->line_length < plan->count &&
           (plan->line_length % 16 || plan->block_lines < 4);
}

static dql_status make(dql_plan_data *plan, const dql_spec *spec) {
    dql_status status = check_fields(spec);
    if (status)
        return status;
    *plan = plan_of_types(spec);
    status = check_dims(spec->shape, spec->rank);
    if (!status)
        status = check_dims(spec->scale_shape, spec->scale_rank);
    if (!status)
        status = count_elements(&plan->count, spec, plan->y_size);
    if (!status)
        status = find_granularity(plan, spec);
    plan->short_lines = has_short_lines(plan);
    return status;
}

/* ---- the API ---- */

dql_status dql_plan_init(dql_plan *plan, const dql_spec *spec) {
    if (!plan)
        return DQL_ERROR_NULL;
    memset(plan, 0, sizeof *plan);
    if (!spec)
        return DQL_ERROR_NULL;
    dql_plan_data data;
    const dql_status status = make(&data, spec);
    if (status == DQL_OK)
        memcpy(plan, &data, sizeof data);
    return status;
}

size_t dql_plan_count(const dql_plan *plan) {
    const dql_plan_data *const data = dql_plan_get(plan);
    return data ? data->count : 0;
}

dql_isa dql_plan_isa(const dql_plan *plan) {
    const dql_plan_data *const data = dql_plan_get(plan);
    return data ? (dql_isa)data->isa : DQL_ISA_AUTO;
}

void dql_plan_slice(const dql_plan *plan, size_t slices, size_t slice, size_t *begin, size_t *end) {
    enum { CACHE_LINE = 64 };
    *begin = *end = 0;
    const dql_plan_data *const data = dql_plan_get(plan);
    if (!data || slice >= slices)
        return;
    const size_t length = CACHE_LINE / data->y_size, lines = data->count / length + (data->count % length != 0);
    /* Cache lines that are left over go to the last slices, a line each: the very last may be short. */
    const size_t each = lines / slices, plain = slices - lines % slices;
    const size_t first = slice * each + (slice > plain ? slice - plain : 0), last = first + each + (slice >= plain);
    *begin = first < lines ? first * length : data->count;
    *end = last < lines ? last * length : data->count;
}
