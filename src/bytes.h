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

#endif
