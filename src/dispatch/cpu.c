/* cpuinfo where it can be asked, the compiler and the OS elsewhere. */
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
#elif defined(__aarch64__)
    features |= cpuinfo_has_arm_neon() ? DQL_CPU_NEON : 0;
    features |= cpuinfo_has_arm_sve() ? DQL_CPU_SVE : 0;
    features |= cpuinfo_has_arm_sve2() ? DQL_CPU_SVE2 : 0;
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

/* ---- the compiler and the OS ---- */

uint32_t dql_cpu_ask_builtin(void) {
    uint32_t features = 0;
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
    __builtin_cpu_init();
    features |= __builtin_cpu_supports("avx2") ? DQL_CPU_AVX2 : 0;
    features |= __builtin_cpu_supports("avx512f") ? DQL_CPU_AVX512F : 0;
    features |= __builtin_cpu_supports("avx512bw") ? DQL_CPU_AVX512BW : 0;
    features |= __builtin_cpu_supports("avx512dq") ? DQL_CPU_AVX512DQ : 0;
    features |= __builtin_cpu_supports("avx512vl") ? DQL_CPU_AVX512VL : 0;
    features |= __builtin_cpu_supports("avx512vbmi") ? DQL_CPU_AVX512VBMI : 0;
    /* Not every compiler's builtin knows F16C; "avx" also says that the OS keeps the registers it works on. */
    unsigned a, b, c, d;
    if (__builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C))
        features |= DQL_CPU_F16C;
#elif defined(__aarch64__)
    features |= DQL_CPU_NEON; /* in every AArch64 that has an OS */
#if defined(__linux__)
    enum { SVE = 1 << 22 /* of AT_HWCAP */, SVE2 = 1 << 1 /* of AT_HWCAP2 */ };
    features |= getauxval(AT_HWCAP) & SVE ? DQL_CPU_SVE : 0;
    features |= getauxval(AT_HWCAP2) & SVE2 ? DQL_CPU_SVE2 : 0;
#endif
#endif
    return features;
}

static size_t os_last_level_cache(void) {
    long size = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size <= 0)
        size = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return size > 0 ? (size_t)size : 0;
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
     * version than the one that this was compiled with: what the compiler and the OS deny is not there. */
    const uint32_t features = (has_cpuinfo ? dql_cpu_ask_cpuinfo() : UINT32_MAX) & dql_cpu_ask_builtin();
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
