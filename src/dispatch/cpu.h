/* What this CPU, and the OS on it, can do. Nothing else asks. */
#ifndef DQL_DISPATCH_CPU_H
#define DQL_DISPATCH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The features that kernels need: M(FEATURE, name), named by their vendors. */
#define DQL_CPU_FEATURES(M)                                                                                            \
    M(AVX2, avx2)                                                                                                      \
    M(F16C, f16c)                                                                                                      \
    M(AVX512F, avx512f)                                                                                                \
    M(AVX512BW, avx512bw)                                                                                              \
    M(AVX512DQ, avx512dq)                                                                                              \
    M(AVX512VL, avx512vl)                                                                                              \
    M(AVX512VBMI, avx512vbmi)                                                                                          \
    M(AVX512BF16, avx512bf16)                                                                                          \
    M(NEON, neon) /* AArch64's: ARMv7's flushes subnormals */                                                          \
    M(SVE, sve)

#define DQL_CPU_BIT(FEATURE, name) DQL_CPU_BIT_##FEATURE,
enum { DQL_CPU_FEATURES(DQL_CPU_BIT) DQL_CPU_BITS };
#undef DQL_CPU_BIT

#define DQL_CPU_MASK(FEATURE, name) DQL_CPU_##FEATURE = 1 << DQL_CPU_BIT_##FEATURE,
enum { DQL_CPU_FEATURES(DQL_CPU_MASK) DQL_CPU_NONE = 0 };
#undef DQL_CPU_MASK

/* A mask of DQL_CPU_...: what cpuinfo, if it can be asked, and the CPU and the OS agree on. Asked once. */
uint32_t dql_cpu_features(void);

/* Bytes. A sane guess where the machine doesn't tell. */
size_t dql_cpu_last_level_cache(void);

/* "avx2", ...; NULL past the last bit. */
const char *dql_cpu_feature_name(unsigned bit);

/* The CPU's marketing name, or "unknown"; at most size bytes with the terminator. Returns buffer. */
const char *dql_cpu_name(char *buffer, size_t size);

/* The two sources of dql_cpu_features, for tests. cpuinfo's answer is valid only where dql_cpu_has_cpuinfo(). */
bool dql_cpu_has_cpuinfo(void);
uint32_t dql_cpu_ask_cpuinfo(void);
uint32_t dql_cpu_ask_directly(void);

/* What an x86 says of itself, and what that comes to: features whose registers the OS keeps, without those that build
 * on one that isn't there, as a hypervisor may leave them. */
typedef struct dql_cpu_x86 {
    uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_1_eax; /* CPUID; 0 for a leaf or subleaf that is not there */
    uint32_t xcr0;                                         /* counts only with OSXSAVE in leaf 1 */
} dql_cpu_x86;
uint32_t dql_cpu_from_x86(const dql_cpu_x86 *cpu);

/* What an AArch64 with this AT_HWCAP can do, as Linux says it. */
uint32_t dql_cpu_from_arm64(unsigned long hwcap);

#endif
