#include "limits.h"

#include "dispatch/cpu.h"

extern const limits limits_16bytes;
#ifdef BENCH_X86
extern const limits limits_avx2, limits_avx512;
#endif

const limits *limits_of_cpu(void) {
#ifdef BENCH_X86
    const uint32_t features = dql_cpu_features();
    if (features & DQL_CPU_AVX512F)
        return &limits_avx512;
    if (features & DQL_CPU_AVX2)
        return &limits_avx2;
#endif
    return &limits_16bytes;
}
