/* The loops of every ISA with vectors. Its file has defined
 *
 *     vf32                              LANES float32 values, or the same number of raw ones
 *     LANES                             a size_t, the same in every call; at most DQL_WIDEN_SLACK
 *     load(type, at, n)                 lane k = element k from `at` on for k < n, raw: in a form that the type's other
 *                                       primitives know. Of x and scale types; of FLOAT32 the form is float32
 *     word_of(type, raw)                lane k as dql_widen writes it: a word of 32 bits. Of scale types, and of x
 *                                       types with zero points
 *     splat(f)                          f in every lane
 *     zero_vector(type, words)          such words of zero points, as dequantize_raw of that type takes them
 *     zero_splat(type, word)            the same of one word, for every lane
 *     dequantize_raw(type, raw, s, z)   float32(element - zero point) * scale, each rounded; without the zero point
 *                                       where it can only be 0
 *     store(type, to, i, n, v)          to[i + k] = round(lane k) for k < n. Of y types
 *     CAN_STREAM                        whether the ISA has a dql_stream
 *     store_past(type, to, i, v)        store of LANES elements, past the caches where it can; aligned as LANES are
 *     expand(from, n, group_length, in_group)
 *                                       lane k = from[(in_group + k) / group_length]; `from` has n words of 32 bits, 1
 *                                       to LANES, which may end before the last lanes' do. 1 < group_length < LANES,
 *                                       in_group < group_length
 *     try_long_groups(x_type, y_type, panel, group_length)
 *                                       computes the panel, in a way that is faster, and returns true; or does nothing
 *                                       and returns false. 1 < group_length, LANES <= group_length
 *
 * always inlined. Two more have the same name and meaning wherever an ISA has them:
 *
 *     load_codes(type, at, n)           a vector of bytes: byte k = the code of element k from `at` on, for k < n. Of
 *                                       types of at most 8 bits. Each ISA says what else its bytes hold
 *     raw_from_codes(type, codes)       LANES of these as lanes, as load gives them
 *
 * Types are constants in every call, and n is mostly the constant LANES: what is chosen by them leaves no trace in the
 * code. n is 1 to LANES; lanes from n on may be anything; load and store touch no byte outside the n elements. A NaN
 * whose lower half is not 0 reaches no store of halves: widen, load, and who calls the kernel see to that. */
#ifndef DQL_KERNEL_TEMPLATE_H
#define DQL_KERNEL_TEMPLATE_H

#include "kernel_tail.h"
#include "kernel_widen.h"

/* Known when the source is parsed: gcc 12 runs out of memory where SVE has two loops to choose from. */
enum { LANES_ARE_CONSTANT = __builtin_constant_p(LANES) };

/* Whether element i starts a pack, and so does every vector from it on; of a stride, whether it leaves that so. */
DQL_INLINE bool vectors_start_packs(dql_type type, size_t i) {
    return LANES_ARE_CONSTANT && dql_starts_pack(type, LANES) && dql_starts_pack(type, i);
}

/* Elements [k, k + n) of a row, of which the first one is known to start a pack, or not. */
DQL_INLINE void dequantize_vector(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t n, vf32 scale,
                                  vf32 zero, bool starts) {
    const dql_at at = starts ? dql_at_pack(x_type, row.x, k) : dql_at_element(x_type, row.x, row.i + k);
    store(y_type, row.y, k, n, dequantize_raw(x_type, load(x_type, at, n), scale, zero));
}

/* ---- a scale for each element ---- */

/* Whether zero points need not be subtracted: none were given, and it is a gain. With four operations on an integer
 * (widen, subtract, convert, multiply) whole calls are at .71 to .80 of a fill on Zen 4, which seems to be its float
 * units; with three at .87 to .95, wherever their loads are. */
DQL_INLINE bool skips_zeros(dql_type x_type, dql_type y_type, const dql_panel *panel) {
    return dql_subtracts(x_type) && dql_codes(x_type) > 16 && y_type == DQL_FLOAT32 && panel->zero == dql_no_zero;
}

/* Elements [k, k + n) of row r. */
DQL_INLINE void dequantize_of_row(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t r, size_t k,
                                  size_t n, vf32 scale, vf32 zero, bool starts) {
    const size_t i = panel->i + r * panel->x_stride + k;
    const dql_at at = starts ? dql_at_pack(x_type, panel->x, i) : dql_at_element(x_type, panel->x, i);
    store(y_type, panel->y, r * panel->y_stride + k, n, dequantize_raw(x_type, load(x_type, at, n), scale, zero));
}

