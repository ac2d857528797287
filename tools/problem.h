/* How the tool's functions say what went wrong: they return false, and a line for a person in a `problem`. */
#ifndef TOOLS_PROBLEM_H
#define TOOLS_PROBLEM_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __GNUC__
#define PRINTF_LIKE(text, arguments) __attribute__((format(printf, text, arguments)))
#else
#define PRINTF_LIKE(text, arguments)
#endif

typedef struct {
    bool unsupported; /* nothing is known to be wrong with the file, but dql does not do what it asks for */
    char file[1024];
    char text[1024];
} problem;

/* Fills `why`; always returns false. What files contain may be printed: nothing breaks the line. */
bool fail(problem *why, const char *file, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same for what is out of scope: `dql test` skips it. */
bool unsupported(problem *why, const char *file, const char *format, ...) PRINTF_LIKE(3, 4);

/* Says which thing in the file a problem is about: puts "WHAT "NAME": " before its text. */
void about(problem *why, const char *what, const char *name);

/* A problem in as little memory as it takes. */
typedef struct {
    bool unsupported;
    char *file, *text; /* NULL: none, or there was no memory for it */
} kept_problem;

void keep_problem(kept_problem *kept, const problem *why);
bool recall_problem(const kept_problem *kept, problem *why); /* returns false */
void free_problem(kept_problem *kept);

/* Prints "dql: FILE: TEXT" on stderr. */
void print_problem(const problem *why);

/* Prints text that may come from a file: control characters, and bytes that are not UTF-8, become '?'. */
void print_clean(FILE *stream, const char *text);

#endif
