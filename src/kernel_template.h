/* The loops of every ISA. Its file has defined
 *
 *     vf32                              LANES float32 values, or the same number of raw ones
 *     LANES                             a size_t, the same in every call; at most DQL_WIDEN_SLACK
 *     load(type, from, i, n)            lane k = from[i + k] for k < n, raw: in a form that the type's other
 *                                       primitives know. Of x and scale types; of FLOAT32 the form is float32
 *     word_of(type, raw)                lane k as dql_widen writes it: a word of 32 bits. Of scale types, and of x
 *                                       types with zero points
 *     splat(f)                          f in every lane
 *     zero_vector(type, entries)        such words of zero points, as dequantize_raw of that type takes them
 *     zero_splat(type, entry)           the same of one word, for every lane
 *     dequantize_raw(type, raw, s, z)   float32(element - zero point) * scale, each rounded; without the zero point
 *                                       where it can only be 0
 *     store(type, to, i, n, v)          to[i + k] = round(lane k) for k < n. Of y types
 *     expand(from, n, group_length, phase)
 *                                       lane k = from[(phase + k) / group_length]; `from` has n words of 32 bits, 1 to
 *                                       LANES, which may end before the last lanes' do. 1 < group_length < LANES,
 *                                       phase < group_length
 *     try_long_groups(x_type, y_type, panel, group_length)
 *                                       true if it has computed the panel, in a way that is faster, false if it has
 *                                       done nothing. 1 < group_length, LANES <= group_length
 *
 * always inlined, and then includes kernel_table.h, or this file if it has kernels for some types only. Types are
 * constants in every call, and n is mostly the constant LANES: what is chosen by them leaves no trace in the code. n is
 * 1 to LANES; lanes from n on may be anything; load and store touch no byte outside the n elements. A NaN whose lower
 * half is not 0 reaches no store of halves: widen, load, and who calls the kernel see to that. */

/* Known when the source is parsed: gcc 12 runs out of memory where SVE has two loops to choose from. */
enum { LANES_ARE_CONSTANT = __builtin_constant_p(LANES) };

/* Whether element i starts a pack, and every vector from it on; of a stride, whether it leaves that so. */
DQL_INLINE bool starts_pack(dql_type type, size_t i) {
    const size_t pack = dql_pack_length(dql_x_bits(type));
    return LANES_ARE_CONSTANT && LANES % pack == 0 && i % pack == 0;
}

/* Elements [i, i + n). If the first one is known to start a pack, nothing is left of what load does where it doesn't.
 */
DQL_INLINE vf32 load_from(dql_type type, const void *x, size_t i, size_t n, bool starts) {
    return starts ? load(type, dql_address(type, x, i), 0, n) : load(type, x, i, n);
}

/* Elements [k, k + n) of row r. */
DQL_INLINE void dequantize_each(dql_type x_type, dql_type y_type, const dql_panel *p, size_t r, size_t k, size_t n,
                                vf32 scale, vf32 zero, bool starts) {
    const vf32 raw = load_from(x_type, p->x, p->i + r * p->x_stride + k, n, starts);
    store(y_type, p->y, r * p->y_stride + k, n, dequantize_raw(x_type, raw, scale, zero));
}

/* The same of rows that share their scales. */
DQL_INLINE void dequantize_column(dql_type x_type, dql_type y_type, const dql_panel *p, size_t rows, size_t k, size_t n,
                                  vf32 scale, vf32 zero, bool starts) {
    if (n == LANES) {
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++)
            dequantize_each(x_type, y_type, p, r, k, LANES, scale, zero, starts);
    } else {
        for (size_t r = 0; r < rows; r++)
            dequantize_each(x_type, y_type, p, r, k, n, scale, zero, starts);
    }
}

/* A scale for each element. */
DQL_INLINE void dequantize_columns(dql_type x_type, dql_type y_type, const dql_panel *p, size_t rows, bool starts) {
    size_t k = 0;
    for (; p->count - k >= LANES; k += LANES)
        dequantize_column(x_type, y_type, p, rows, k, LANES, load(DQL_FLOAT32, p->scale, k, LANES),
                          zero_vector(x_type, load(DQL_FLOAT32, p->zero, k, LANES)), starts);
    if (k < p->count) {
        const size_t n = p->count - k;
        dequantize_column(x_type, y_type, p, rows, k, n, load(DQL_FLOAT32, p->scale, k, n),
                          zero_vector(x_type, load(DQL_FLOAT32, p->zero, k, n)), starts);
    }
}

DQL_INLINE void dequantize_elements(dql_type x_type, dql_type y_type, const dql_panel *p, size_t rows) {
    if (starts_pack(x_type, p->i) && (rows == 1 || starts_pack(x_type, p->x_stride)))
        dequantize_columns(x_type, y_type, p, rows, true);
    else
        dequantize_columns(x_type, y_type, p, rows, false);
}

