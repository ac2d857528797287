/* Which ISA runs. */
#ifndef DQL_DISPATCH_DISPATCH_H
#define DQL_DISPATCH_DISPATCH_H

#include "kernel.h"

/* A row of isas.def. */
typedef struct dql_isa_row {
    dql_isa id;
    uint32_t needs;             /* DQL_CPU_... without which it can't run */
    const dql_kernels *kernels; /* NULL if this build doesn't have the ISA */
} dql_isa_row;

/* The row of an ISA that this build has and this CPU can run, the active one for DQL_ISA_AUTO; NULL if there is none.
 */
const dql_isa_row *dql_isa_find(int isa);

/* Of `count` rows, best first, those that are built and need nothing but `features`: the one named `wish` (may be NULL)
 * if it is among them, else the first; NULL if there are none. */
const dql_isa_row *dql_isa_pick(const dql_isa_row *from, size_t count, uint32_t features, const char *wish);

/* All rows, best first. */
const dql_isa_row *dql_isa_rows(size_t *count);

/* Whether this build has an ISA, whatever the CPU. */
bool dql_isa_compiled(int isa);

#endif
