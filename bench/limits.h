/* What a core and its memory can do at best: the same bytes with the widest registers and no arithmetic. */
#ifndef DQL_BENCH_LIMITS_H
#define DQL_BENCH_LIMITS_H

#include <stddef.h>

/* y_bytes is a multiple of this. */
enum { LIMIT_BLOCK = 2048 };

typedef struct limits {
    const char *name; /* of the registers */

    /* Writes y_bytes. */
    void (*fill)(void *y, size_t y_bytes);

    /* Reads x_bytes and writes y_bytes, which is x_bytes times or divided by a power of two. Never writes zeros only:
     * some CPUs write such lines faster. */
    void (*stream)(void *y, const void *x, size_t x_bytes, size_t y_bytes);

    /* The same with non-temporal stores; NULL if there are none. y is aligned to 64 bytes. */
    void (*stream_nt)(void *y, const void *x, size_t x_bytes, size_t y_bytes);
} limits;

/* Those of the widest registers of this CPU. */
const limits *limits_of_cpu(void);

#endif
