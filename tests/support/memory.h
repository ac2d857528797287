/* Buffers between pages that can't be touched: an access outside crashes. */
#ifndef DQL_TESTS_MEMORY_H
#define DQL_TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { AT_START, AT_END } guard_side;

typedef struct guarded {
    uint8_t *bytes; /* the buffer */
    size_t size;
    uint8_t *map; /* what is mapped */
    size_t map_size;
} guarded;

/* A buffer of `size` bytes, `off` bytes from the guard page on the given side: 0 is against it, another number gives
 * another alignment. All bytes of the pages are CANARY. */
enum { CANARY = 0xa5 };
guarded guarded_new(size_t size, guard_side side, size_t off);
void guarded_free(guarded *g);

/* Whether the bytes of the pages that are not the buffer's are still CANARY. */
bool guarded_intact(const guarded *g);

#endif
