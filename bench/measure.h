/* Times calls of a piece of work, and the limits for the same bytes in between. */
#ifndef DQL_BENCH_MEASURE_H
#define DQL_BENCH_MEASURE_H

#include "shim.h"

#include <stdint.h>

typedef struct work {
    void (*call)(void *context);
    void *context;
    size_t elements;              /* a call */
    size_t x_bytes;               /* read a call, without scales and zero points; 0: no stream to compare with */
    size_t y_bytes;               /* written a call; 0: no limits to compare with */
    void (*fixed)(void *context); /* what a call costs apart from its elements, which is taken off; or NULL */
    void *fixed_context;
    size_t calls; /* a batch; 0: not known yet */
} work;

/* Runs until the benchmark has had enough. Batches of calls alternate with batches of the limits (and of `fixed`), so
 * that whatever else this machine does hits them alike. The row's counters are, from the fastest batch of each,
 *
 *     min_ns, median_ns   of a call
 *     GB/s, Gelem/s       written
 *     of_fill             time to fill y / time of a call
 *     of_stream           time to read x and write y without arithmetic / time of a call
 *     of_stream_nt        the same with non-temporal stores; for what no cache holds only
 *
 * Returns min_ns. */
double measure(bench_state *state, work *w);

#endif
