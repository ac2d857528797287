#include "shim.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

struct bench_state {
    benchmark::State &google;
};

extern "C" void bench_register(const char *name, void (*body)(bench_state *, void *), void *what) {
    const auto run = [body, what](benchmark::State &google) {
        bench_state state{google};
        body(&state, what);
    };
    const auto min = [](const std::vector<double> &v) { return *std::min_element(v.begin(), v.end()); };
    const auto max = [](const std::vector<double> &v) { return *std::max_element(v.begin(), v.end()); };
    benchmark::RegisterBenchmark(name, run)->ComputeStatistics("min", min)->ComputeStatistics("max", max);
}

extern "C" void bench_context(const char *name, const char *value) {
    benchmark::AddCustomContext(name, value);
}

extern "C" int bench_main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

extern "C" bool bench_next(bench_state *state, size_t calls) {
    return state->google.KeepRunningBatch(static_cast<benchmark::IterationCount>(calls));
}

extern "C" void bench_pause(bench_state *state) {
    state->google.PauseTiming();
}

extern "C" void bench_resume(bench_state *state) {
    state->google.ResumeTiming();
}

extern "C" void bench_counter(bench_state *state, const char *name, double value) {
    state->google.counters[name] = value;
}

extern "C" void bench_skip(bench_state *state, const char *why) {
    state->google.SkipWithError(why);
}
