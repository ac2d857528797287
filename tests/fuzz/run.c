/* Calls of all kinds, of any shape, on every ISA that is here, against the operator's text: whole tensors, ranges,
 * slices and panels, also in place; every buffer of exactly its size, between guard pages. test_walk.c makes random
 * inputs for it. */
#include "dql/dql.h"
#include "fuzz/fuzz.h"
#include "kernel.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/reference.h"

#include <string.h>

enum { MAX_RANK = 7, MAX_COUNT = 8000, MAX_CALLS = 6 };

/* A tensor, its scales, and what is right. */
typedef struct tensor {
    int64_t shape[MAX_RANK], scale_shape[MAX_RANK];
    dql_spec spec;
    size_t count, scales;
    size_t x_bits, y_size; /* of an element */
    uint8_t *x;
    guarded scale, zero;
    const void *zero_or_null;
    uint32_t y[MAX_COUNT];          /* expected */
    size_t scale_number[MAX_COUNT]; /* of each element */
    bool refused[MAX_COUNT];        /* by scale number: a zero point that must be zero and isn't */
} tensor;

/* The elements of a call: rows of a panel, or one row, which may be cut in slices. */
typedef struct call {
    size_t begin, length, rows, x_stride, y_stride, slices;
} call;

/* The bits of a zero point that must be 0. */
static uint8_t zero_bits_of(dql_type type) {
    switch ((int)type) {
#define CASE(TYPE, name, bits, KIND, zero_bits)                                                                        \
    case DQL_##TYPE: return zero_bits;
        DQL_X_TYPES(CASE)
#undef CASE
    default: return 0;
    }
}

static void print(const tensor *t) {
    const dql_spec *s = &t->spec;
    fprintf(stderr, "types %d * %d -> %d, store %d, axis %lld, block %lld, zero points %s, shape", s->x_type,
            s->scale_type, s->y_type, s->store, (long long)s->axis, (long long)s->block_size,
            t->zero_or_null ? "yes" : "no");
    for (size_t d = 0; d < s->rank; d++)
        fprintf(stderr, " %lld", (long long)s->shape[d]);
    fprintf(stderr, ", scale");
    for (size_t d = 0; d < s->scale_rank; d++)
        fprintf(stderr, " %lld", (long long)s->scale_shape[d]);
    fputc('\n', stderr);
}

/* ---- a tensor from an input ---- */

/* Small ones mostly, and those that are near a limit of the walk; 0 is rare. */
static int64_t take_dim(input *in) {
    static const int16_t edges[] = {16,  31,  32,  33,  127,  128,  129,  255,  256, 257,
                                    300, 511, 512, 513, 1000, 1023, 1024, 1025, 3000};
    const int64_t n = (int64_t)take(in, 1);
    if (n < 128)
        return 1 + n % 9;
    if (n < 192)
        return n - 127;
    if (n < 254)
        return edges[(size_t)n % (sizeof edges / sizeof *edges)];
    return n == 255 ? 0 : 1 + (int64_t)take_below(in, MAX_COUNT);
}

static void take_shape(tensor *t, input *in) {
    dql_spec *s = &t->spec;
    s->rank = take_below(in, MAX_RANK + 1);
    s->shape = t->shape;
    t->count = 1;
    for (size_t d = 0; d < s->rank; d++) {
        t->shape[d] = take_dim(in);
        if (t->count && (size_t)t->shape[d] > MAX_COUNT / t->count)
            t->shape[d] = (int64_t)(MAX_COUNT / t->count);
        t->count *= (size_t)t->shape[d];
    }
}

static void take_granularity(tensor *t, input *in) {
    dql_spec *s = &t->spec;
    s->scale_shape = t->scale_shape;
    const size_t kind = s->rank ? take_below(in, 5) : 0;
    if (kind == 0) {
        s->scale_rank = take_below(in, s->rank ? s->rank + 1 : 2);
        for (size_t d = 0; d < s->scale_rank; d++)
            t->scale_shape[d] = 1;
    } else {
        const size_t axis = take_below(in, s->rank);
        s->axis = (int64_t)axis - (int64_t)(take_below(in, 2) * s->rank);
        if (kind == 1) {
            s->scale_rank = 1;
            t->scale_shape[0] = t->shape[axis];
        } else {
            s->scale_rank = s->rank;
            s->block_size = 1 + (int64_t)take_below(in, kind == 2 ? 9 : (size_t)t->shape[axis] + 2);
            memcpy(t->scale_shape, t->shape, sizeof t->shape);
            t->scale_shape[axis] = (t->shape[axis] + s->block_size - 1) / s->block_size;
        }
    }
    t->scales = 1;
    for (size_t d = 0; d < s->scale_rank; d++)
        t->scales *= (size_t)t->scale_shape[d];
}

