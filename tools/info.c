#include "command.h"

#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "options.h"
#include "problem.h"
#include "types.h"
#include <dql/dql.h>
#include <stdlib.h>
#include <string.h>

static const char *yes_no(bool yes) {
    return yes ? "yes" : "no";
}

static void print_cpu(void) {
    char name[256];
    const uint32_t features = dql_cpu_features();
    printf("cpu        ");
    print_clean(stdout, dql_cpu_name(name, sizeof name));
    printf("\nfeatures  %s", features == 0 ? " none" : "");
    for (unsigned bit = 0; dql_cpu_feature_name(bit) != NULL; bit++)
        if (features >> bit & 1)
            printf(" %s", dql_cpu_feature_name(bit));
    printf("\n");
}

const char *why_isa_ignored(void) {
    const char *wish = getenv("DQL_ISA");
    if (wish == NULL || wish[0] == '\0')
        return NULL;
    for (int isa = DQL_ISA_AUTO; dql_isa_name((dql_isa)isa) != NULL; isa++)
        if (strcmp(wish, dql_isa_name((dql_isa)isa)) == 0)
            return dql_isa_available((dql_isa)isa) ? NULL
                   : dql_isa_compiled(isa)         ? "this CPU can't run it"
                                                   : "it is not compiled in";
    return "no ISA has this name";
}

static void print_wish(void) {
    const char *wish = getenv("DQL_ISA"), *ignored = why_isa_ignored();
    if (wish == NULL || wish[0] == '\0')
        return;
    printf("DQL_ISA    ");
    print_clean(stdout, wish);
    if (ignored != NULL)
        printf(" (ignored: %s)", ignored);
    printf("\n");
}

static void print_isa(dql_isa isa) {
    printf("%-10s %-8s %-9s %s\n", dql_isa_name(isa), yes_no(dql_isa_compiled((int)isa)),
           yes_no(dql_isa_available(isa)), yes_no(isa == dql_isa_active()));
}

/* Those that kernels were built for. */
static void print_types(void) {
#define X(TYPE, name, ...) DQL_HAS_X(TYPE) ? " " #name : "",
#define Y(TYPE, name, ...) DQL_HAS_Y(TYPE) ? " " #name : "",
    static const char *const x_types[] = {DQL_X_TYPES(X)}, *const y_types[] = {DQL_Y_TYPES(Y)};
    printf("x types   ");
    for (size_t k = 0; k < sizeof x_types / sizeof *x_types; k++)
        printf("%s", x_types[k]);
    printf("\ny types   ");
    for (size_t k = 0; k < sizeof y_types / sizeof *y_types; k++)
        printf("%s", y_types[k]);
    printf("\n");
}

int info_command(int count, char **arguments) {
    int files, status;
    if (!options_parse(NULL, 0, count, arguments, &files, &status))
        return status;
    if (files > 0)
        return usage_error("info takes no arguments", arguments[0]);
    printf("version    %s\n", dql_version());
    print_types();
    print_cpu();
    print_wish();
    printf("\nisa        compiled available active\n");
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa) != NULL; isa++)
        print_isa((dql_isa)isa);
    return EXIT_OK;
}
