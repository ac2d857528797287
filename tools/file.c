#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_errno(problem *why, const char *file) {
    return fail(why, file, "%s", strerror(errno));
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static bool open_regular(int *fd, uint64_t *size, const char *file, problem *why) {
    struct stat status;
    *fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return fail_errno(why, file);
    if (fstat(*fd, &status) != 0)
        fail_errno(why, file);
    else if (S_ISDIR(status.st_mode))
        fail(why, file, "is a folder, not a file");
    else if (!S_ISREG(status.st_mode))
        fail(why, file, "is not a regular file");
    else {
        *size = (uint64_t)status.st_size;
        return true;
    }
    close(*fd);
    return false;
}

static bool read_bytes(uint8_t *data, size_t size, int fd, uint64_t offset, const char *file, problem *why) {
    for (size_t done = 0; done < size;) {
        const size_t left = size - done, most = (size_t)1 << 30; /* what no system refuses in one call */
        const ssize_t got = pread(fd, data + done, left < most ? left : most, (off_t)(offset + done));
        if (got == 0)
            return fail(why, file, "became shorter while it was read");
        if (got < 0 && errno != EINTR)
            return fail_errno(why, file);
        if (got > 0)
            done += (size_t)got;
    }
    return true;
}

static bool read_range(bytes *content, int fd, uint64_t offset, size_t size, const char *file, problem *why) {
    content->size = size;
    content->data = malloc(size > 0 ? size : 1);
    if (content->data == NULL)
        return fail(why, file, "no memory for %zu bytes", size);
    if (read_bytes(content->data, size, fd, offset, file, why))
        return true;
    free(content->data);
    *content = (bytes){NULL, 0};
    return false;
}

static bool check_message_size(uint64_t size, const char *file, problem *why) {
    if (size == 0)
        return fail(why, file, "is empty");
    if (size > INT32_MAX)
        return fail(why, file, "has %" PRIu64 " bytes, more than the 2 GiB of a protobuf message", size);
    return true;
}

bool read_file(bytes *content, const char *file, problem *why) {
    int fd = -1;
    uint64_t size = 0;
    *content = (bytes){NULL, 0};
    if (!open_regular(&fd, &size, file, why))
        return false;
    const bool ok = check_message_size(size, file, why) && read_range(content, fd, 0, (size_t)size, file, why);
    close(fd);
    return ok;
}

/* ---- windows ---- */

/* Takes over `fd`. */
static bool make_window(window *w, int fd, uint64_t offset, size_t size, const char *file, problem *why) {
    void *data =
        mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *w = (window){.file = strdup(file), .fd = fd, .offset = offset, .size = size};
    if (data != MAP_FAILED)
        w->data = data;
    if (w->data == NULL || w->file == NULL) {
        window_close(w);
        return fail(why, file, "no memory for %zu bytes", size);
    }
#ifdef MADV_NOHUGEPAGE /* a byte here and a byte there would take 2 MiB each */
    madvise(data, size, MADV_NOHUGEPAGE);
#endif
    return true;
}

bool window_open(window *w, const char *file, problem *why) {
    int fd = -1;
    uint64_t size = 0;
    *w = (window){.fd = -1};
    if (!open_regular(&fd, &size, file, why))
        return false;
    if (check_message_size(size, file, why))
        return make_window(w, fd, 0, (size_t)size, file, why);
    close(fd);
    return false;
}

void window_close(window *w) {
    if (w->data != NULL)
        munmap(w->data, w->size > 0 ? w->size : 1);
    if (w->fd > 0)
        close(w->fd);
    free(w->file);
    *w = (window){.fd = -1};
}

bool window_copy(const window *w, uint8_t *to, const uint8_t *place, size_t size, problem *why) {
    return read_bytes(to, size, w->fd, w->offset + (uint64_t)(place - w->data), w->file, why);
}

bool window_read(const window *w, const uint8_t *place, size_t size, problem *why) {
    return window_copy(w, w->data + (place - w->data), place, size, why);
}

void window_drop(const window *w, const uint8_t *place, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (size_t)(place - w->data), end = begin + size;
    const size_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (first < last)
        madvise(w->data + first, last - first, MADV_DONTNEED);
}

/* ---- names ---- */

bool file_identify(file_id *id, const char *file) {
    struct stat status;
    if (stat(file, &status) != 0)
        return false;
    *id = (file_id){status.st_dev, status.st_ino, (uint64_t)status.st_size};
    return true;
}

static int compare_ids(file_id a, file_id b) {
    return a.device != b.device ? (a.device > b.device) - (a.device < b.device)
                                : (a.inode > b.inode) - (a.inode < b.inode);
}

bool same_file(file_id a, file_id b) {
    return compare_ids(a, b) == 0;
}

