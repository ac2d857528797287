/* The arguments of a command: options and files, read alike for all commands. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;   /* "-o", "--jobs" */
    const char **value; /* where its argument goes, which is never empty; NULL: it has none */
    bool *given;        /* of an option without an argument */
} option;

/* Sets what the options say, moves the files to the front of the arguments and counts them in *files. Options may stand
 * between files, a long one's argument after "=" too, and after "--" everything is a file; no option may be given
 * twice. False, with the exit status, if the command is over: help was asked for and given, or the usage is wrong. */
bool options_parse(const option *options, size_t count, int argument_count, char **arguments, int *files, int *status);

#endif
