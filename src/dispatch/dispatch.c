/* One array of ISAs, one atomic pointer to the active one. */
#define _GNU_SOURCE /* secure_getenv */
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
};

/* The ISAs of this build, best first. DQL_HAVE_<ISA> is set by CMake for those that the compiler can build. */
extern const dql_kernels dql_isa_scalar;
static const dql_isa_row rows[] = {
    {DQL_ISA_SCALAR, &dql_isa_scalar, DQL_CPU_NONE, DQL_CPU_NONE},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* NULL until somebody needs it. */
static _Atomic(const dql_isa_row *) active;

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

const dql_isa_row *dql_isa_pick(uint32_t features, const char *wish) {
    const dql_isa_row *best = NULL;
    for (size_t r = 0; r < ROWS; r++) {
        if (!has(features, rows[r].needs))
            continue;
        if (wish && strcmp(wish, names[rows[r].id]) == 0)
            return &rows[r];
        if (!best && has(features, rows[r].prefers))
            best = &rows[r];
    }
    return best;
}

static const dql_isa_row *pick_at_load(void) {
    return dql_isa_pick(dql_cpu_features(), environment("DQL_ISA"));
}

/* Two first callers may both pick: they pick the same. A force between a pick and its publication stays. */
static const dql_isa_row *active_row(void) {
    const dql_isa_row *row = atomic_load_explicit(&active, memory_order_relaxed);
    if (!row) {
        const dql_isa_row *picked = pick_at_load();
        row = atomic_compare_exchange_strong(&active, &row, picked) ? picked : row;
    }
    return row;
}

#if defined(__GNUC__)
/* Elsewhere the first caller picks. */
__attribute__((constructor)) static void pick_when_loaded(void) {
    active_row();
}
#endif

static const dql_isa_row *row_of(dql_isa isa) {
    for (size_t r = 0; r < ROWS; r++)
        if (rows[r].id == isa)
            return &rows[r];
    return NULL;
}

const dql_isa_row *dql_isa_find(dql_isa isa) {
    if (isa == DQL_ISA_AUTO)
        return active_row();
    const dql_isa_row *row = row_of(isa);
    return row && has(dql_cpu_features(), row->needs) ? row : NULL;
}

bool dql_isa_compiled(dql_isa isa) {
    return row_of(isa) != NULL;
}

dql_isa dql_isa_active(void) {
    return active_row()->id;
}

bool dql_isa_available(dql_isa isa) {
    return dql_isa_find(isa) != NULL;
}

const char *dql_isa_name(dql_isa isa) {
    return (size_t)isa < sizeof names / sizeof *names ? names[isa] : NULL;
}

dql_status dql_isa_force(dql_isa isa) {
    const dql_isa_row *row = isa == DQL_ISA_AUTO ? pick_at_load() : dql_isa_find(isa);
    if (!row)
        return DQL_ERROR_ISA;
    atomic_store_explicit(&active, row, memory_order_relaxed);
    return DQL_OK;
}
