/* Gives a panel its scales and zero points: where the caller has them, or widened to words in a scratch on the stack.
 */
#ifndef DQL_SCALES_H
#define DQL_SCALES_H

#include "cursor.h"

enum {
    SCRATCH_WORDS = 1024,  /* of scales, and as many of zero points */
    MAX_WIDENED_GAP = 16,  /* scales between those of two rows: widening them along costs less than skipping them */
    MAX_COPIED_BYTES = 16, /* of scales of a row: copying them costs less than a call that widens them */
};

typedef union words {
    _Alignas(64) float f32[SCRATCH_WORDS + DQL_WIDEN_SLACK];
    int32_t i32[SCRATCH_WORDS + DQL_WIDEN_SLACK];
} words;

typedef struct scratch {
    words scale, zero;
} scratch;

/* What a call is given. Inlined functions take it, and other structs, by value: what never has an address stays in
 * registers. In the L1 cache stores leave the core one a cycle, in order, and each of ours delays those to y (measured:
 * small panels took 1.03 to 1.1 times as long, 64 elements twice as long). Functions that are called take the address
 * of a copy that is made only where they are called: an argument of so many bytes would be stored in parts and copied
 * by wide loads, which wait for them. */
typedef struct operands {
    const dql_plan_data *plan;
    const void *x, *scale, *zero; /* zero is NULL where all zero points are 0 */
    scratch *scratch;
    bool streams;
} operands;

/* Scales of the rows of a panel, by their numbers: n a row from `first` on, rows `stride` apart. */
typedef struct scale_rows {
    size_t first, n, rows, stride;
} scale_rows;

/* Numbers in memory as the caller has them, and the function that widens them. */
typedef struct narrow {
    const void *from;
    dql_pack pack;
    dql_widen *widen;
} narrow;

/* Where the first word is, and how far those of the next row are from it. */
typedef struct widened {
    const int32_t *first;
    size_t stride;
} widened;

/* Widens rows without what lies between them. */
widened dql_gather_rows(const narrow *source, const scale_rows *s, words *to);

/* Whether kernels can read the caller's scales. If y has 16 bits, a NaN among them must be the canonical one. */
DQL_INLINE bool scales_are_ready(operands in) {
    return in.plan->scale_type == DQL_FLOAT32 && in.plan->y_type == DQL_FLOAT32 &&
           (uintptr_t)in.scale % sizeof(float) == 0;
}

DQL_INLINE bool are_sparse(size_t n, size_t stride) {
    return stride > n + MAX_WIDENED_GAP;
}

/* How many of `rows` rows that are `stride` apart begin at most `room` behind the first one. Mostly all do, which takes
 * no division. */
DQL_INLINE size_t rows_within(size_t rows, size_t stride, size_t room) {
    return (rows - 1) * stride <= room ? rows : room / stride + 1;
}

/* How many of the rows the scratch has room for. Those that dql_gather_rows copies may begin and end within packs. */
DQL_INLINE size_t rows_in_scratch(scale_rows s) {
    enum { STRANGERS = 2 * (DQL_MAX_PACK_LENGTH - 1) };
    const size_t stride = s.n + STRANGERS;
    return are_sparse(s.n, s.stride) && stride <= SCRATCH_WORDS ? rows_within(s.rows, stride, SCRATCH_WORDS - stride)
                                                                : rows_within(s.rows, s.stride, SCRATCH_WORDS - s.n);
}

/* Inlined, since beside rows of few elements calls take long. */
DQL_INLINE widened widen_rows(narrow source, scale_rows s, words *to) {
    if (are_sparse(s.n, s.stride)) {
        const narrow stored = source;
        const scale_rows stored_rows = s;
        return dql_gather_rows(&stored, &stored_rows, to);
    }
    assert((s.rows - 1) * s.stride + s.n <= SCRATCH_WORDS);
    source.widen(source.from, s.first, to, (s.rows - 1) * s.stride + s.n);
    return (widened){to->i32, s.stride};
}

/* Float32 scales are read where they are: copying them to the scratch takes a tenth of a small panel's time. */
DQL_INLINE void prepare_scales(operands in, scale_rows s, dql_panel *panel) {
    const dql_plan_data *const plan = in.plan;
    if (scales_are_ready(in)) {
        panel->scale = (const float *)in.scale + s.first;
        panel->scale_stride = s.stride;
    } else {
        const widened w = widen_rows((narrow){in.scale, plan->scale_pack, plan->widen_scale}, s, &in.scratch->scale);
        panel->scale = (const float *)w.first;
        panel->scale_stride = w.stride;
    }
    if (in.zero) {
        const widened w = widen_rows((narrow){in.zero, plan->x_pack, plan->widen_zero}, s, &in.scratch->zero);
        panel->zero = w.first;
        panel->zero_stride = w.stride;
    }
    assert(panel->scale_stride || !panel->zero_stride);
}

#endif
