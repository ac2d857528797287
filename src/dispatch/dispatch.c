/* One array of ISAs; which of them was picked, and which is forced. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "dispatch/dispatch.h"

#include "dispatch/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#include <unistd.h>
#endif

static const char *const names[] = {
    [DQL_ISA_AUTO] = "auto",
    [DQL_ISA_SCALAR] = "scalar",
    [DQL_ISA_AVX2] = "avx2",
    [DQL_ISA_AVX512] = "avx512",
    [DQL_ISA_AVX512VBMI] = "avx512vbmi",
    [DQL_ISA_NEON] = "neon",
    [DQL_ISA_SVE] = "sve",
    [DQL_ISA_SVE2] = "sve2",
    [DQL_ISA_SIMDE] = "simde",
    [DQL_ISA_AVX512BF16] = "avx512bf16",
};

/* The ISAs of this build, best first. DQL_HAVE_<ISA> is set by CMake for those that the compiler can build. */
extern const dql_kernels dql_isa_avx512bf16, dql_isa_avx512vbmi, dql_isa_avx512, dql_isa_avx2, dql_isa_sve,
    dql_isa_neon, dql_isa_simde, dql_isa_scalar;
/* With what the compiler takes for granted beside it. */
enum {
    AVX2 = DQL_CPU_AVX2 | DQL_CPU_F16C,
    AVX512 = AVX2 | DQL_CPU_AVX512F | DQL_CPU_AVX512BW | DQL_CPU_AVX512DQ | DQL_CPU_AVX512VL,
    AVX512VBMI = AVX512 | DQL_CPU_AVX512VBMI,
};
static const dql_isa_row rows[] = {
#ifdef DQL_HAVE_AVX512BF16
    {DQL_ISA_AVX512BF16, &dql_isa_avx512bf16, AVX512VBMI | DQL_CPU_AVX512BF16, DQL_CPU_NONE},
#endif
#ifdef DQL_HAVE_AVX512VBMI
    {DQL_ISA_AVX512VBMI, &dql_isa_avx512vbmi, AVX512VBMI, DQL_CPU_NONE},
#endif
#ifdef DQL_HAVE_AVX512
    {DQL_ISA_AVX512, &dql_isa_avx512, AVX512, DQL_CPU_NONE},
#endif
#ifdef DQL_HAVE_AVX2
    {DQL_ISA_AVX2, &dql_isa_avx2, AVX2, DQL_CPU_NONE},
#endif
/* Also where its vectors have 128 bits, as NEON's: its loads widen what they load, and code for parts of vectors is
 * that for whole ones. docs/performance.md has what both are expected to take. */
#ifdef DQL_HAVE_SVE
    {DQL_ISA_SVE, &dql_isa_sve, DQL_CPU_SVE, DQL_CPU_NONE},
#endif
#ifdef DQL_HAVE_NEON
    {DQL_ISA_NEON, &dql_isa_neon, DQL_CPU_NEON, DQL_CPU_NONE},
#endif
#ifdef DQL_HAVE_SIMDE
    {DQL_ISA_SIMDE, &dql_isa_simde, DQL_CPU_NONE, DQL_CPU_NONE},
#endif
    {DQL_ISA_SCALAR, &dql_isa_scalar, DQL_CPU_NONE, DQL_CPU_NONE},
};
enum { ROWS = sizeof rows / sizeof *rows };

_Static_assert(sizeof names / sizeof *names == DQL_ISA_AVX512BF16 + 1, "every ISA has a name");

/* NULL until somebody needs it; NULL unless dql_isa_force has set it. */
static _Atomic(const dql_isa_row *) picked, forced;

static const char *environment(const char *variable) {
#if defined(__linux__) && !defined(__ANDROID__)
    return secure_getenv(variable);
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
    return issetugid() ? NULL : getenv(variable);
#else
    return getenv(variable);
#endif
}

static bool has(uint32_t features, uint32_t all_of) {
    return (features & all_of) == all_of;
}

const dql_isa_row *dql_isa_rows(size_t *count) {
    *count = ROWS;
    return rows;
}

const dql_isa_row *dql_isa_pick(const dql_isa_row *from, size_t count, uint32_t features, const char *wish) {
    const dql_isa_row *best = NULL;
    for (size_t r = 0; r < count; r++) {
        if (!has(features, from[r].needs))
            continue;
        if (wish && strcmp(wish, names[from[r].id]) == 0)
            return &from[r];
        if (!best && has(features, from[r].prefers))
            best = &from[r];
    }
    return best;
}

/* Two first callers may both pick: they pick the same. */
static const dql_isa_row *active_row(void) {
    const dql_isa_row *row = atomic_load_explicit(&forced, memory_order_relaxed);
    if (!row)
        row = atomic_load_explicit(&picked, memory_order_relaxed);
    if (!row) {
        row = dql_isa_pick(rows, ROWS, dql_cpu_features(), environment("DQL_ISA"));
        atomic_store_explicit(&picked, row, memory_order_relaxed);
    }
    return row;
}

#if defined(__GNUC__)
/* Elsewhere the first caller picks. */
__attribute__((constructor)) static void pick_when_loaded(void) {
    active_row();
}
#endif

static const dql_isa_row *row_of(int isa) {
    for (size_t r = 0; r < ROWS; r++)
        if ((int)rows[r].id == isa)
            return &rows[r];
    return NULL;
}

const dql_isa_row *dql_isa_find(int isa) {
    if (isa == DQL_ISA_AUTO)
        return active_row();
    const dql_isa_row *row = row_of(isa);
    return row && has(dql_cpu_features(), row->needs) ? row : NULL;
}

bool dql_isa_compiled(int isa) {
    return row_of(isa) != NULL;
}

dql_isa dql_isa_active(void) {
    return active_row()->id;
}

bool dql_isa_available(dql_isa isa) {
    return dql_isa_find((int)isa) != NULL;
}

const char *dql_isa_name(dql_isa isa) {
    return (size_t)isa < sizeof names / sizeof *names ? names[isa] : NULL;
}

dql_status dql_isa_force(dql_isa isa) {
    const dql_isa_row *row = isa == DQL_ISA_AUTO ? NULL : dql_isa_find((int)isa);
    if (!row && isa != DQL_ISA_AUTO)
        return DQL_ERROR_ISA;
    atomic_store_explicit(&forced, row, memory_order_relaxed);
    return DQL_OK;
}