/* Where a file is in the set, or belongs. */
static size_t place_in_set(const file_set *s, file_id id) {
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_ids(s->ids[middle], id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool file_set_has(const file_set *s, file_id id) {
    const size_t place = place_in_set(s, id);
    return place < s->count && same_file(s->ids[place], id);
}

bool file_set_add(file_set *s, const char *file, problem *why) {
    file_id id;
    if (!file_identify(&id, file) || file_set_has(s, id))
        return true;
    file_id *longer = realloc(s->ids, (s->count + 1) * sizeof *longer);
    if (longer == NULL)
        return fail(why, file, "no memory");
    s->ids = longer;
    const size_t place = place_in_set(s, id);
    memmove(s->ids + place + 1, s->ids + place, (s->count - place) * sizeof *s->ids);
    s->ids[place] = id;
    s->count++;
    return true;
}

void file_set_free(file_set *s) {
    free(s->ids);
    *s = (file_set){NULL, 0};
}

bool join_path(char **path, const char *folder, const char *name, problem *why) {
    const size_t size = strlen(folder) + strlen(name) + 2;
    *path = malloc(size);
    if (*path == NULL)
        return fail(why, folder, "no memory");
    snprintf(*path, size, "%s/%s", folder, name);
    return true;
}

bool folder_of(char **folder, const char *file, problem *why) {
    const char *slash = strrchr(file, '/');
    *folder = slash == NULL ? strdup(".") : strndup(file, slash == file ? 1 : (size_t)(slash - file));
    return *folder != NULL || fail(why, file, "no memory");
}

/* The rules for paths hold on every system, so that a model is good everywhere or nowhere. */
static bool is_relative_inside(const char *location) {
    const bool drive = location[0] != '\0' && location[1] == ':';
    size_t depth = 0;
    if (location[0] == '\0' || location[0] == '/' || drive || strchr(location, '\\') != NULL)
        return false;
    for (const char *part = location; *part != '\0'; part += *part == '/') {
        const size_t length = strcspn(part, "/");
        const bool up = length == 2 && strncmp(part, "..", 2) == 0;
        if (up && depth-- == 0)
            return false;
        depth += !up && length > 0 && !(length == 1 && part[0] == '.');
        part += length;
    }
    return true;
}

static bool is_inside(const char *real_path, const char *real_folder) {
    const size_t length = strcmp(real_folder, "/") == 0 ? 0 : strlen(real_folder);
    return strncmp(real_path, real_folder, length) == 0 && real_path[length] == '/';
}

bool owner_folders_find(owner_folders *f, const char *owner, problem *why) {
    char *folder, *real = realpath(owner, NULL);
    *f = (owner_folders){{NULL, NULL}, 0};
    bool ok = folder_of(&folder, owner, why);
    if (ok && (f->real[0] = realpath(folder, NULL)) != NULL)
        f->count = 1;
    if (ok && f->count == 1 && real != NULL && folder_of(&f->real[1], real, why))
        f->count = strcmp(f->real[0], f->real[1]) == 0 ? 1 : 2;
    free(folder);
    free(real);
    if (f->count > 0)
        return true;
    if (ok)
        fail_errno(why, owner);
    owner_folders_free(f);
    return false;
}

void owner_folders_free(owner_folders *f) {
    free(f->real[0]);
    free(f->real[1]);
    *f = (owner_folders){{NULL, NULL}, 0};
}

/* Where a location leads from the first folder that has it; NULL if none has. */
static char *follow(const owner_folders *f, const char *location, problem *why) {
    char *real = NULL;
    for (size_t i = 0; real == NULL && i < f->count; i++) {
        char *path;
        if (!join_path(&path, f->real[i], location, why))
            break;
        real = realpath(path, NULL);
        free(path);
    }
    return real;
}

bool external_path(char **path, const char *owner, const char *location, problem *why) {
    owner_folders f;
    *path = NULL;
    if (!is_relative_inside(location)) {
        fail(why, owner, "external data at \"%.200s\", which is not a path inside the file's folder", location);
        return false;
    }
    if (!owner_folders_find(&f, owner, why))
        return false;
    char *real = follow(&f, location, why);
    const int error = errno;
    bool ok = false;
    for (size_t i = 0; real != NULL && i < f.count; i++)
        ok |= is_inside(real, f.real[i]);
    if (real == NULL)
        fail(why, owner, "external data at \"%.200s\": %s", location, strerror(error));
    else if (!ok)
        fail(why, owner, "external data at \"%.200s\" leads out of the file's folder", location);
    owner_folders_free(&f);
    if (ok)
        *path = real;
    else
        free(real);
    return ok;
}

static bool open_external(int *fd, const char *owner, const char *location, uint64_t offset, size_t size,
                          problem *why) {
    char *path;
    uint64_t file_size = 0;
    bool ok = external_path(&path, owner, location, why) && open_regular(fd, &file_size, path, why);
    if (ok && (offset > file_size || size > file_size - offset)) {
        ok = fail(why, owner, "external data at \"%.200s\": bytes %" PRIu64 " + %zu of a file of %" PRIu64, location,
                  offset, size, file_size);
        close(*fd);
    }
    free(path);
    return ok;
}

bool find_external(const char *owner, const char *location, uint64_t offset, size_t size, problem *why) {
    int fd = -1;
    if (!open_external(&fd, owner, location, offset, size, why))
        return false;
    close(fd);
    return true;
}

bool window_open_external(window *w, const char *owner, const char *location, uint64_t offset, size_t size,
                          problem *why) {
    int fd = -1;
    *w = (window){.fd = -1};
    return open_external(&fd, owner, location, offset, size, why) && make_window(w, fd, offset, size, location, why);
}

bool read_external(bytes *content, const char *owner, const char *location, uint64_t offset, size_t size,
                   problem *why) {
    int fd = -1;
    *content = (bytes){NULL, 0};
    if (!open_external(&fd, owner, location, offset, size, why))
        return false;
    const bool ok = read_range(content, fd, offset, size, location, why);
    close(fd);
    return ok;
}