static void take_types(tensor *t, input *in) {
    dql_spec *s = &t->spec;
    s->x_type = (int32_t)reference_x_types[take_below(in, REFERENCE_X_TYPES)].type;
    s->scale_type = (int32_t)reference_scale_types[take_below(in, REFERENCE_SCALE_TYPES)].type;
    s->y_type = (int32_t)reference_scale_types[take_below(in, REFERENCE_Y_TYPES)].type;
    s->store = (int32_t)take_below(in, 3);
    t->x_bits = reference_bits((dql_type)s->x_type);
    t->y_size = reference_bits((dql_type)s->y_type) / 8;
}

static guarded take_buffer(input *in, size_t size) {
    const size_t place = take_below(in, 256);
    return guarded_new(size, place % 2 ? AT_START : AT_END, place % 8 < 2 ? place / 8 : 0);
}

/* Any bits, or scales of ordinary size. */
static void fill_scales(tensor *t, random *r, bool any) {
    const dql_type type = (dql_type)t->spec.scale_type;
    random_bytes(r, t->scale.bytes, t->scale.size);
    for (size_t k = 0; k < t->scales && !any; k++) {
        if (type == DQL_FLOAT8E8M0) {
            t->scale.bytes[k] = (uint8_t)(117 + random_below(r, 20));
            continue;
        }
        const uint32_t bits = reference_encode(type, (double)(random_below(r, 4000) + 1) / 3000 - 0.5);
        const uint16_t half = (uint16_t)bits;
        if (type == DQL_FLOAT32)
            memcpy(t->scale.bytes + 4 * k, &bits, 4);
        else
            memcpy(t->scale.bytes + 2 * k, &half, 2);
    }
}

/* Any integers, or some zeros first. Floats have zeros only, or one byte that may be of other numbers. */
static void fill_zeros(tensor *t, random *r, size_t kind) {
    const dql_type type = (dql_type)t->spec.x_type;
    const uint8_t must_be_0 = zero_bits_of(type);
    uint8_t *const zero = t->zero.bytes;
    if (must_be_0)
        memset(zero, 0, t->zero.size);
    else
        random_bytes(r, zero, t->zero.size);
    if (t->zero.size && kind == 1)
        memset(zero, 0, random_below(r, t->zero.size + 1));
    if (t->zero.size && kind == 2)
        random_bytes(r, zero + random_below(r, t->zero.size), 1);
    t->zero_or_null = kind == 0 ? NULL : zero;
    for (size_t k = 0; k < t->scales; k++)
        t->refused[k] = t->zero_or_null && (reference_bits_of(type, zero, k) & must_be_0) != 0;
}

static void take_tensor(tensor *t, input *in) {
    memset(&t->spec, 0, sizeof t->spec);
    take_shape(t, in);
    take_granularity(t, in);
    take_types(t, in);
    const size_t kind = take_below(in, 256);
    t->scale = take_buffer(in, reference_bytes((dql_type)t->spec.scale_type, t->scales));
    t->zero = take_buffer(in, reference_bytes((dql_type)t->spec.x_type, t->scales));
    random r = {1 + take(in, 4)};
    fill_scales(t, &r, kind % 4 == 0);
    fill_zeros(t, &r, kind / 4 % 4);
    const size_t x_bytes = reference_bytes((dql_type)t->spec.x_type, t->count);
    t->x = malloc(x_bytes + 1);
    if (!t->x)
        FAIL("no memory");
    random_bytes(&r, t->x, x_bytes);
    for (size_t i = 0; i < t->count; i++) {
        t->scale_number[i] = reference_scale_number(&t->spec, i);
        t->y[i] = reference_y(&t->spec, t->x, t->scale.bytes, t->zero_or_null, i);
    }
}

static void free_tensor(tensor *t) {
    guarded_free(&t->scale);
    guarded_free(&t->zero);
    free(t->x);
}

/* ---- a call ---- */

static dql_status expected_status(const tensor *t, const call *c) {
    for (size_t r = 0; r < c->rows; r++)
        for (size_t k = 0; k < c->length; k++)
            if (t->refused[t->scale_number[c->begin + r * c->x_stride + k]])
                return DQL_ERROR_ZERO_POINT;
    return DQL_OK;
}

/* In y all elements are right, and all else is as before. */
static void check(const tensor *t, const call *c, dql_status status, const guarded *y, const uint8_t *before) {
    const dql_type type = (dql_type)t->spec.y_type;
    size_t clean = 0; /* bytes that have been looked at */
    for (size_t r = 0; r < c->rows && status == DQL_OK; r++) {
        const size_t row = r * c->y_stride * t->y_size;
        if (memcmp(y->bytes + clean, before + clean, row - clean) != 0)
            print(t), FAIL("row %zu: bytes before it were written", r);
        for (size_t k = 0; k < c->length; k++) {
            const uint32_t got = reference_bits_of(type, y->bytes + row, k);
            const uint32_t right = t->y[c->begin + r * c->x_stride + k];
            if (!reference_equal(type, got, right))
                print(t), FAIL("row %zu element %zu is %x, expected %x", r, k, (unsigned)got, (unsigned)right);
        }
        clean = row + c->length * t->y_size;
    }
    if (memcmp(y->bytes + clean, before + clean, y->size - clean) != 0)
        print(t), FAIL("y was written where it must not");
    if (!guarded_intact(y))
        print(t), FAIL("bytes outside y were written");
}

