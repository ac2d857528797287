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

/* The codes of eight bytes, next to each other: neighbours move together, then pairs of them, then fours. */
static inline uint64_t squeeze(uint64_t bytes, unsigned bits) {
    const uint64_t one = UINT64_C(0x0101010101010101), two = UINT64_C(0x0001000100010001),
                   four = UINT64_C(0x0000000100000001);
    uint64_t v = bytes & one * ((1u << bits) - 1);
    v = (v | v >> (8 - bits)) & two * ((UINT64_C(1) << 2 * bits) - 1);
    v = (v | v >> (16 - 2 * bits)) & four * ((UINT64_C(1) << 4 * bits) - 1);
    return (v | v >> (32 - 4 * bits)) & ((UINT64_C(1) << 8 * bits) - 1);
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

void pack(unsigned char *to, const unsigned char *from, size_t count, unsigned bits) {
    switch (bits) { /* the number of bits is known in each loop */
    case 2: pack_bits(to, from, count, 2); break;
    case 4: pack_bits(to, from, count, 4); break;
    case 6: pack_bits(to, from, count, 6); break;
    default: pack_bits(to, from, count, bits); break;
    }
}