/* Elements [k, k + n) of a row of several groups a vector; element k is at place `phase` of the group of scale `first`,
 * from which on `scales` are left. They are spread over the lanes. */
DQL_INLINE void dequantize_spread(dql_type x_type, dql_type y_type, const dql_panel *p, size_t k, size_t n,
                                  size_t first, size_t scales, size_t phase, bool starts) {
    dequantize_each(x_type, y_type, p, 0, k, n, expand(p->scale + first, scales, p->group_length, phase),
                    zero_vector(x_type, expand(p->zero + first, scales, p->group_length, phase)), starts);
}

/* A vector on: `whole` groups and `rest` elements. */
DQL_INLINE void pass_vector(size_t *first, size_t *phase, size_t group_length, size_t whole, size_t rest) {
    *phase += rest;
    const bool next = *phase >= group_length;
    *phase -= next ? group_length : 0;
    *first += whole + next;
}

/* A row of such groups: all vectors of elements and of scales are whole ones, but the last few. */
DQL_INLINE void dequantize_short_groups(dql_type x_type, dql_type y_type, const dql_panel *p, bool starts) {
    const size_t group_length = p->group_length, count = p->count, scales = (count + group_length - 1) / group_length;
    const size_t whole = LANES / group_length, rest = LANES % group_length;
    size_t k = 0, first = 0, phase = 0;
    for (; count - k >= LANES && scales - first >= LANES; k += LANES) {
        dequantize_spread(x_type, y_type, p, k, LANES, first, LANES, phase, starts);
        pass_vector(&first, &phase, group_length, whole, rest);
    }
    for (; k < count; k += LANES) {
        const size_t n = count - k < LANES ? count - k : LANES, left = scales - first;
        dequantize_spread(x_type, y_type, p, k, n, first, left < LANES ? left : LANES, phase, starts);
        pass_vector(&first, &phase, group_length, whole, rest);
    }
}

/* Elements [k, k + n) of a row. */
DQL_INLINE void dequantize_vector(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t n, vf32 scale,
                                  vf32 zero, bool starts) {
    const vf32 raw = load_from(x_type, row.x, row.i + k, n, starts);
    store(y_type, row.y, k, n, dequantize_raw(x_type, raw, scale, zero));
}

/* Whole groups of whole vectors. */
DQL_INLINE void dequantize_blocks(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                                  bool starts) {
    if (starts) {
        row.x = dql_address(x_type, row.x, row.i);
        row.i = 0;
    }
    for (size_t k = 0; k < count; row.scale++, row.zero++) {
        const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
        const size_t end = k + group_length;
#pragma GCC unroll 4
        for (; k < end; k += LANES)
            dequantize_vector(x_type, y_type, row, k, LANES, s, z, starts);
    }
}

/* Groups of at least a vector. */
DQL_INLINE void dequantize_long_groups(dql_type x_type, dql_type y_type, dql_row row, size_t count,
                                       size_t group_length) {
    size_t k = 0;
    if (group_length % LANES == 0) {
        const size_t blocks = count / group_length;
        k = blocks * group_length;
        if (group_length == 2 * LANES)
            dequantize_blocks(x_type, y_type, row, k, 2 * LANES, false);
        else if (group_length == LANES && starts_pack(x_type, row.i))
            dequantize_blocks(x_type, y_type, row, k, LANES, true);
        else
            dequantize_blocks(x_type, y_type, row, k, group_length, false);
        row.scale += blocks;
        row.zero += blocks;
    }
    for (; k < count; row.scale++, row.zero++) {
        const size_t end = group_length < count - k ? k + group_length : count;
        const vf32 s = splat(*row.scale), z = zero_splat(x_type, *row.zero);
#pragma GCC unroll 4
        for (; end - k >= LANES; k += LANES)
            dequantize_vector(x_type, y_type, row, k, LANES, s, z, false);
        if (k < end) {
            const size_t n = dql_step(x_type, y_type, end - k, count - k, LANES);
            if (n == LANES)
                dequantize_vector(x_type, y_type, row, k, LANES, s, z, false);
            else
                dequantize_vector(x_type, y_type, row, k, n, s, z, false);
        }
        k = end;
    }
}

/* Rows of whole groups. */
DQL_INLINE void dequantize_rows(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length,
                                bool starts) {
    const size_t count = p->count; /* y may alias p */
    dql_row row = dql_first_row(p);
    for (size_t rows = p->rows; rows; rows--, dql_next_row(y_type, p, &row))
        dequantize_blocks(x_type, y_type, row, count, group_length, starts);
}

