/* The subcommands. Each gets the arguments after its name and returns an exit status. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int info_command(int count, char **arguments);
int test_command(int count, char **arguments);
int run_command(int count, char **arguments);
int expand_command(int count, char **arguments);
int inspect_command(int count, char **arguments);

/* Prints how to call dql, and what it does, on stdout; returns EXIT_OK. */
int help(void);

/* Prints what is wrong with the arguments and how to call dql on stderr; returns EXIT_USAGE. */
int usage_error(const char *message, const char *argument);

/* Why the library ignores the environment's DQL_ISA; NULL if it doesn't, or none is set. */
const char *why_isa_ignored(void);

#endif
