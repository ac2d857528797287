/* What a call must leave as it was, beyond what every compiler sees to by itself:
 *
 *     the control bits of the floating-point environment: MXCSR, FPCR (the sticky flags of exceptions may be raised);
 *     the upper halves of ymm registers clean, since SSE code of the caller is slow if they are not; only where the
 *     compiler sees to that: gcc does not without optimisation, nor for size;
 *     xmm6 to xmm15, on Windows. */
#ifndef DQL_TESTS_REGISTERS_H
#define DQL_TESTS_REGISTERS_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct registers {
    uint64_t control;
#if defined(_WIN64)
    uint8_t xmm[10][16];
#endif
} registers;

static const char *registers_problem; /* after registers_kept has said no */

#if defined(__x86_64__)

static inline uint64_t control_bits(void) {
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    return mxcsr & 0xffc0; /* without the sticky flags */
}

static inline bool flushes_subnormals(void) {
    return (control_bits() & 0x8040) != 0;
}

#elif defined(__aarch64__)

static inline uint64_t control_bits(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

static inline bool flushes_subnormals(void) {
    return control_bits() >> 24 & 1;
}

#else

static inline uint64_t control_bits(void) {
    return 0;
}

static inline bool flushes_subnormals(void) {
    volatile float smallest = 0x1p-126f;
    const float half = smallest * 0.5f;
    uint32_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits == 0;
}

#endif

/* Where the caller is compiled for AVX, it dirties the registers itself. XSAVE and XRSTOR reach them without an
 * instruction of AVX, of which there should be none outside dql's kernels. */
#if defined(__x86_64__) && !defined(__AVX__) && (defined(__clang__) || !defined(__OPTIMIZE_SIZE__))
#define CHECKS_UPPER_HALVES __builtin_cpu_supports("avx")
#else
#define CHECKS_UPPER_HALVES false
#endif

#if defined(__x86_64__)
enum {
    UPPER_HALVES = 4,
    MXCSR = 24,
    HEADER = 512,
    STATE = 576,
    STATE_SIZE = 256
}; /* a bit, and places in XSAVE's area */

static inline void clean_upper_halves(void) {
    alignas(64) static uint8_t area[STATE + STATE_SIZE]; /* its header says that nothing is in use */
    __asm__ volatile("stmxcsr %0\n\txrstor64 %1"
                     : "=m"(*(uint32_t *)(void *)(area + MXCSR)), "+m"(area)
                     : "a"(UPPER_HALVES), "d"(0));
}

static inline bool upper_halves_clean(void) {
    static const uint8_t nothing[STATE_SIZE] = {0};
    alignas(64) static uint8_t area[STATE + STATE_SIZE];
    memset(area, 0, sizeof area);
    __asm__ volatile("xsave64 %0" : "+m"(area) : "a"(UPPER_HALVES), "d"(0));
    return !(area[HEADER] & UPPER_HALVES) || memcmp(area + STATE, nothing, sizeof nothing) == 0;
}
#else
static inline void clean_upper_halves(void) {}

static inline bool upper_halves_clean(void) {
    return true;
}
#endif

#if defined(_WIN64)
#define EACH_KEPT_XMM(M)                                                                                               \
    M(6, 0) M(7, 16) M(8, 32) M(9, 48) M(10, 64) M(11, 80) M(12, 96) M(13, 112) M(14, 128) M(15, 144)
#define READ_XMM(number, offset) "movups %%xmm" #number ", " #offset "(%0)\n\t"
#define SET_XMM(number, offset)  "movups " #offset "(%0), %%xmm" #number "\n\t"

static const uint8_t known_xmm[10][16] = {{6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}};

/* The compiler is not told, or it would save and restore them around a call by itself. */
static inline void read_kept_xmm(uint8_t to[10][16]) {
    __asm__ volatile(EACH_KEPT_XMM(READ_XMM)::"r"(to) : "memory");
}

static inline void set_kept_xmm(const uint8_t from[10][16]) {
    __asm__ volatile(EACH_KEPT_XMM(SET_XMM)::"r"(from) : "memory");
}
#endif

static inline registers registers_set(void) {
    registers before;
    memset(&before, 0, sizeof before);
    before.control = control_bits();
    if (CHECKS_UPPER_HALVES)
        clean_upper_halves();
#if defined(_WIN64)
    read_kept_xmm(before.xmm);
    set_kept_xmm(known_xmm);
#endif
    return before;
}

static inline bool registers_kept(const registers *before) {
    registers_problem = NULL;
#if defined(_WIN64)
    uint8_t xmm[10][16];
    read_kept_xmm(xmm);
    set_kept_xmm(before->xmm);
    if (memcmp(xmm, known_xmm, sizeof xmm) != 0)
        registers_problem = "xmm6 to xmm15 are not kept";
#endif
    if (CHECKS_UPPER_HALVES && !upper_halves_clean())
        registers_problem = "the upper halves of ymm registers are left dirty";
    if (control_bits() != before->control)
        registers_problem = "the floating-point environment is changed";
    return !registers_problem;
}

#endif
