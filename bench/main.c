/* Benchmarks of kernels and of whole calls beside what the machine can do at best, and beside ONNX Runtime.
 * `bench --benchmark_filter=REGEX` chooses rows by their names; docs/performance.md explains them. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "dispatch/cpu.h"
#include "rows.h"
#include "shim.h"

#include <stdio.h>

#ifdef __linux__
#include <sched.h>
#endif

/* A move to another core would cost caches in the middle of a measurement. */
static void stay_on_this_core(void) {
#ifdef __linux__
    cpu_set_t set;
    const int cpu = sched_getcpu();
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    sched_setaffinity(0, sizeof set, &set); /* if it is not allowed, the numbers are noisier */
#endif
}

int main(int argc, char **argv) {
    stay_on_this_core();
    bench_context("dql_isa", dql_isa_name(dql_isa_active()));
    char bytes[24];
    snprintf(bytes, sizeof bytes, "%zu", dql_cpu_last_level_cache());
    bench_context("last_level_cache", bytes);
    register_limits();
    register_kernels();
    register_tensors();
    register_onnxruntime();
    return bench_main(argc, argv);
}