/* Elements [k, k + n) of each row, which share their scales. */
DQL_INLINE void dequantize_column(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t rows, size_t k,
                                  size_t n, bool starts) {
    const vf32 scale = load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, panel->scale, k), n);
    const vf32 zero = zero_vector(x_type, load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, panel->zero, k), n));
    if (n == LANES && starts && skips_zeros(x_type, y_type, panel)) {
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++)
            dequantize_of_row(x_type, y_type, panel, r, k, LANES, scale, zero_splat(x_type, 0), true);
    } else if (n == LANES && starts) {
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++)
            dequantize_of_row(x_type, y_type, panel, r, k, LANES, scale, zero, true);
    } else {
        for (size_t r = 0; r < rows; r++)
            dequantize_of_row(x_type, y_type, panel, r, k, n, scale, zero, starts);
    }
}

DQL_INLINE void dequantize_columns(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t rows, bool starts) {
    size_t k = 0;
    for (; panel->count - k >= LANES; k += LANES)
        dequantize_column(x_type, y_type, panel, rows, k, LANES, starts);
    if (k < panel->count)
        dequantize_column(x_type, y_type, panel, rows, k, panel->count - k, starts);
}

DQL_INLINE void dequantize_elements(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t rows) {
    if (vectors_start_packs(x_type, panel->i) && (rows == 1 || vectors_start_packs(x_type, panel->x_stride)))
        dequantize_columns(x_type, y_type, panel, rows, true);
    else
        dequantize_columns(x_type, y_type, panel, rows, false);
}

/* Advances `at` by some rows. Strides are those of the caller's panel, in memory, so that loops over one row have more
 * registers: copies of them cost 2 ns a row. */
DQL_INLINE void next_rows(dql_type y_type, dql_panel *at, const dql_panel *panel, size_t rows) {
    at->i += rows * panel->x_stride;
    at->y = (char *)at->y + rows * panel->y_stride * dql_y_bytes(y_type);
    at->scale += rows * panel->scale_stride;
    at->zero += rows * panel->zero_stride;
    at->rows -= rows;
}

/* Rows computed per loaded vector of scales. Of rows that are not small they are few, since each row is another place
 * in memory, and so many places are slow; a constant number of them is faster than a variable one. */
enum { MOST_ROWS = 32, FEW_ROWS = 4 };

/* Whole vectors of some rows, which share their scales, past the caches. */
DQL_INLINE void stream_few_rows(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t rows) {
    for (size_t k = 0; k < panel->count; k += LANES) {
        const vf32 scale = load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, panel->scale, k), LANES);
        const vf32 zero = zero_vector(x_type, load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, panel->zero, k), LANES));
        for (size_t r = 0; r < rows; r++) {
            const dql_at at = dql_at_pack(x_type, panel->x, panel->i + r * panel->x_stride + k);
            store_past(y_type, panel->y, r * panel->y_stride + k,
                       dequantize_raw(x_type, load(x_type, at, LANES), scale, zero));
        }
    }
}

/* Four rows for each vector of scales and of zero points: with one, those take as long as x and y (Zen 4). How many
 * rows there are is a variable, since memory takes longer than its loop, and the code of each type is there once. */
DQL_INLINE void stream_by_elements(dql_type x_type, dql_type y_type, const dql_panel *panel) {
    dql_panel at = *panel;
    for (size_t rows; at.rows; next_rows(y_type, &at, panel, rows)) {
        rows = at.rows < FEW_ROWS ? at.rows : FEW_ROWS;
        stream_few_rows(x_type, y_type, &at, rows);
    }
}

DQL_INLINE void dequantize_by_elements(dql_type x_type, dql_type y_type, const dql_panel *panel) {
    if (CAN_STREAM && panel->streams) {
        stream_by_elements(x_type, y_type, panel);
        return;
    }
    const size_t most = panel->scale_stride ? 1 : panel->count > DQL_SMALL_ROW ? FEW_ROWS : MOST_ROWS;
    dql_panel at = *panel;
    for (size_t rows; at.rows; next_rows(y_type, &at, panel, rows)) {
        rows = at.rows < most ? at.rows : most;
        dequantize_elements(x_type, y_type, &at, rows);
    }
}

/* ---- several groups a vector ---- */

/* The group of a vector's first element, and the element's place in it. */
typedef struct group_place {
    size_t group, in_group;
} group_place;

