#ifndef DQL_PYTHON_PACK_H
#define DQL_PYTHON_PACK_H

#include <stddef.h>

/* Elements in 8 bytes' worth of codes: what begins at a multiple of them is packed into whole bytes. */
enum { PACK_ELEMENTS = 8 };

/* Bytes that `count` elements of this many bits take. */
size_t packed_size(size_t count, unsigned bits);

/* Packs `count` elements, a byte each, of which only the lowest `bits` (1 to 7) mean something, into a stream of bits,
 * the first element in the lowest bits: packed_size(count, bits) bytes of `to`, which has 8 bytes more than that. */
void pack(unsigned char *to, const unsigned char *from, size_t count, unsigned bits);

#endif
