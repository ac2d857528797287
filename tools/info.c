#include "command.h"

#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "problem.h"
#include <dql/dql.h>

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

static void print_isa(dql_isa isa) {
    printf("%-10s %-8s %-9s %s\n", dql_isa_name(isa), yes_no(dql_isa_compiled((int)isa)),
           yes_no(dql_isa_available(isa)), yes_no(isa == dql_isa_active()));
}

int info_command(int count, char **arguments) {
    if (count > 0)
        return usage_error("info takes no arguments", arguments[0]);
    printf("version    %s\n", dql_version());
    print_cpu();
    printf("\nisa        compiled available active\n");
    for (int isa = DQL_ISA_SCALAR; dql_isa_name((dql_isa)isa) != NULL; isa++)
        print_isa((dql_isa)isa);
    return EXIT_OK;
}
