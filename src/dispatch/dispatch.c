/* The rows of isas.def as an array; which of them was picked, and which is forced. */
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

/* 1 if a macro is 1, as -D<macro> makes it; 0 if it is not defined. */
#define IS_1(macro)            IS_1_(macro)
#define IS_1_(value)           IS_1__(COMMA_IF_##value)
#define IS_1__(comma)          SECOND(comma 1, 0, 0)
#define COMMA_IF_1             0,
#define SECOND(a, second, ...) second

/* ISA files that are there: DQL_HAVE_<ID> is set by who builds them. Scalar always is. */
#define DQL_HAVE_SCALAR 1

#define ISA(ID, name, ...) extern const dql_kernels dql_isa_##name;
#include "isas.def"

enum {
#define FEATURE(NAME, name) NAME = DQL_CPU_##NAME,
    DQL_CPU_FEATURES(FEATURE)
#undef FEATURE
};

static const dql_isa_row rows[] = {
#define ISA(ID, name, source, family, needs, ...) {DQL_ISA_##ID, needs, IS_1(DQL_HAVE_##ID) ? &dql_isa_##name : NULL},
#include "isas.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const names[] = {
    [DQL_ISA_AUTO] = "auto",
#define ISA(ID, name, ...) [DQL_ISA_##ID] = #name,
#include "isas.def"
    [DQL_ISA_SVE2] = "sve2", /* reserved: no row has it */
};

/* `picked` is NULL until somebody needs it, `forced` unless dql_isa_force has set it. */
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
        if (!from[r].kernels || !has(features, from[r].needs))
            continue;
        if (wish && strcmp(wish, names[from[r].id]) == 0)
            return &from[r];
        if (!best)
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
        if ((int)rows[r].id == isa && rows[r].kernels)
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
