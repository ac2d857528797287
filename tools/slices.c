#include "slices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What a thread dequantizes at once: small enough to be still in its cache when it is written. As much of x is whole
 * pages, of whatever type. */
enum { SLICE_BYTES = 1 << 20 };

typedef struct {
    const slices *work;
    size_t y_size, elements, count; /* of an element, in a slice, of slices */
    atomic_size_t next, done;       /* slice, elements */
    pthread_mutex_t lock;           /* of what follows */
    bool failed;
    problem why;
} shared;

typedef struct {
    shared *s;
    bool shows; /* draws the bar */
} worker;

static void note_failure(shared *s, const problem *why) {
    pthread_mutex_lock(&s->lock);
    if (!s->failed)
        s->why = *why;
    s->failed = true;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->next, s->count); /* nobody starts another one */
}

static bool read_x(const tensor *x, size_t begin, size_t size, problem *why) {
    if (x->in.data == NULL)
        return true;
    if (!window_read(&x->in, x->data + begin, size, why))
        return false;
    swap_little_endian(x->type, x->data + begin, size);
    return true;
}

static void drop_x(const tensor *x, size_t begin, size_t size) {
    if (x->in.data != NULL)
        window_drop(&x->in, x->data + begin, size);
}

static bool run_slice(shared *s, size_t slice, uint8_t *y, problem *why) {
    const slices *w = s->work;
    const size_t begin = slice * s->elements, left = dql_plan_count(w->plan) - begin;
    const size_t end = begin + (left < s->elements ? left : s->elements);
    /* Slices begin at whole bytes. */
    const size_t first = bytes_of_elements(w->x->type, begin), last = bytes_of_elements(w->x->type, end);
    if (!read_x(w->x, first, last - first, why))
        return false;
    const dql_status status = dql_run_range(w->plan, w->x->data, w->scale, w->zero, begin, end, y);
    if (status != DQL_OK)
        return fail(why, w->file, "%s", dql_status_text(status));
    drop_x(w->x, first, last - first);
    const size_t size = (end - begin) * s->y_size;
    swap_little_endian(w->y_type, y, size);
    atomic_fetch_add(&s->done, end - begin);
    return output_write(w->to, y, size, w->offset + (uint64_t)begin * s->y_size, why);
}

static void *run_slices(void *argument) {
    const worker *w = argument;
    shared *s = w->s;
    problem why;
    uint8_t *y = malloc(SLICE_BYTES);
    if (y == NULL) {
        fail(&why, s->work->file, "no memory");
        note_failure(s, &why);
    }
    for (size_t slice; (slice = atomic_fetch_add(&s->next, 1)) < s->count;) {
        if (!run_slice(s, slice, y, &why))
            note_failure(s, &why);
        if (w->shows)
            progress_show(s->work->bar, s->work->done + (uint64_t)atomic_load(&s->done) * s->y_size);
    }
    free(y);
    return NULL;
}

/* Threads that can't be had are done without. */
static void run_workers(shared *s, size_t jobs) {
    pthread_t threads[MOST_JOBS];
    worker others = {s, false}, own = {s, true};
    size_t started = 0;
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, run_slices, &others) == 0)
        started++;
    run_slices(&own);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

bool slices_run(const slices *w, unsigned jobs, problem *why) {
    shared s = {.work = w, .y_size = type_bits(w->y_type) / 8};
    const size_t count = dql_plan_count(w->plan);
    s.elements = SLICE_BYTES / s.y_size;
    s.count = count / s.elements + (count % s.elements != 0);
    pthread_mutex_init(&s.lock, NULL);
    run_workers(&s, jobs < s.count ? jobs : s.count > 0 ? s.count : 1);
    pthread_mutex_destroy(&s.lock);
    drop_x(w->x, 0, w->x->size);
    if (s.failed)
        *why = s.why;
    return !s.failed;
}
