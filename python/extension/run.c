#define _GNU_SOURCE /* sched_getaffinity */
#include "run.h"

#include "dispatch/cpu.h"
#include "pack.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- elements that come a byte each ---- */

enum { PACKED_AT_ONCE = 1 << 16 }; /* elements: their codes, and y of 256 KiB, stay in the second-level cache */

static dql_status run_unpacked(const job *j, size_t begin, size_t end, char *y) {
    unsigned char codes[PACKED_AT_ONCE / 8 * 7 + 8];
    const unsigned bits = j->x_type->bits;
    dql_status status = DQL_OK;
    for (size_t at = begin; at < end && status == DQL_OK;) {
        const size_t from = at - at % PACK_ELEMENTS, stop = end - from > PACKED_AT_ONCE ? from + PACKED_AT_ONCE : end;
        pack(codes, (const unsigned char *)j->x + from, stop - from, bits);
        /* The library wants the address of the whole tensor, and reads no more of it than the range. */
        const uintptr_t whole = (uintptr_t)codes - from / PACK_ELEMENTS * bits;
        status = dql_run_range(&j->plan, (const void *)whole, j->scale, j->zero, at, stop,
                               y + (at - begin) * bytes_of_type(j->y_type));
        at = stop;
    }
    return status;
}

dql_status run_range(const job *j, size_t begin, size_t end, void *y) {
    if (j->unpacked && begin < end && end <= j->count)
        return run_unpacked(j, begin, end, y);
    return dql_run_range(&j->plan, j->x, j->scale, j->zero, begin, end, y);
}

dql_status run_rows(const job *j, size_t begin, size_t length, size_t rows, size_t x_stride, void *y, size_t y_stride) {
    if (!j->unpacked || length == 0 || rows == 0)
        return dql_run_rows(&j->plan, j->x, j->scale, j->zero, begin, length, rows, x_stride, y, y_stride);
    if (begin > j->count || length > j->count - begin ||
        (x_stride > 0 && rows - 1 > (j->count - begin - length) / x_stride) || (rows > 1 && y_stride < length))
        return DQL_ERROR_RANGE;
    dql_status status = DQL_OK;
    for (size_t row = 0; row < rows && status == DQL_OK; row++) {
        const size_t from = begin + row * x_stride;
        status = run_unpacked(j, from, from + length, (char *)y + row * y_stride * bytes_of_type(j->y_type));
    }
    return status;
}

/* ---- threads ---- */

enum { SLICE_BYTES = 1 << 20 }; /* of y: large enough to cost nothing, small enough to balance */

/* What the threads of a call share: each takes the next slice until there is none. */
typedef struct {
    const job *j;
    char *y;
    size_t slices;
    atomic_size_t next;
    atomic_int status;
} team;

static void *work(void *argument) {
    team *t = argument;
    size_t slice;
    while ((slice = atomic_fetch_add(&t->next, 1)) < t->slices) {
        size_t begin, end;
        dql_plan_slice(&t->j->plan, t->slices, slice, &begin, &end);
        const dql_status status = run_range(t->j, begin, end, t->y + begin * bytes_of_type(t->j->y_type));
        if (status != DQL_OK)
            atomic_store(&t->status, (int)status);
    }
    return NULL;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

dql_status run_on_threads(const job *j, size_t threads, void *y) {
    enum { MOST_THREADS = 256 };
    const size_t bytes = j->count * bytes_of_type(j->y_type), slices = bytes / SLICE_BYTES + (bytes % SLICE_BYTES != 0);
    threads = least(least(threads, MOST_THREADS), slices);
    if (threads < 2)
        return run_range(j, 0, j->count, y);
    team t = {.j = j, .y = y, .slices = slices};
    pthread_t others[MOST_THREADS];
    size_t started = 0;
    /* A thread that can't be had leaves its slices to the others. */
    while (started < threads - 1 && pthread_create(&others[started], NULL, work, &t) == 0)
        started++;
    work(&t);
    while (started > 0)
        pthread_join(others[--started], NULL);
    return (dql_status)atomic_load(&t.status);
}

bool is_streamed_in_parts(size_t bytes, bool unpacked, size_t threads) {
    if (!unpacked && threads < 2)
        return false;
    if (bytes <= SLICE_BYTES)
        return false;
    return bytes > dql_cpu_last_level_cache();
}

size_t usable_cpus(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (size_t)CPU_COUNT(&set);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}