static dql_status run_slices(const tensor *t, const dql_plan *plan, size_t slices, const void *x, uint8_t *y) {
    dql_status status = DQL_OK;
    size_t next = t->count;
    for (size_t s = slices; s-- > 0 && status == DQL_OK;) {
        size_t begin, end;
        dql_plan_slice(plan, slices, s, &begin, &end);
        if (end != next || begin > end)
            print(t), FAIL("slice %zu of %zu ends at %zu, not where the next one begins", s, slices, end);
        next = begin;
        status = dql_run_range(plan, x, t->scale.bytes, t->zero_or_null, begin, end, y + begin * t->y_size);
    }
    return status;
}

static dql_status run(const tensor *t, const dql_plan *plan, const call *c, const void *x, void *y) {
    if (c->slices)
        return run_slices(t, plan, c->slices, x, y);
    if (c->rows > 1)
        return dql_run_rows(plan, x, t->scale.bytes, t->zero_or_null, c->begin, c->length, c->rows, c->x_stride, y,
                            c->y_stride);
    if (c->length < t->count)
        return dql_run_range(plan, x, t->scale.bytes, t->zero_or_null, c->begin, c->begin + c->length, y);
    return dql_run(plan, x, t->scale.bytes, t->zero_or_null, y);
}

static void run_everywhere(tensor *t, const call *c, input *in) {
    const size_t first = c->begin * t->x_bits / 8, elements = c->rows ? (c->rows - 1) * c->x_stride + c->length : 0;
    const size_t last = ((c->begin + elements) * t->x_bits + 7) / 8;
    const bool in_place = t->x_bits == 8 * t->y_size && c->x_stride == c->y_stride;
    guarded x = take_buffer(in, last - first);
    guarded y = take_buffer(in, (c->rows ? (c->rows - 1) * c->y_stride + c->length : 0) * t->y_size);
    uint8_t *const before = malloc(y.size + 1);
    if (!before)
        FAIL("no memory");
    memcpy(x.bytes, t->x + first, x.size);
    const dql_status expected = expected_status(t, c);
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa); isa++)
        for (int place = 0; place <= in_place && dql_isa_available((dql_isa)isa); place++) {
            if (place)
                memcpy(y.bytes, x.bytes, y.size);
            else
                memset(y.bytes, CANARY, y.size);
            memcpy(before, y.bytes, y.size);
            dql_plan plan;
            t->spec.isa = isa;
            dql_status status = dql_plan_init(&plan, &t->spec);
            if (status || dql_plan_count(&plan) != t->count || dql_plan_isa(&plan) != (dql_isa)isa)
                print(t), FAIL("%s: no plan: %s", dql_isa_name((dql_isa)isa), dql_status_text(status));
            const uint8_t *from = place ? y.bytes : x.bytes;
            status = run(t, &plan, c, (const void *)((uintptr_t)from - first), y.bytes);
            if (status != expected)
                print(t), FAIL("%s: %s", dql_isa_name((dql_isa)isa), dql_status_text(status));
            check(t, c, status, &y, before);
        }
    free(before);
    guarded_free(&x);
    guarded_free(&y);
}

/* A panel's stride is often that of some dim, or small; it often begins on a multiple, and is often in place. */
static call take_call(const tensor *t, input *in) {
    const size_t kind = take_below(in, 256);
    call c = {.rows = 1, .length = t->count};
    if (kind % 4 == 0 || t->count == 0) {
        /* None where some could be refused and others written. */
        if (kind & 4 && expected_status(t, &c) == DQL_OK)
            c.slices = 1 + take_below(in, 9);
        return c;
    }
    c.begin = take_below(in, t->count);
    if (kind % 4 == 1) {
        c.length = take_below(in, t->count - c.begin + 1);
        return c;
    }
    c.x_stride = 1;
    if (kind & 4 && t->spec.rank)
        for (size_t d = take_below(in, t->spec.rank); d < t->spec.rank; d++)
            c.x_stride *= (size_t)t->shape[d];
    else
        c.x_stride = take_below(in, kind & 8 ? 40 : t->count);
    if (kind & 16 && c.x_stride)
        c.begin -= c.begin % c.x_stride;
    c.length = 1 + take_below(in, kind & 32 && t->count - c.begin > 64 ? 64 : t->count - c.begin);
    c.rows = 1 + take_below(in, 64);
    if (c.x_stride && (t->count - c.begin - c.length) / c.x_stride + 1 < c.rows)
        c.rows = (t->count - c.begin - c.length) / c.x_stride + 1;
    c.y_stride = kind & 64 && c.x_stride >= c.length ? c.x_stride : c.length + take_below(in, 5);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static tensor t;
    input in = {bytes, bytes + size};
    take_tensor(&t, &in);
    for (int n = 0; n < MAX_CALLS && (n == 0 || in.at < in.end); n++) {
        const call c = take_call(&t, &in);
        run_everywhere(&t, &c, &in);
    }
    free_tensor(&t);
    return 0;
}
