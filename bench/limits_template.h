/* The loops of the limits. The including file has defined vector, VECTOR (its bytes), vload(p), vstore(p, v),
 * vstream(p, v), vxor(a, b), vset(u32), fence() and NAME; where there is no non-temporal store, NO_STREAM. */
#include "limits.h"

#include <stdbool.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

static void fill(void *y, size_t y_bytes) {
    char *to = y;
    const vector v = vset(0x3f803f80);
    for (size_t i = 0; i < y_bytes; i += 4 * VECTOR)
        for (size_t k = 0; k < 4; k++)
            vstore(to + i + k * VECTOR, v);
}

/* `more` vectors written for each one read. */
INLINE void stream_out(char *to, const char *from, size_t x_bytes, size_t more, bool nt) {
    const vector low = vset(0x00010001), high = vset(0x00800080);
    for (size_t i = 0; i < x_bytes; i += 2 * VECTOR)
        for (size_t k = 0; k < 2; k++) {
            const vector v = vload(from + i + k * VECTOR);
            for (size_t m = 0; m < more; m++) {
                char *const p = to + ((i + k * VECTOR) * more + m * VECTOR);
                const vector w = m == 0 ? v : vxor(v, m % 2 ? low : high);
#ifndef NO_STREAM
                if (nt) {
                    vstream(p, w);
                    continue;
                }
#endif
                vstore(p, w);
            }
        }
    (void)nt;
}

/* Two vectors read for each one written. */
INLINE void stream_in(char *to, const char *from, size_t y_bytes, bool nt) {
    for (size_t i = 0; i < y_bytes; i += 2 * VECTOR)
        for (size_t k = 0; k < 2; k++) {
            char *const p = to + i + k * VECTOR;
            const char *const q = from + 2 * (i + k * VECTOR);
            const vector w = vxor(vload(q), vload(q + VECTOR));
#ifndef NO_STREAM
            if (nt) {
                vstream(p, w);
                continue;
            }
#endif
            vstore(p, w);
        }
    (void)nt;
}

INLINE void any_stream(void *y, const void *x, size_t x_bytes, size_t y_bytes, bool nt) {
    if (y_bytes < x_bytes)
        stream_in(y, x, y_bytes, nt);
    else if (y_bytes == x_bytes)
        stream_out(y, x, x_bytes, 1, nt);
    else if (y_bytes == 2 * x_bytes)
        stream_out(y, x, x_bytes, 2, nt);
    else if (y_bytes == 4 * x_bytes)
        stream_out(y, x, x_bytes, 4, nt);
    else if (y_bytes == 8 * x_bytes)
        stream_out(y, x, x_bytes, 8, nt);
    else
        stream_out(y, x, x_bytes, 16, nt);
}

static void stream(void *y, const void *x, size_t x_bytes, size_t y_bytes) {
    any_stream(y, x, x_bytes, y_bytes, false);
}

#ifndef NO_STREAM
static void stream_nt(void *y, const void *x, size_t x_bytes, size_t y_bytes) {
    any_stream(y, x, x_bytes, y_bytes, true);
    fence();
}
#define STREAM_NT stream_nt
#else
#define STREAM_NT NULL
#endif

#define LIMITS_(name) limits_##name
#define LIMITS(name)  LIMITS_(name)
#define STRING_(name) #name
#define STRING(name)  STRING_(name)
const limits LIMITS(NAME) = {STRING(NAME), fill, stream, STREAM_NT};
