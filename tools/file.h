/* Bytes in files, and the paths to them. */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include "problem.h"
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *data; /* freed by the caller; NULL after a failure */
    size_t size;
} bytes;

/* Reads a regular file of 1 to INT32_MAX bytes: what protobuf allows a message. */
bool read_file(bytes *content, const char *file, problem *why);

/* Reads what a tensor in `owner` keeps in another file: `size` bytes from `offset` on of `location`, which must be a
 * relative path that stays in the folder of `owner`, through symbolic links too. */
bool read_external(bytes *content, const char *owner, const char *location, uint64_t offset, size_t size, problem *why);

/* Writes a file whole or not at all: under another name in the same folder first. */
bool write_file(const char *file, bytes content, problem *why);

/* "folder/name", freed by the caller. */
bool join_path(char **path, const char *folder, const char *name, problem *why);

#endif
