/* cpuinfo where it can be asked, the CPU and the OS elsewhere. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sysconf's cache sizes */
#endif
#include "dispatch/cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#ifdef DQL_HAVE_CPUINFO
#include <cpuinfo.h>
#endif
#if defined(__linux__)
#include <fcntl.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* ---- cpuinfo ---- */

#if defined(DQL_HAVE_CPUINFO)

#if defined(__linux__)
/* The first byte of a file; 0 if there is none. */
static char first_byte(const char *path) {
    char byte = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (read(file, &byte, 1) != 1)
        byte = 0;
    close(file);
    return byte;
}

static bool starts_with_digit(const char *path) {
    const char byte = first_byte(path);
    return byte >= '0' && byte <= '9';
}
#endif

bool dql_cpu_has_cpuinfo(void) {
#if defined(__linux__)
    /* Without these, as in some containers, cpuinfo complains on stderr and may see no features. */
    if (!first_byte("/proc/cpuinfo") || !starts_with_digit("/sys/devices/system/cpu/possible") ||
        !starts_with_digit("/sys/devices/system/cpu/present"))
        return false;
#endif
    return cpuinfo_initialize();
}

uint32_t dql_cpu_ask_cpuinfo(void) {
    uint32_t features = 0;
#if defined(__x86_64__) || defined(__i386__)
    features |= cpuinfo_has_x86_avx2() ? DQL_CPU_AVX2 : 0;
    features |= cpuinfo_has_x86_f16c() ? DQL_CPU_F16C : 0;
    features |= cpuinfo_has_x86_avx512f() ? DQL_CPU_AVX512F : 0;
    features |= cpuinfo_has_x86_avx512bw() ? DQL_CPU_AVX512BW : 0;
    features |= cpuinfo_has_x86_avx512dq() ? DQL_CPU_AVX512DQ : 0;
    features |= cpuinfo_has_x86_avx512vl() ? DQL_CPU_AVX512VL : 0;
    features |= cpuinfo_has_x86_avx512vbmi() ? DQL_CPU_AVX512VBMI : 0;
    features |= cpuinfo_has_x86_avx512bf16() ? DQL_CPU_AVX512BF16 : 0;
#elif defined(__aarch64__)
    features |= cpuinfo_has_arm_neon() ? DQL_CPU_NEON : 0;
    features |= cpuinfo_has_arm_sve() ? DQL_CPU_SVE : 0;
#endif
    return features;
}

static uint32_t cpuinfo_last_level_cache(void) {
    const struct cpuinfo_cache *cache = cpuinfo_get_l3_caches_count() ? cpuinfo_get_l3_cache(0) : NULL;
    if (!cache)
        cache = cpuinfo_get_l2_caches_count() ? cpuinfo_get_l2_cache(0) : NULL;
    return cache ? cache->size : 0;
}

static const char *cpuinfo_name(void) {
    const struct cpuinfo_package *package = cpuinfo_get_packages_count() ? cpuinfo_get_package(0) : NULL;
    return package ? package->name : "";
}

#else

bool dql_cpu_has_cpuinfo(void) {
    return false;
}

uint32_t dql_cpu_ask_cpuinfo(void) {
    return 0;
}

static uint32_t cpuinfo_last_level_cache(void) {
    return 0;
}

static const char *cpuinfo_name(void) {
    return "";
}

#endif

/* ---- the CPU and the OS ---- */

static bool bit(uint32_t word, unsigned number) {
    return word >> number & 1;
}

uint32_t dql_cpu_from_x86(const dql_cpu_x86 *cpu) {
    enum { OSXSAVE = 27, AVX = 28 };             /* bits of leaf 1, ECX */
    enum { YMM_STATE = 0x06, ZMM_STATE = 0xe6 }; /* masks of XCR0 */
    const uint32_t kept = bit(cpu->leaf1_ecx, OSXSAVE) ? cpu->xcr0 : 0;
    uint32_t features = 0;
    if (!bit(cpu->leaf1_ecx, AVX) || (kept & YMM_STATE) != YMM_STATE)
        return 0;
    features |= bit(cpu->leaf1_ecx, 29) ? DQL_CPU_F16C : 0;
    features |= bit(cpu->leaf7_ebx, 5) ? DQL_CPU_AVX2 : 0;
    if (!bit(cpu->leaf7_ebx, 16) || (kept & ZMM_STATE) != ZMM_STATE)
        return features;
    features |= DQL_CPU_AVX512F;
    features |= bit(cpu->leaf7_ebx, 17) ? DQL_CPU_AVX512DQ : 0;
    features |= bit(cpu->leaf7_ebx, 30) ? DQL_CPU_AVX512BW : 0;
    features |= bit(cpu->leaf7_ebx, 31) ? DQL_CPU_AVX512VL : 0;
    features |= bit(cpu->leaf7_ecx, 1) ? DQL_CPU_AVX512VBMI : 0;
    features |= bit(cpu->leaf7_1_eax, 5) ? DQL_CPU_AVX512BF16 : 0;
    return features;
}

