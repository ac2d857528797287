/* The dql_stream of x86. */
#ifndef DQL_X86_STREAM_H
#define DQL_X86_STREAM_H

#include "kernel.h"

#include <immintrin.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* Two stores of 32 bytes. Alone, 16, 32 and 64 are as fast as each other; among loads that miss the caches these are
 * the fastest on Zen 4, by up to a half. */
DQL_INLINE void stream_cache_line(char *to, const char *from) {
    _mm256_stream_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)from));
    _mm256_stream_si256((__m256i *)(void *)(to + 32), _mm256_loadu_si256((const __m256i *)(const void *)(from + 32)));
}

/* Whole cache lines go past the caches; the ends of y, which share theirs with something else, don't. */
static void stream(void *y, const void *buffer, size_t bytes) {
    assert((uintptr_t)buffer % CACHE_LINE == 0);
    char *to = y;
    const char *from = buffer;
    const size_t before = (CACHE_LINE - (uintptr_t)to % CACHE_LINE) % CACHE_LINE;
    size_t k = before < bytes ? before : bytes;
    memcpy(to, from, k);
    for (; bytes - k >= CACHE_LINE; k += CACHE_LINE)
        stream_cache_line(to + k, from + k);
    memcpy(to + k, from + k, bytes - k);
}

#endif
