/* Google Benchmark for C. Its command line, filters, repetitions and JSON work as ever. */
#ifndef DQL_BENCH_SHIM_H
#define DQL_BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_state bench_state;

/* Adds a benchmark. `name` is copied; `what` is handed to `body` each time it runs, which is several times a benchmark.
 */
void bench_register(const char *name, void (*body)(bench_state *state, void *what), void *what);

/* A fact for the head of the JSON. */
void bench_context(const char *name, const char *value);

/* Runs the benchmarks that the command line asks for; returns the exit status. */
int bench_main(int argc, char **argv);

/* Before each batch of `calls` calls of what is measured; false when enough of them have run. */
bool bench_next(bench_state *state, size_t calls);

/* Around what is not to be measured. */
void bench_pause(bench_state *state);
void bench_resume(bench_state *state);

/* A number for the row. */
void bench_counter(bench_state *state, const char *name, double value);

/* Marks the row as skipped, saying why. bench_next is then false. */
void bench_skip(bench_state *state, const char *why);

#ifdef __cplusplus
}
#endif

#endif
