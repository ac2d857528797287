/* The loops of every ISA. Its file has defined
 *
 *     vf32                           LANES float32 values
 *     LANES                          a size_t, the same in every call
 *     splat(f)                       f in every lane
 *     load(type, from, i, n)         lane k = f32(from[i + k]) for k < n; n is 1 to LANES; other lanes: anything
 *     affine(v, scale, zero)         (v - zero) * scale, in two roundings
 *     store(type, to, i, n, v)       to[i + k] = round(lane k) for k < n
 *
 * always inlined, so that a constant type or n leaves nothing of the choices it makes, and then includes this file.
 * load knows the types of x and of the scale, store those of y; neither touches a byte outside the n elements. What it
 * gets is DQL_KERNEL_TABLE, the initialiser of its dql_kernels. */

DQL_INLINE void dequantize(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t run,
                           const float *scale, const float *zero) {
    size_t k = 0;
    if (run == 1) { /* scales and zero points come in vectors too */
        for (; count - k >= LANES; k += LANES)
            store(y_type, y, k, LANES,
                  affine(load(x_type, x, i + k, LANES), load(DQL_FLOAT32, scale, k, LANES),
                         load(DQL_FLOAT32, zero, k, LANES)));
        if (k < count)
            store(y_type, y, k, count - k,
                  affine(load(x_type, x, i + k, count - k), load(DQL_FLOAT32, scale, k, count - k),
                         load(DQL_FLOAT32, zero, k, count - k)));
        return;
    }
    for (; k < count; scale++, zero++) {
        const size_t end = run < count - k ? k + run : count;
        const vf32 s = splat(*scale), z = splat(*zero);
        for (; end - k >= LANES; k += LANES)
            store(y_type, y, k, LANES, affine(load(x_type, x, i + k, LANES), s, z));
        if (k < end)
            store(y_type, y, k, end - k, affine(load(x_type, x, i + k, end - k), s, z));
        k = end;
    }
}

DQL_INLINE void widen(dql_type type, const void *from, size_t i, float *to, size_t count) {
    size_t k = 0;
    for (; count - k >= LANES; k += LANES)
        store(DQL_FLOAT32, to, k, LANES, load(type, from, i + k, LANES));
    if (k < count)
        store(DQL_FLOAT32, to, k, count - k, load(type, from, i + k, count - k));
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
