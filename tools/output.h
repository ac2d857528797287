/* Files that are written whole or not at all: under another name in the same folder first. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "problem.h"
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *file; /* not owned */
    char *temporary;
    int fd;
} output;

/* A new file of no bytes. The signals of terminals, shutdowns and limits that end the program remove it. */
bool output_open(output *o, const char *file, problem *why);

/* Writes anywhere in the file. Threads may write at once. */
bool output_write(const output *o, const void *data, size_t size, uint64_t offset, problem *why);

/* Gives the file its name, in place of an older one. After it, or a failure of it, the output is closed. */
bool output_commit(output *o, problem *why);

/* Removes the file; does nothing to one that is closed. */
void output_discard(output *o);

#endif
