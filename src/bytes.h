/* Few bytes at any address as a number, the first one in its lowest bits: for little-endian ISAs. */
#ifndef DQL_BYTES_H
#define DQL_BYTES_H

#include "kernel.h"

#include <string.h>

DQL_INLINE uint64_t read_64(const char *p) {
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

DQL_INLINE uint32_t read_32(const char *p) {
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* 1 to 8 bytes, zeros above. Pieces overlap where that spares one. */
DQL_INLINE uint64_t read_bytes(const char *p, size_t n) {
    if (n == 8)
        return read_64(p);
    if (n >= 4)
        return read_32(p) | (uint64_t)read_32(p + n - 4) << 8 * (n - 4);
    const uint8_t *b = (const uint8_t *)p;
    return b[0] | (uint64_t)b[n / 2] << n / 2 * 8 | (uint64_t)b[n - 1] << (n - 1) * 8;
}

/* The byte in which an element begins, and how many bits of others are below it there. */
typedef struct bit_place {
    const char *byte;
    unsigned shift;
} bit_place;

DQL_INLINE bit_place place_of_bits(dql_type type, dql_at at) {
    const size_t bit = at.skip * dql_x_bits(type);
    return (bit_place){at.byte + bit / 8, (unsigned)(bit % 8)};
}

/* The codes of n elements of a type of at most 4 bits, at most 8 bytes of them, the first one in the lowest bits. */
DQL_INLINE uint64_t read_codes(dql_type type, dql_at at, size_t n) {
    const unsigned bits = dql_x_bits(type);
    const size_t skipped = at.skip * bits, bytes = ((at.skip + n) * bits + 7) / 8;
    const bool one_more = bytes > 8; /* than a read has */
    const uint64_t codes = read_bytes(at.byte, one_more ? 8 : bytes) >> skipped;
    return one_more ? codes | (uint64_t)(uint8_t)at.byte[8] << (64 - skipped) : codes;
}

#endif
