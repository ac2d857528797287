#include "cases.h"

#include <stdio.h>

const bench_case cases[CASES] = {
    {"tensor", -1, 0, 0, 0, 0},
    {"axis_first", 0, 0, 0, 0, 0},
    {"axis_last", 1, 0, 0, 0, 0},
    {"block16", 1, 16, 0, 0, 0},
    {"block32", 1, 32, 0, 0, 0},
    {"block128", 1, 128, 0, 0, 0},
    {"block32_first", 0, 32, 0, 128, 0},
    {"block16_e8m0", 1, 16, 0, 0, DQL_FLOAT8E8M0},
    {"block32_e8m0", 1, 32, 0, 0, DQL_FLOAT8E8M0},
    {"axis_last", 1, 0, 3, 0, 0},
    {"axis_last", 1, 0, 8, 0, 0},
    {"axis_first", 0, 0, 3, 0, 0},
    {"axis_first", 0, 0, 9, 0, 0},
    {"axis_first", 0, 0, 49, 0, 0},
};

const size_t case_sizes[CASE_SIZES] = {64, 4096, 1 << 18, 1 << 24, 1 << 26};

/* 64 = [1,64], 4,096 = [16,256], 256 Ki = [512,512], 64 Mi = [8192,8192], others have rows of 4096, as 16 Mi has. */
static size_t usual_rows(size_t elements) {
    return elements == 64        ? 1
           : elements == 4096    ? 16
           : elements == 1 << 18 ? 512
           : elements == 1 << 26 ? 8192
                                 : elements / 4096;
}

bool tensor_case_make(tensor_case *t, const bench_case *c, size_t elements, const bench_type *x, const bench_type *y,
                      bool has_zero) {
    size_t rows = elements == 4096 && c->first_rows ? c->first_rows : usual_rows(elements);
    size_t columns = elements / rows;
    if (c->columns) {
        if (elements > 1 << 18)
            return false;
        columns = c->columns;
        rows = elements / columns;
    }
    if (c->block > (c->axis ? columns : rows))
        return false;
    *t = (tensor_case){.x = x,
                       .y = y,
                       .shape = {(int64_t)rows, (int64_t)columns},
                       .elements = rows * columns,
                       .has_zero = has_zero,
                       .scales = 1};
    t->spec = (dql_spec){.x_type = (int32_t)x->type,
                         .scale_type = c->scale_type ? c->scale_type : (int32_t)y->type,
                         .y_type = (int32_t)y->type,
                         .rank = 2,
                         .axis = c->axis < 0 ? 1 : c->axis,
                         .block_size = (int64_t)c->block};
    if (c->axis >= 0 && !c->block) {
        t->spec.scale_rank = 1;
        t->scale_shape[0] = t->shape[c->axis];
        t->scales = (size_t)t->shape[c->axis];
    } else if (c->axis >= 0) {
        const int64_t block = (int64_t)c->block;
        t->spec.scale_rank = 2;
        t->scale_shape[0] = t->shape[0];
        t->scale_shape[1] = t->shape[1];
        t->scale_shape[c->axis] = (t->shape[c->axis] + block - 1) / block;
        t->scales = (size_t)(t->scale_shape[0] * t->scale_shape[1]);
    }
    int n = snprintf(t->name, sizeof t->name, "%s", c->name);
    if (c->columns)
        n += snprintf(t->name + n, sizeof t->name - (size_t)n, "_%zux%zu", rows, columns);
    if (!has_zero && !x->is_float && x->type != DQL_INT32)
        snprintf(t->name + n, sizeof t->name - (size_t)n, "_nozero");
    return true;
}

const dql_spec *tensor_case_spec(tensor_case *t) {
    t->spec.shape = t->shape;
    t->spec.scale_shape = t->scale_shape;
    return &t->spec;
}
