#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "buffers.h"

#include "scalar/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

/* Address space is taken for the largest benchmark; memory only for what is used. */
typedef struct buffer {
    uint8_t *bytes;
    size_t size, used;
    uint64_t state; /* of the random numbers; not 0 */
} buffer;

static void reserve(buffer *b) {
    uint8_t *map = mmap(NULL, b->size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    b->bytes = map + (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    madvise(b->bytes, b->size, MADV_HUGEPAGE);
#endif
}

static uint64_t next(buffer *b) {
    b->state ^= b->state << 13;
    b->state ^= b->state >> 7;
    b->state ^= b->state << 17;
    return b->state;
}

/* The buffer, its first `bytes` bytes random. */
static uint8_t *use(buffer *b, size_t bytes) {
    if (bytes > b->size) {
        fprintf(stderr, "a benchmark needs %zu bytes of a buffer of %zu\n", bytes, b->size);
        exit(EXIT_FAILURE);
    }
    if (!b->bytes)
        reserve(b);
    for (; b->used < bytes; b->used += sizeof(uint64_t)) {
        const uint64_t bits = next(b);
        memcpy(b->bytes + b->used, &bits, sizeof bits);
    }
    return b->bytes;
}

const void *buffer_x(dql_type type, size_t bytes) {
    enum { APART = 1088 }; /* so that x and y are not at the same offset of their pages, where stores hide loads */
    static buffer x = {.size = ((size_t)1 << 28) + HUGE_PAGE, .state = 1};
    static buffer int32 = {.size = ((size_t)1 << 28) + HUGE_PAGE, .state = 7};
    static size_t made;
    if (type != DQL_INT32)
        return use(&x, bytes + APART) + APART;
    uint8_t *const begin = use(&int32, bytes + APART) + APART;
    for (; made < bytes; made += sizeof(int32_t)) {
        const int32_t value = (int32_t)read_u16(begin, made / 2) * (begin[made + 2] % 2 ? 1 : -1);
        memcpy(begin + made, &value, sizeof value);
    }
    return begin;
}

void *buffer_y(size_t bytes) {
    static buffer y = {.size = ((size_t)1 << 28) + HUGE_PAGE, .state = 2};
    return use(&y, bytes);
}

const void *buffer_zero(size_t bytes) {
    static buffer zero = {.size = (size_t)1 << 26, .state = 3};
    return use(&zero, bytes);
}

/* An element of a random buffer as a number from 0 to 1. */
static float fraction(const uint8_t *random, size_t k) {
    return (float)read_u16(random, k) / 65536;
}

const void *buffer_scale(dql_type type, size_t n) {
    static buffer scales[DQL_TYPE_END];
    static size_t made[DQL_TYPE_END];
    buffer *b = &scales[type];
    b->size = (size_t)1 << 26;
    b->state = 4;
    uint8_t *bytes = use(b, n * sizeof(float));
    if (type == DQL_FLOAT8E8M0) /* 2^-15 to 1 */
        for (; made[type] < n; made[type]++)
            bytes[made[type]] = (uint8_t)(112 + *((const uint8_t *)buffer_zero(n) + made[type]) % 16);
    for (; made[type] < n; made[type]++)
        store_element(type, bytes, made[type], (1 + fraction(buffer_zero(2 * n), made[type])) / 128);
    return bytes;
}

const int32_t *buffer_widened(const dql_kernels *isa, dql_type x_type, size_t n) {
    static buffer widened = {.size = (size_t)1 << 26, .state = 5};
    void *const words = use(&widened, (n + DQL_WIDEN_SLACK) * sizeof(int32_t));
    if (dql_subtracts(x_type))
        isa->widen[x_type](buffer_zero(n * sizeof(int16_t)), 0, words, n);
    else
        memset(words, 0, n * sizeof(int32_t));
    return words;
}

void *buffer_check(void) {
    static buffer check = {.size = CHECK_BYTES, .state = 6};
    return use(&check, CHECK_BYTES);
}
