#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 40 };

static const double between = 0.1; /* seconds */

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

progress progress_start(uint64_t total) {
    return (progress){.shown = total > 0 && isatty(STDERR_FILENO) == 1, .total = total};
}

void progress_show(progress *p, uint64_t done) {
    char bar[WIDTH + 1];
    if (!p->shown || now() - p->drawn < between)
        return;
    p->drawn = now();
    const uint64_t filled = done * WIDTH / p->total, percent = done * 100 / p->total;
    for (unsigned i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '=' : ' ';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3u%%  %.2f of %.2f GB", bar, (unsigned)percent, (double)done * 1e-9,
            (double)p->total * 1e-9);
}

void progress_end(progress *p) {
    if (p->shown)
        fprintf(stderr, "\r\033[K"); /* erases the line */
    p->shown = false;
}
