/* What a command writes. A file is written whole or not at all: under another name in the same folder first,
 * FILE.PID.tmp, which is all that a process that is killed leaves. What may be there before, one rule for all commands:
 * nothing, or a regular file that may be written and that the command doesn't read, by whatever name. It keeps its
 * permissions. Links are neither followed nor replaced. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "file.h"

typedef struct {
    const char *file; /* not owned */
    char *temporary;
    int fd;
} output;

/* A new file of no bytes, which is none of those that are read. The signals of terminals, shutdowns and limits that end
 * the program remove it. */
bool output_open(output *o, const char *file, const file_set *read, problem *why);

/* Writes anywhere in the file. Threads may write at once. */
bool output_write(const output *o, const void *data, size_t size, uint64_t offset, problem *why);

/* Gives the file its name, in place of an older one. After it, or a failure of it, the output is closed. */
bool output_commit(output *o, problem *why);

/* Removes the file; does nothing to one that is closed. */
void output_discard(output *o);

/* Writes all of a file, or to what is there as a stream: a pipe or character device, by a link too, but no terminal,
 * which would obey the bytes; "-" and /dev/stdout are standard output, whatever it is. */
bool output_write_all(const char *file, bytes content, const file_set *read, problem *why);

bool is_standard_output(const char *file);

#endif
