/* The dql_stream of x86. */
#ifndef DQL_X86_STREAM_H
#define DQL_X86_STREAM_H

#include "kernel.h"

#include <immintrin.h>
#include <string.h>

/* Whole lines go past the caches; the ends of y, which share theirs with something else, don't. Wider stores than of 16
 * bytes are no faster: the CPU collects a line first. */
static void stream(void *y, const void *tile, size_t bytes) {
    enum { LINE = 64 };
    char *to = y;
    const char *from = tile;
    const size_t before = (LINE - (uintptr_t)to % LINE) % LINE;
    size_t k = before < bytes ? before : bytes;
    memcpy(to, from, k);
    for (; bytes - k >= LINE; k += LINE)
        for (size_t part = k; part < k + LINE; part += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(to + part),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + part)));
    memcpy(to + k, from + k, bytes - k);
}

#endif
