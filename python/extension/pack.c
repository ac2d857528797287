#include "pack.h"

#include <stdint.h>
#include <string.h>

/* Eight bytes as a number whose lowest byte is the first, on every machine. */
static uint64_t load8(const unsigned char *from) {
    uint64_t bytes;
    memcpy(&bytes, from, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

static void store8(unsigned char *to, uint64_t bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    memcpy(to, &bytes, sizeof bytes);
}

/* In lanes of twice `width` bits, whose halves begin with a code of `bits` each: moves the upper code down to the
 * lower. */
static inline uint64_t join(uint64_t v, unsigned width, unsigned bits) {
    const uint64_t lane = width == 32 ? 0 : UINT64_C(1) << 2 * width;
    const uint64_t ones = width == 32 ? 1 : width == 16 ? 1 | lane : 1 | lane | lane << 16 | lane << 32;
    const uint64_t low = ones * ((UINT64_C(1) << bits) - 1);
    return (v & low) | (v & low << width) >> (width - bits);
}

/* The codes of eight bytes, next to each other: neighbours are joined, then pairs of them, then fours. */
static inline uint64_t squeeze(uint64_t bytes, unsigned bits) {
    return join(join(join(bytes, 8, bits), 16, 2 * bits), 32, 4 * bits);
}

size_t packed_size(size_t count, unsigned bits) {
    return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

static inline void pack_bits(unsigned char *to, const unsigned char *from, size_t count, unsigned bits) {
    for (; count >= PACK_ELEMENTS; count -= PACK_ELEMENTS, from += PACK_ELEMENTS, to += bits)
        store8(to, squeeze(load8(from), bits)); /* what it writes behind its bytes, the next one mends */
    unsigned char last[PACK_ELEMENTS] = {0};
    memcpy(last, from, count);
    store8(to, squeeze(load8(last), bits));
}

/* The most common case, two in a byte, so that compilers make vectors of it. */
static size_t pack_pairs(unsigned char *restrict to, const unsigned char *restrict from, size_t count) {
    for (size_t i = 0; i < count / 2; i++)
        to[i] = (unsigned char)((from[2 * i] & 15) | from[2 * i + 1] << 4);
    return count;
}

void pack(unsigned char *to, const unsigned char *from, size_t count, unsigned bits) {
    switch (bits) { /* the number of bits is known in each loop */
    case 2: pack_bits(to, from, count, 2); break;
    case 4: {
        const size_t whole = pack_pairs(to, from, count - count % PACK_ELEMENTS);
        pack_bits(to + whole / 2, from + whole, count - whole, 4);
        break;
    }
    case 6: pack_bits(to, from, count, 6); break;
    default: pack_bits(to, from, count, bits); break;
    }
}