/* One vector on, which is `whole` groups and `remainder` elements. */
DQL_INLINE group_place next_vector(group_place at, size_t group_length, size_t whole, size_t remainder) {
    const size_t in_group = at.in_group + remainder;
    const bool next = in_group >= group_length;
    return (group_place){at.group + whole + next, in_group - (next ? group_length : 0)};
}

/* Elements [k, k + n) of a row that has `scales` scales from the group of element k on. They are spread over the lanes.
 */
DQL_INLINE void dequantize_spread(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t n, size_t scales,
                                  size_t group_length, group_place at, bool starts) {
    dequantize_vector(x_type, y_type, row, k, n, expand(row.scale + at.group, scales, group_length, at.in_group),
                      zero_vector(x_type, expand(row.zero + at.group, scales, group_length, at.in_group)), starts);
}

/* All vectors of elements and of scales are whole ones, but the last few. */
DQL_INLINE void dequantize_short_groups(dql_type x_type, dql_type y_type, dql_row row, size_t count,
                                        size_t group_length, bool starts) {
    const size_t scales = (count + group_length - 1) / group_length;
    const size_t whole = LANES / group_length, remainder = LANES % group_length;
    group_place at = {0, 0};
    size_t k = 0;
    for (; count - k >= LANES && scales - at.group >= LANES; k += LANES) {
        dequantize_spread(x_type, y_type, row, k, LANES, LANES, group_length, at, starts);
        at = next_vector(at, group_length, whole, remainder);
    }
    for (; k < count; k += LANES) {
        const size_t n = count - k < LANES ? count - k : LANES, left = scales - at.group;
        dequantize_spread(x_type, y_type, row, k, n, left < LANES ? left : LANES, group_length, at, starts);
        at = next_vector(at, group_length, whole, remainder);
    }
}

DQL_INLINE void short_groups_of_row(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                    const void *tables) {
    (void)tables;
    if (vectors_start_packs(x_type, row.i))
        dequantize_short_groups(x_type, y_type, row, count, group_length, true);
    else
        dequantize_short_groups(x_type, y_type, row, count, group_length, false);
}

/* ---- groups of at least a vector ---- */

/* The vector of a row from element k on, a multiple of LANES. Where vectors are whole packs, all of a row start at the
 * same place in one. */
DQL_INLINE void dequantize_whole_vector(dql_type x_type, dql_type y_type, dql_row row, size_t k, vf32 scale, vf32 zero,
                                        bool starts) {
    const bool are_whole_packs = LANES_ARE_CONSTANT && dql_starts_pack(x_type, LANES);
    const dql_at at = are_whole_packs ? (dql_at){dql_address(x_type, row.x, k), starts ? 0 : row.i}
                                      : dql_at_element(x_type, row.x, row.i + k);
    store(y_type, row.y, k, LANES, dequantize_raw(x_type, load(x_type, at, LANES), scale, zero));
}

DQL_INLINE void dequantize_vectors(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, bool starts) {
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    /* unrolled by hand: gcc has an index of its own for some of the four */
    for (; end - k >= 4 * LANES; k += 4 * LANES) {
        dequantize_whole_vector(x_type, y_type, row, k, s, z, starts);
        dequantize_whole_vector(x_type, y_type, row, k + LANES, s, z, starts);
        dequantize_whole_vector(x_type, y_type, row, k + 2 * LANES, s, z, starts);
        dequantize_whole_vector(x_type, y_type, row, k + 3 * LANES, s, z, starts);
    }
    for (; k < end; k += LANES)
        dequantize_whole_vector(x_type, y_type, row, k, s, z, starts);
}

/* A group of whole vectors. */
DQL_INLINE void whole_group(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                            const void *tables) {
    (void)count, (void)tables;
    dequantize_vectors(x_type, y_type, row, k, end, false);
}

/* The same, and its first element starts a pack. */
DQL_INLINE void whole_group_of_packs(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                     const void *tables) {
    (void)count, (void)tables;
    dequantize_vectors(x_type, y_type, row, k, end, true);
}

DQL_INLINE void any_group(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                          const void *tables) {
    (void)tables;
    const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
    for (; end - k >= LANES; k += LANES)
        dequantize_vector(x_type, y_type, row, k, LANES, s, z, false);
    if (k < end) {
        const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
        if (n == LANES)
            dequantize_vector(x_type, y_type, row, k, LANES, s, z, false);
        else
            dequantize_vector(x_type, y_type, row, k, n, s, z, false);
    }
}

