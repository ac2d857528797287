#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 2 };

/* What a signal has to remove. */
static char *volatile unfinished[MOST_OUTPUTS];

/* SIGXCPU: no more time. SIGBUS: a file became shorter while it was mapped. */
static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXCPU, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Threads may meet the end of a mapped file at once: the first one does all, and ends the others. */
static void on_signal(int number) {
    static const char text[] = "dql: a file became shorter while it was read\n";
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&busy))
        pause();
    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (unfinished[i] != NULL)
            unlink(unfinished[i]);
    if (number == SIGBUS && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    signal(number, SIG_DFL);
    raise(number); /* comes when this returns */
}

/* Signals that are ignored, as under nohup, stay so. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal}, old;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error of write */
}

static bool fail_errno(const output *o, problem *why) {
    const bool source = errno == EFAULT; /* of bytes in a mapped file */
    return fail(why, o->file, "%s", source ? "what it is made from became shorter" : strerror(errno));
}

/* Nothing comes between the file and the note of it. */
static bool create(output *o) {
    sigset_t all, before;
    size_t slot = 0;
    while (slot < MOST_OUTPUTS && unfinished[slot] != NULL)
        slot++;
    if (slot == MOST_OUTPUTS) {
        errno = EMFILE;
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int error = errno;
    if (o->fd >= 0)
        unfinished[slot] = o->temporary;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return o->fd >= 0;
}

static void forget(output *o) {
    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (unfinished[i] == o->temporary)
            unfinished[i] = NULL;
    free(o->temporary);
    *o = (output){.fd = -1};
}

bool output_open(output *o, const char *file, problem *why) {
    struct stat status;
    *o = (output){.file = file, .fd = -1};
    if (stat(file, &status) == 0 && !S_ISREG(status.st_mode)) /* rename would replace even /dev/null */
        return fail(why, file, "is not a regular file");

    const size_t size = strlen(file) + 32;
    o->temporary = malloc(size);
    if (o->temporary == NULL)
        return fail(why, file, "no memory");
    snprintf(o->temporary, size, "%s.%ld.tmp", file, (long)getpid());
    catch_signals();
    if (create(o))
        return true;
    fail_errno(o, why);
    forget(o);
    return false;
}

bool output_write(const output *o, const void *data, size_t size, uint64_t offset, problem *why) {
    for (size_t done = 0; done < size;) {
        const size_t left = size - done, most = (size_t)1 << 30; /* what no system refuses in one call */
        const ssize_t written =
            pwrite(o->fd, (const uint8_t *)data + done, left < most ? left : most, (off_t)(offset + done));
        if (written < 0 && errno != EINTR)
            return fail_errno(o, why);
        if (written > 0)
            done += (size_t)written;
    }
    return true;
}

bool output_commit(output *o, problem *why) {
    const bool closed = close(o->fd) == 0;
    o->fd = -1;
    if (!closed || rename(o->temporary, o->file) != 0) {
        fail_errno(o, why);
        output_discard(o);
        return false;
    }
    forget(o);
    return true;
}

void output_discard(output *o) {
    if (o->temporary == NULL)
        return;
    if (o->fd >= 0)
        close(o->fd);
    unlink(o->temporary);
    forget(o);
}
