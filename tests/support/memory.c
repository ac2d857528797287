#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

guarded guarded_new(size_t size, guard_side side, size_t off) {
    const size_t page = page_size(), body = (size + off + page - 1) / page * page + (size + off == 0) * page;
    guarded g = {.size = size, .map_size = body + 2 * page};
    g.map = mmap(NULL, g.map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    memset(g.map + page, CANARY, body);
    if (mprotect(g.map, page, PROT_NONE) || mprotect(g.map + page + body, page, PROT_NONE)) {
        perror("mprotect");
        exit(EXIT_FAILURE);
    }
    g.bytes = side == AT_START ? g.map + page + off : g.map + page + body - size - off;
    return g;
}

void guarded_free(guarded *g) {
    munmap(g->map, g->map_size);
    *g = (guarded){0};
}

bool guarded_intact(const guarded *g) {
    const uint8_t *const begin = g->map + page_size(), *const end = g->map + g->map_size - page_size();
    for (const uint8_t *p = begin; p < end; p++)
        if ((p < g->bytes || p >= g->bytes + g->size) && *p != CANARY)
            return false;
    return true;
}