DQL_INLINE void long_groups_of_row(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                   const void *tables) {
    if (group_length == 2 * LANES)
        count = dql_for_whole_groups(x_type, y_type, &row, count, 2 * LANES, whole_group, tables);
    else if (group_length == LANES && vectors_start_packs(x_type, row.i))
        count = dql_for_whole_groups(x_type, y_type, &row, count, LANES, whole_group_of_packs, tables);
    else if (group_length % LANES == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, whole_group, tables);
    dql_for_groups(x_type, y_type, row, count, group_length, any_group, tables);
}

/* ---- small rows ---- */

/* A row of whole groups that starts a pack. */
DQL_INLINE void small_row_of_packs(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                   const void *tables) {
    dql_for_whole_groups(x_type, y_type, &row, count, group_length, whole_group_of_packs, tables);
}

DQL_INLINE void small_row(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                          const void *tables) {
    dql_for_whole_groups(x_type, y_type, &row, count, group_length, whole_group, tables);
}

/* Computes small rows, or returns false. Not for vectors of any length: clang takes their LANES for a power of two. */
DQL_INLINE bool try_small_rows(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (!LANES_ARE_CONSTANT || !dql_has_small_rows(y_type, panel, group_length, LANES))
        return false;
    const bool starts = vectors_start_packs(x_type, panel->i) && vectors_start_packs(x_type, panel->x_stride);
    if (starts && group_length == LANES)
        dql_for_small_rows(x_type, y_type, panel, LANES, small_row_of_packs, NULL);
    else if (starts && group_length == 2 * LANES)
        dql_for_small_rows(x_type, y_type, panel, 2 * LANES, small_row_of_packs, NULL);
    else if (starts && group_length == 4 * LANES)
        dql_for_small_rows(x_type, y_type, panel, 4 * LANES, small_row_of_packs, NULL);
    else
        dql_for_small_rows(x_type, y_type, panel, group_length, small_row, NULL);
    return true;
}

/* ---- long groups without zero points ---- */

/* Vector v from element k on. */
DQL_INLINE vf32 load_vector(dql_type x_type, dql_row row, size_t k, size_t v) {
    return load(x_type, dql_at_element(x_type, row.x, row.i + k + v * LANES), LANES);
}

DQL_INLINE void store_vector(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t v, vf32 raw, vf32 scale) {
    store(y_type, row.y, k + v * LANES, LANES, dequantize_raw(x_type, raw, scale, zero_splat(x_type, 0)));
}

/* Four vectors are loaded before they are stored, which the compiler keeps so, since y may alias x. Short groups lose
 * by it. */
DQL_INLINE void group_without_zero(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                   const void *tables) {
    (void)tables;
    const vf32 s = splat(*row.scale);
    for (; end - k >= 4 * LANES; k += 4 * LANES) {
        const vf32 a = load_vector(x_type, row, k, 0), b = load_vector(x_type, row, k, 1),
                   c = load_vector(x_type, row, k, 2), d = load_vector(x_type, row, k, 3);
        store_vector(x_type, y_type, row, k, 0, a, s);
        store_vector(x_type, y_type, row, k, 1, b, s);
        store_vector(x_type, y_type, row, k, 2, c, s);
        store_vector(x_type, y_type, row, k, 3, d, s);
    }
    dequantize_tail(x_type, y_type, row, k, end, count);
}

/* Computes integers of 8 and 16 bits to float32 in long groups, if no zero point was given; or returns false. */
DQL_INLINE bool try_without_zeros(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (group_length < 8 * LANES || !skips_zeros(x_type, y_type, panel))
        return false;
    dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_without_zero, NULL);
    return true;
}

/* ---- all panels ---- */

DQL_INLINE void dequantize(dql_type x_type, dql_type y_type, const dql_panel *panel) {
    dql_check_panel(x_type, panel);
    const size_t length = panel->group_length;
    if (length == 1) {
        dequantize_by_elements(x_type, y_type, panel);
    } else if (length < LANES) {
        dql_for_rows(x_type, y_type, panel, length, short_groups_of_row, NULL);
    } else {
        /* a part of a group is a group, and may be a whole number of vectors */
        const size_t group_length = length > panel->count && panel->count >= LANES ? panel->count : length;
        if (!try_long_groups(x_type, y_type, panel, group_length) &&
            !try_without_zeros(x_type, y_type, panel, group_length) &&
            !try_small_rows(x_type, y_type, panel, group_length))
            dql_for_rows(x_type, y_type, panel, group_length, long_groups_of_row, NULL);
    }
}

#endif
