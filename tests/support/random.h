/* Random data, the same in every run (xorshift64*). */
#ifndef DQL_TESTS_RANDOM_H
#define DQL_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct random {
    uint64_t state; /* not 0 */
} random;

static inline uint64_t random_u64(random *r) {
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545f4914f6cdd1d;
}

/* 0 to end - 1. */
static inline size_t random_below(random *r, size_t end) {
    return (size_t)((random_u64(r) >> 32) % end);
}

static inline void random_bytes(random *r, void *to, size_t n) {
    for (size_t k = 0; k < n; k++)
        ((uint8_t *)to)[k] = (uint8_t)(random_u64(r) >> 56);
}

#endif
