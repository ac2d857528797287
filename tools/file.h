/* Bytes in files, and the paths to them. */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include "problem.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
    uint8_t *data; /* freed by the caller; NULL after a failure */
    size_t size;
} bytes;

/* Reads a regular file of 1 to INT32_MAX bytes: what protobuf allows a message. */
bool read_file(bytes *content, const char *file, problem *why);

/* Bytes of a file that have a place in memory, but are only there once they have been read, and take memory from then
 * on until they are dropped. Nothing else that happens to the file changes them, and one that becomes shorter is an
 * error; of a mapped file it would be a signal. */
typedef struct {
    char *file; /* to blame */
    int fd;
    uint64_t offset; /* in the file */
    uint8_t *data;   /* NULL: not open */
    size_t size;
} window;

/* Tensors of fewer bytes are not worth a window, or to be left unread in one. */
enum { LEAST_UNREAD = 1 << 20 };

/* A window on all of a regular file of 1 to INT32_MAX bytes, with nothing read. */
bool window_open(window *w, const char *file, problem *why);
void window_close(window *w);

/* Reads bytes to their place. Threads may read at once. */
bool window_read(const window *w, const uint8_t *place, size_t size, problem *why);

/* The same to another place; the window stays as it is. */
bool window_copy(const window *w, uint8_t *to, const uint8_t *place, size_t size, problem *why);

/* Gives back the memory of bytes that are not needed again before they are read again, as far as it is theirs alone. */
void window_drop(const window *w, const uint8_t *place, size_t size);

/* The folders that a file's external data may be in, as real paths: that of the name it is called by and, where this is
 * a link, that of the file itself: the files of a Hugging Face cache are links to others. */
typedef struct {
    char *real[2];
    size_t count;
} owner_folders;

bool owner_folders_find(owner_folders *f, const char *owner, problem *why);
void owner_folders_free(owner_folders *f);

/* Sets *path to the real path, freed by the caller, of what `owner` calls `location`: a relative path that never leaves
 * the folder by "..", is sought in the first of the owner's folders and then the second, and ends in one of them after
 * symbolic links too. */
bool external_path(char **path, const char *owner, const char *location, problem *why);

/* A window on what a tensor in `owner` keeps in another file: `size` bytes from `offset` on. */
bool window_open_external(window *w, const char *owner, const char *location, uint64_t offset, size_t size,
                          problem *why);

/* Reads what a tensor in `owner` keeps in another file: `size` bytes from `offset` on. */
bool read_external(bytes *content, const char *owner, const char *location, uint64_t offset, size_t size, problem *why);

/* Whether read_external would find all of this. */
bool find_external(const char *owner, const char *location, uint64_t offset, size_t size, problem *why);

/* A file by whatever name: a path, a hard link, a symbolic link. */
typedef struct {
    dev_t device;
    ino_t inode;
    uint64_t size;
} file_id;

/* False if there is none. */
bool file_identify(file_id *id, const char *file);
bool same_file(file_id a, file_id b);

/* Those that a command reads, each once. Starts as {0}. */
typedef struct {
    file_id *ids; /* sorted */
    size_t count;
} file_set;

/* Adds a file if it is there. `file` is the one to blame. */
bool file_set_add(file_set *s, const char *file, problem *why);
bool file_set_has(const file_set *s, file_id id);
void file_set_free(file_set *s);

/* The folder that a file is in, freed by the caller. */
bool folder_of(char **folder, const char *file, problem *why);

/* "folder/name", freed by the caller. */
bool join_path(char **path, const char *folder, const char *name, problem *why);

#endif
