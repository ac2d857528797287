/* Which ISA runs. */
#ifndef DQL_DISPATCH_DISPATCH_H
#define DQL_DISPATCH_DISPATCH_H

#include "kernel.h"

/* An ISA that is compiled in. */
typedef struct dql_isa_row {
    dql_isa id;
    const dql_kernels *kernels;
    uint32_t needs;   /* DQL_CPU_... without which it can't run */
    uint32_t prefers; /* DQL_CPU_... without which it isn't picked by itself */
} dql_isa_row;

/* The row of an ISA that this CPU can run, the active one for DQL_ISA_AUTO; NULL if there is none. */
const dql_isa_row *dql_isa_find(int isa);

/* Of `count` rows, best first, the one named `wish` (may be NULL) if a CPU with these features has what it needs; else
 * the first that it also prefers. */
const dql_isa_row *dql_isa_pick(const dql_isa_row *from, size_t count, uint32_t features, const char *wish);

/* The rows of this build, best first. */
const dql_isa_row *dql_isa_rows(size_t *count);

/* Whether the row of an ISA is there, whatever the CPU. */
bool dql_isa_compiled(int isa);

#endif
