/* A bar on stderr that says how far a long job has come, if a person is there to see it. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool shown;
    uint64_t total;
    double drawn; /* when, in seconds; 0: not yet */
} progress;

/* Seconds since some moment. */
double now(void);

progress progress_start(uint64_t total);

/* To be called by one thread, as often as it likes. */
void progress_show(progress *p, uint64_t done);

void progress_end(progress *p);

#endif