uint32_t dql_cpu_from_arm64(unsigned long hwcap) {
    enum { SVE = 1 << 22 };
    return DQL_CPU_NEON | (hwcap & SVE ? DQL_CPU_SVE : 0); /* every AArch64 that has an OS has NEON */
}

uint32_t dql_cpu_ask_directly(void) {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
    dql_cpu_x86 cpu = {0};
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
        cpu.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        cpu.leaf7_ebx = b;
        cpu.leaf7_ecx = c;
        if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) /* EAX had the last subleaf */
            cpu.leaf7_1_eax = a;
    }
    if (cpu.leaf1_ecx & bit_OSXSAVE) /* else it is no instruction; its intrinsic would need a compiler flag */
        __asm__("xgetbv" : "=a"(cpu.xcr0), "=d"(d) : "c"(0));
#if defined(__APPLE__)
    cpu.xcr0 &= 0x06; /* macOS keeps AVX-512's state from its first use on only, and signals have damaged its masks */
#endif
    return dql_cpu_from_x86(&cpu);
#elif defined(__aarch64__) && defined(__linux__)
    return dql_cpu_from_arm64(getauxval(AT_HWCAP));
#elif defined(__aarch64__)
    return DQL_CPU_NEON;
#else
    return 0;
#endif
}

/* Of level 3, as Linux has it: in a virtual machine sysconf may give the one of all of the CPU's chips together. */
static size_t linux_last_level_cache(void) {
    size_t kibibytes = 0;
#if defined(__linux__)
    const int file = open("/sys/devices/system/cpu/cpu0/cache/index3/size", O_RDONLY | O_CLOEXEC);
    char text[16] = ""; /* "32768K" */
    if (file >= 0 && read(file, text, sizeof text - 1) > 0)
        for (const char *c = text; *c >= '0' && *c <= '9' && kibibytes < (SIZE_MAX >> 10) / 10; c++)
            kibibytes = 10 * kibibytes + (size_t)(*c - '0');
    if (file >= 0)
        close(file);
#endif
    return kibibytes << 10;
}

static size_t os_last_level_cache(void) {
    long size = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size <= 0)
        size = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    const size_t linux_size = linux_last_level_cache();
    return linux_size ? linux_size : size > 0 ? (size_t)size : 0;
}

/* ---- asked once ---- */

enum { ASKED = 1 << 30 };
_Static_assert(DQL_CPU_BITS < 30, "a mask has room for ASKED");

static _Atomic uint32_t known_features;
static _Atomic size_t known_cache;

static void ask(void) {
    enum { USUAL_CACHE = 32 << 20 };
    const bool has_cpuinfo = dql_cpu_has_cpuinfo();
    size_t cache = has_cpuinfo ? cpuinfo_last_level_cache() : 0;
    if (!cache)
        cache = os_last_level_cache();
    atomic_store_explicit(&known_cache, cache ? cache : USUAL_CACHE, memory_order_relaxed);
    /* cpuinfo's answers are read from a struct that its versions lay out differently, and an engine may bring another
     * version than the one that this was compiled with: what the CPU and the OS deny is not there. */
    const uint32_t features = (has_cpuinfo ? dql_cpu_ask_cpuinfo() : UINT32_MAX) & dql_cpu_ask_directly();
    atomic_store_explicit(&known_features, features | ASKED, memory_order_release);
}

uint32_t dql_cpu_features(void) {
    if (!(atomic_load_explicit(&known_features, memory_order_acquire) & ASKED))
        ask();
    return atomic_load_explicit(&known_features, memory_order_relaxed) & ~(uint32_t)ASKED;
}

size_t dql_cpu_last_level_cache(void) {
    dql_cpu_features();
    return atomic_load_explicit(&known_cache, memory_order_relaxed);
}

/* ---- names ---- */

const char *dql_cpu_feature_name(unsigned bit) {
#define NAME(FEATURE, name) #name,
    static const char *const names[] = {DQL_CPU_FEATURES(NAME)};
    return bit < DQL_CPU_BITS ? names[bit] : NULL;
}

const char *dql_cpu_name(char *buffer, size_t size) {
    const char *name = dql_cpu_has_cpuinfo() ? cpuinfo_name() : "";
    snprintf(buffer, size, "%s", *name ? name : "unknown");
    return buffer;
}
