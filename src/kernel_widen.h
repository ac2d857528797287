/* The dql_widen of every type, for the table of an ISA. Included where load, word_of, store and LANES are defined, see
 * kernel_template.h. */
#ifndef DQL_KERNEL_WIDEN_H
#define DQL_KERNEL_WIDEN_H

#include "kernel.h"

#ifndef LANES /* opened by itself, by an editor or a check */
#include "scalar/vector.h"
#endif

/* The canonical NaN stands for all of them, so that store may round a NaN like any other number. */
DQL_INLINE void widen(dql_type type, const void *from, size_t i, void *to, size_t count) {
    size_t k = 0;
    for (; count - k >= LANES; k += LANES)
        store(DQL_FLOAT32, to, k, LANES, word_of(type, load(type, dql_at_element(type, from, i + k), LANES)));
    if (k < count)
        store(DQL_FLOAT32, to, k, LANES, word_of(type, load(type, dql_at_element(type, from, i + k), count - k)));
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

#endif
