/* Bytes in files, and the paths to them. */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include "wire.h"

typedef struct {
    uint8_t *data; /* freed by the caller; NULL after a failure */
    size_t size;
} bytes;

/* Reads a regular file of 1 to INT32_MAX bytes: what protobuf allows a message. */
bool read_file(bytes *content, const char *file, problem *why);

/* The same without a copy; freed by unmap_file. A file that becomes shorter meanwhile ends the program by SIGBUS. */
bool map_file(view *content, const char *file, problem *why);
void unmap_file(view *content);

/* Reads what a tensor in `owner` keeps in another file: `size` bytes from `offset` on of `location`, which must be a
 * relative path that stays in the folder of `owner`, through symbolic links too. */
bool read_external(bytes *content, const char *owner, const char *location, uint64_t offset, size_t size, problem *why);

/* Writes a file whole or not at all. */
bool write_file(const char *file, bytes content, problem *why);

/* Whether both are there and are one file or folder. */
bool same_file(const char *a, const char *b);

/* The folder that a file is in, freed by the caller. */
bool folder_of(char **folder, const char *file, problem *why);

/* "folder/name", freed by the caller. */
bool join_path(char **path, const char *folder, const char *name, problem *why);

#endif
