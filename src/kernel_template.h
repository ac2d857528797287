/* The loops of every ISA. Its file has defined
 *
 *     vf32                                 LANES float32 values, or the same number of raw ones
 *     LANES                                a size_t, the same in every call; at most DQL_WIDEN_SLACK
 *     load(type, from, i, n)               lane k = from[i + k] for k < n, raw: in a form that the type's other
 * primitives know. Of x and scale types; of FLOAT32 the form is float32 number(type, raw)                    lane k as
 * float32; of a scale type a NaN becomes 0x7fc00000 splat(f)                             f in every lane affine(v,
 * scale, zero)               (v - zero) * scale in float32, each operation rounded splat_zero(type, f) zero point f in
 * every lane, as dequantize_raw of that type takes it dequantize_raw(type, raw, s, z)      affine(number(type, raw), s,
 * zero), in any way that gives its bits store(type, to, i, n, v)             to[i + k] = round(lane k) for k < n. Of y
 * types expand(from, n, run, phase)          lane k = from[(phase + k) / run]; `from` has n floats, 1 to LANES, which
 * may end before the last lanes' do. 1 < run < LANES, phase < run special(x_type, y_type, kernel's arguments) true if
 * it has done all that the kernel has to, in a way that is faster; false if it has done nothing
 *
 * always inlined, and then includes this file. Types are constants in every call, and n is mostly the constant LANES:
 * what is chosen by them leaves no trace in the code. n is 1 to LANES; lanes from n on may be anything; load and store
 * touch no byte outside the n elements. A NaN whose lower half is not 0 reaches no store: widen and load see to that.
 *
 * What the file gets is DQL_KERNEL_TABLE, for its `const dql_kernels dql_isa_<name> = {DQL_KERNEL_TABLE};`, to which it
 * may add
 * `.stream`. */

/* A scale for each element. */
DQL_INLINE void dequantize_each(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t k, size_t n,
                                const float *scale, const float *zero) {
    const vf32 s = load(DQL_FLOAT32, scale, k, n), z = load(DQL_FLOAT32, zero, k, n);
    store(y_type, y, k, n, affine(number(x_type, load(x_type, x, i + k, n)), s, z));
}

/* Several runs a vector: the scales of each are spread over its lanes. */
DQL_INLINE void dequantize_short_runs(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count,
                                      size_t run, const float *scale, const float *zero) {
    const size_t scales = (count + run - 1) / run, whole = LANES / run, rest = LANES % run;
    size_t first = 0, phase = 0; /* of the scale of element k, and of k in its run */
    for (size_t k = 0; k < count; k += LANES) {
        const size_t n = count - k < LANES ? count - k : LANES,
                     window = scales - first < LANES ? scales - first : LANES;
        const vf32 s = expand(scale + first, window, run, phase), z = expand(zero + first, window, run, phase);
        if (n == LANES)
            store(y_type, y, k, LANES, affine(number(x_type, load(x_type, x, i + k, LANES)), s, z));
        else
            store(y_type, y, k, n, affine(number(x_type, load(x_type, x, i + k, n)), s, z));
        first += whole;
        phase += rest;
        if (phase >= run) {
            phase -= run;
            first++;
        }
    }
}

/* Runs of whole vectors. */
DQL_INLINE void dequantize_blocks(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t blocks,
                                  size_t run, const float *scale, const float *zero) {
    for (size_t b = 0, k = 0; b < blocks; b++) {
        const vf32 s = splat(scale[b]), z = splat_zero(x_type, zero[b]);
        const size_t end = k + run;
#pragma GCC unroll 4
        for (; k < end; k += LANES)
            store(y_type, y, k, LANES, dequantize_raw(x_type, load(x_type, x, i + k, LANES), s, z));
    }
}

DQL_INLINE void dequantize(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t run,
                           const float *scale, const float *zero) {
    size_t k = 0;
    if (special(x_type, y_type, x, i, y, count, run, scale, zero))
        return;
    if (run == 1) {
#pragma GCC unroll 4
        for (; count - k >= LANES; k += LANES)
            dequantize_each(x_type, y_type, x, i, y, k, LANES, scale, zero);
        if (k < count)
            dequantize_each(x_type, y_type, x, i, y, k, count - k, scale, zero);
        return;
    }
    if (run < LANES) {
        dequantize_short_runs(x_type, y_type, x, i, y, count, run, scale, zero);
        return;
    }
    if (run % LANES == 0) {
        const size_t blocks = count / run;
        if (run == 2 * LANES)
            dequantize_blocks(x_type, y_type, x, i, y, blocks, 2 * LANES, scale, zero);
        else
            dequantize_blocks(x_type, y_type, x, i, y, blocks, run, scale, zero);
        k = blocks * run;
        scale += blocks;
        zero += blocks;
    }
    for (; k < count; scale++, zero++) {
        const size_t end = run < count - k ? k + run : count;
        const vf32 s = splat(*scale), z = splat_zero(x_type, *zero);
#pragma GCC unroll 4
        for (; end - k >= LANES; k += LANES)
            store(y_type, y, k, LANES, dequantize_raw(x_type, load(x_type, x, i + k, LANES), s, z));
        if (k < end)
            store(y_type, y, k, end - k, dequantize_raw(x_type, load(x_type, x, i + k, end - k), s, z));
        k = end;
    }
}

/* The canonical NaN stands for all of them, so that store may round a NaN like any other number. */
DQL_INLINE void widen(dql_type type, const void *from, size_t i, float *to, size_t count) {
    size_t k = 0;
    for (; count - k >= LANES; k += LANES)
        store(DQL_FLOAT32, to, k, LANES, number(type, load(type, from, i + k, LANES)));
    if (k < count)
        store(DQL_FLOAT32, to, k, LANES, number(type, load(type, from, i + k, count - k)));
}

/* One function for each pair of types and for each type that is widened, and the table of them all. */
#define DQL_DEFINE_KERNEL(X, x_name, Y, y_name)                                                                        \
    static void dequantize_##x_name##_##y_name(const void *x, size_t i, void *y, size_t count, size_t run,             \
                                               const float *scale, const float *zero) {                                \
        dequantize(DQL_##X, DQL_##Y, x, i, y, count, run, scale, zero);                                                \
    }
#define DQL_DEFINE_WIDEN(TYPE, name, ...)                                                                              \
    static void widen_##name(const void *from, size_t i, float *to, size_t count) {                                    \
        widen(DQL_##TYPE, from, i, to, count);                                                                         \
    }
#define DQL_DEFINE_KERNELS(X, x_name, ...) DQL_PAIRS(DQL_DEFINE_KERNEL, X, x_name)

DQL_X_TYPES(DQL_DEFINE_KERNELS)
DQL_X_TYPES(DQL_DEFINE_WIDEN)
DQL_SCALE_TYPES(DQL_DEFINE_WIDEN)

#define DQL_KERNEL_ENTRY(X, x_name, Y, y_name) [DQL_##X][DQL_Y_##Y] = dequantize_##x_name##_##y_name,
#define DQL_KERNEL_ENTRIES(X, x_name, ...)     DQL_PAIRS(DQL_KERNEL_ENTRY, X, x_name)
#define DQL_WIDEN_ENTRY(TYPE, name, ...)       [DQL_##TYPE] = widen_##name,

#define DQL_KERNEL_TABLE                                                                                               \
    .dequantize = {DQL_X_TYPES(DQL_KERNEL_ENTRIES)},                                                                   \
    .widen = {DQL_X_TYPES(DQL_WIDEN_ENTRY) DQL_SCALE_TYPES(DQL_WIDEN_ENTRY)}