/* Goes on by some rows. Strides are the caller's, in memory, so that loops over one row have more registers. */
DQL_INLINE void next_rows(dql_type y_type, dql_panel *at, const dql_panel *p, size_t rows) {
    at->i += rows * p->x_stride;
    at->y = (char *)at->y + rows * p->y_stride * dql_y_bytes(y_type);
    at->scale += rows * p->scale_stride;
    at->zero += rows * p->zero_stride;
    at->rows -= rows;
}

/* How many rows meet a vector of scales while it is in registers. Of rows that are not narrow it is a constant
 * few, since each row is another place in memory. */
enum { MOST_ROWS = 32, FEW_ROWS = 4 };

/* Narrow rows; else false. Not for single lanes, which gain nothing, nor for vectors of any length: clang takes their
 * LANES for a power of two. */
DQL_INLINE bool dequantize_small_rows(dql_type x_type, dql_type y_type, const dql_panel *p, size_t group_length) {
    if (!LANES_ARE_CONSTANT || LANES == 1 || !dql_has_small_rows(y_type, p, group_length, LANES))
        return false;
    const bool starts = starts_pack(x_type, p->i) && starts_pack(x_type, p->x_stride);
    if (starts && group_length == LANES)
        dequantize_rows(x_type, y_type, p, LANES, true);
    else if (starts && group_length == 2 * LANES)
        dequantize_rows(x_type, y_type, p, 2 * LANES, true);
    else if (starts && group_length == 4 * LANES)
        dequantize_rows(x_type, y_type, p, 4 * LANES, true);
    else
        dequantize_rows(x_type, y_type, p, group_length, false);
    return true;
}

DQL_INLINE void dequantize(dql_type x_type, dql_type y_type, const dql_panel *p) {
    if (p->group_length >= LANES && p->group_length > 1) {
        /* a part of a group is a group, and may be a whole number of vectors */
        const size_t group_length = p->group_length > p->count && p->count >= LANES ? p->count : p->group_length;
        if (try_long_groups(x_type, y_type, p, group_length) || dequantize_small_rows(x_type, y_type, p, group_length))
            return;
        dql_row row = dql_first_row(p);
        for (size_t rows = p->rows; rows; rows--, dql_next_row(y_type, p, &row))
            dequantize_long_groups(x_type, y_type, row, p->count, group_length);
        return;
    }
    dql_panel at = *p;
    if (at.group_length > 1)
        for (; at.rows; next_rows(y_type, &at, p, 1))
            if (starts_pack(x_type, at.i))
                dequantize_short_groups(x_type, y_type, &at, true);
            else
                dequantize_short_groups(x_type, y_type, &at, false);
    else {
        const size_t most = p->scale_stride ? 1 : MOST_ROWS;
        if (most > 1 && at.count > DQL_SMALL_ROW)
            for (; at.rows >= FEW_ROWS; next_rows(y_type, &at, p, FEW_ROWS))
                dequantize_elements(x_type, y_type, &at, FEW_ROWS);
        for (size_t rows; at.rows; next_rows(y_type, &at, p, rows)) {
            rows = at.rows < most ? at.rows : most;
            dequantize_elements(x_type, y_type, &at, rows);
        }
    }
}

/* The canonical NaN stands for all of them, so that store may round a NaN like any other number. */
DQL_INLINE void widen(dql_type type, const void *from, size_t i, void *to, size_t count) {
    size_t k = 0;
    for (; count - k >= LANES; k += LANES)
        store(DQL_FLOAT32, to, k, LANES, word_of(type, load(type, from, i + k, LANES)));
    if (k < count)
        store(DQL_FLOAT32, to, k, LANES, word_of(type, load(type, from, i + k, count - k)));
}

#define DQL_DEFINE_WIDEN(TYPE, name, ...)                                                                              \
    static void widen_##name(const void *from, size_t i, void *to, size_t count) {                                     \
        widen(DQL_##TYPE, from, i, to, count);                                                                         \
    }
DQL_SUBTRACTING_TYPES(DQL_DEFINE_WIDEN)
DQL_SCALE_TYPES(DQL_DEFINE_WIDEN)

#define DQL_ZERO_WIDEN_ENTRY(TYPE, name, ...)  [DQL_##TYPE] = DQL_HAS_X(TYPE) ? widen_##name : NULL,
#define DQL_SCALE_WIDEN_ENTRY(TYPE, name, ...) [DQL_##TYPE] = widen_##name,
#define DQL_WIDEN_TABLE                        .widen = {DQL_SUBTRACTING_TYPES(DQL_ZERO_WIDEN_ENTRY) DQL_SCALE_TYPES(DQL_SCALE_WIDEN_ENTRY)}
