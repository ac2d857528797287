#include "file.h"

#include "output.h"
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

bool map_file(view *content, const char *file, problem *why) {
    int fd = -1;
    uint64_t size = 0;
    *content = (view){NULL, 0};
    if (!open_regular(&fd, &size, file, why))
        return false;
    bool ok = check_message_size(size, file, why);
    if (ok) {
        void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = data != MAP_FAILED || fail_errno(why, file);
        if (ok)
            *content = (view){data, (size_t)size};
    }
    close(fd);
    return ok;
}

void unmap_file(view *content) {
    if (content->data != NULL)
        munmap((void *)(uintptr_t)content->data, content->size);
    *content = (view){NULL, 0};
}

bool same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
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
    if (location[0] == '\0' || location[0] == '/' || drive || strchr(location, '\\') != NULL)
        return false;
    for (const char *part = location; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static bool is_inside(const char *real_path, const char *real_folder) {
    const size_t length = strcmp(real_folder, "/") == 0 ? 0 : strlen(real_folder);
    return strncmp(real_path, real_folder, length) == 0 && real_path[length] == '/';
}

/* Sets *path to the real path, freed by the caller, of a location that may be read. */
static bool resolve_external(char **path, const char *owner, const char *location, problem *why) {
    char *folder = NULL, *joined = NULL, *real_folder = NULL;
    bool ok = false;
    *path = NULL;
    if (!is_relative_inside(location))
        fail(why, owner, "external data at \"%.200s\", which is not a path inside the file's folder", location);
    else if (folder_of(&folder, owner, why) && join_path(&joined, folder, location, why)) {
        real_folder = realpath(folder, NULL);
        *path = realpath(joined, NULL);
        if (real_folder == NULL || *path == NULL)
            fail(why, owner, "external data at \"%.200s\": %s", location, strerror(errno));
        else if (!is_inside(*path, real_folder))
            fail(why, owner, "external data at \"%.200s\" leads out of the file's folder", location);
        else
            ok = true;
    }
    free(folder);
    free(joined);
    free(real_folder);
    return ok;
}

bool read_external(bytes *content, const char *owner, const char *location, uint64_t offset, size_t size,
                   problem *why) {
    char *path;
    int fd = -1;
    uint64_t file_size = 0;
    *content = (bytes){NULL, 0};
    bool ok = resolve_external(&path, owner, location, why) && open_regular(&fd, &file_size, path, why);
    if (ok) {
        if (offset > file_size || size > file_size - offset)
            ok = fail(why, owner, "external data at \"%.200s\": bytes %" PRIu64 " + %zu of a file of %" PRIu64,
                      location, offset, size, file_size);
        else
            ok = read_range(content, fd, offset, size, path, why);
        close(fd);
    }
    free(path);
    return ok;
}

bool write_file(const char *file, bytes content, problem *why) {
    output o;
    if (!output_open(&o, file, why))
        return false;
    if (output_write(&o, content.data, content.size, 0, why))
        return output_commit(&o, why);
    output_discard(&o);
    return false;
}
