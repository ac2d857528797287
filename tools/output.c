#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 2 };

/* What a signal has to remove. */
static char *volatile unfinished[MOST_OUTPUTS];

/* SIGXCPU: no more time. */
static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void on_signal(int number) {
    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (unfinished[i] != NULL)
            unlink(unfinished[i]);
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
    return fail(why, o->file, "%s", strerror(errno));
}

/* Nothing comes between the file and the note of it. */
static bool create(output *o, mode_t mode) {
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
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

/* Gives the new file the old one's owner and group, as far as the process may, and its permissions; but none to the
 * group that the new file has, if it can't have the old one's. */
static bool keep_permissions(const output *o, const struct stat *old) {
    struct stat status;
    mode_t mode = old->st_mode & 0777;
    if (fchown(o->fd, old->st_uid, old->st_gid) != 0 && fchown(o->fd, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707;
    return fstat(o->fd, &status) == 0 && ((status.st_mode & 0777) == mode || fchmod(o->fd, mode) == 0);
}

/* Whether a file may be written. Sets *old to the one that is there, st_nlink 0 if none is. */
static bool check_target(struct stat *old, const char *file, const file_set *read, problem *why) {
    file_id id;
    *old = (struct stat){.st_nlink = 0};
    if (strcmp(file, "-") == 0)
        return fail(why, file, "can't be standard output here; a file of this name is ./-");
    if (file_identify(&id, file) && file_set_has(read, id))
        return fail(why, file, "is read by the same command: it would be overwritten");
    if (lstat(file, old) != 0) /* creating says what is wrong with the folder */
        return true;
    if (S_ISLNK(old->st_mode))
        return fail(why, file, "is a symbolic link: name the file itself");
    if (!S_ISREG(old->st_mode)) /* rename would replace even /dev/null */
        return fail(why, file, "is not a regular file");
    return access(file, W_OK) == 0 || fail(why, file, "%s", strerror(errno));
}

bool output_open(output *o, const char *file, const file_set *read, problem *why) {
    struct stat old;
    *o = (output){.file = file, .fd = -1};
    if (!check_target(&old, file, read, why))
        return false;

    const size_t size = strlen(file) + 32;
    o->temporary = malloc(size);
    if (o->temporary == NULL)
        return fail(why, file, "no memory");
    snprintf(o->temporary, size, "%s.%ld.tmp", file, (long)getpid());
    catch_signals();
    /* What replaces a file is nobody else's to open before it has that file's owner and group. */
    if (!create(o, old.st_nlink > 0 ? old.st_mode & 0700 : 0666)) {
        if (errno == EEXIST)
            fail(why, o->temporary, "is in the way: dql may have been killed while it wrote it");
        else
            fail_errno(o, why);
        forget(o);
        return false;
    }
    if (old.st_nlink == 0 || keep_permissions(o, &old))
        return true;
    fail_errno(o, why);
    output_discard(o);
    return false;
}

/* write or pwrite, to the end. An offset of -1: a stream. */
static bool write_bytes(int fd, const uint8_t *data, size_t size, int64_t offset, const char *file, problem *why) {
    for (size_t done = 0; done < size;) {
        const size_t left = size - done, most = (size_t)1 << 30; /* what no system refuses in one call */
        const size_t next = left < most ? left : most;
        const ssize_t written =
            offset < 0 ? write(fd, data + done, next) : pwrite(fd, data + done, next, (off_t)offset + (off_t)done);
        if (written < 0 && errno != EINTR)
            return fail(why, file, "%s", strerror(errno));
        if (written > 0)
            done += (size_t)written;
    }
    return true;
}

bool output_write(const output *o, const void *data, size_t size, uint64_t offset, problem *why) {
    return write_bytes(o->fd, data, size, (int64_t)offset, o->file, why);
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

/* ---- streams ---- */

bool is_standard_output(const char *file) {
    return strcmp(file, "-") == 0 || strcmp(file, "/dev/stdout") == 0;
}

static bool is_stream(const struct stat *status) {
    return S_ISFIFO(status->st_mode) || S_ISCHR(status->st_mode);
}

/* It may have been replaced since somebody looked. */
static bool check_stream(int fd, const char *file, const file_set *read, problem *why) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(why, file, "%s", strerror(errno));
    if (isatty(fd))
        return fail(why, file, "is a terminal: it would take the bytes for commands");
    if (file_set_has(read, (file_id){status.st_dev, status.st_ino, 0}))
        return fail(why, file, "is read by the same command: it would be overwritten");
    return is_standard_output(file) || is_stream(&status) || fail(why, file, "is not a pipe or device any more");
}

static bool write_stream(const char *file, bytes content, const file_set *read, problem *why) {
    const bool standard = is_standard_output(file);
    const int fd = standard ? STDOUT_FILENO : open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(why, file, "%s", strerror(errno));
    bool ok = check_stream(fd, file, read, why) && write_bytes(fd, content.data, content.size, -1, file, why);
    if (!standard && close(fd) != 0 && ok)
        ok = fail(why, file, "%s", strerror(errno));
    return ok;
}

bool output_write_all(const char *file, bytes content, const file_set *read, problem *why) {
    struct stat status;
    output o;
    if (is_standard_output(file) || (stat(file, &status) == 0 && is_stream(&status)))
        return write_stream(file, content, read, why);
    if (!output_open(&o, file, read, why))
        return false;
    if (output_write(&o, content.data, content.size, 0, why))
        return output_commit(&o, why);
    output_discard(&o);
    return false;
}
