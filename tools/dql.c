/* The `dql` command: what the library can do here, and ONNX models dequantized with it. */
#include "command.h"

#include "problem.h"
#include <dql/dql.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: dql info\n"
    "       dql test DIR...\n"
    "       dql run MODEL.onnx [INPUT.pb...] [-o OUT.pb]\n"
    "       dql inspect MODEL.onnx [--constant-inputs]\n"
    "       dql expand MODEL.onnx -o OUT.onnx [--external-data FILE] [--dtype TYPE] [--jobs N]\n"
    "                  [--constant-inputs]\n"
    "       dql [COMMAND] --help | -h, dql --version\n";

static const char details[] =
    "\n"
    "  info     the version, the CPU, and which of the library's ISAs run on it\n"
    "  test     run ONNX node tests of DequantizeLinear: DIR is one (model.onnx and\n"
    "           test_data_set_*/{input,output}_*.pb), or holds such folders\n"
    "  run      run a model of one DequantizeLinear node; INPUT.pb are TensorProtos for\n"
    "           the graph's inputs that have no initializer, in their order; -o writes y,\n"
    "           -o - to standard output, and to a pipe or device as a stream\n"
    "  inspect  list a model's DequantizeLinear nodes: whether dql takes them (yes, no, or\n"
    "           ? where the model doesn't tell), y's name, types, shapes, granularity,\n"
    "           whether the inputs are constant, the opset, and why dql doesn't take them;\n"
    "           and what dql expand would do\n"
    "  expand   write the model with each DequantizeLinear of constants (initializers,\n"
    "           Constant nodes, and as scales what such nodes compute) replaced by what it\n"
    "           computes: a float initializer of y's name. Constants that nothing else uses\n"
    "           are dropped; the rest of the model stays byte for byte. Tensors that are\n"
    "           wrong are an error; nodes that dql can't read are left\n"
    "    -o OUT.onnx           where to\n"
    "    --external-data FILE  keep tensors of 1 KiB or more in FILE, a name in OUT.onnx's\n"
    "                          folder: needed where the model would exceed 2 GiB\n"
    "    --dtype TYPE          make y float32, float16 or bfloat16; refused unless all y\n"
    "                          have that type already or are used by Cast nodes only\n"
    "    --jobs N              threads, 1 to 256; default: one for each CPU that the\n"
    "                          process may run on\n"
    "    --constant-inputs     (of inspect too) initializers that are also inputs of the\n"
    "                          graph are constants, not defaults of what a caller may give\n"
    "\n"
    "What is written replaces a regular file, which keeps its permissions, or is a new one; it\n"
    "is there whole or not at all (until then it is called FILE.PID.tmp). Files that the same\n"
    "command reads, by whatever name, links, and what may not be written are refused.\n"
    "A model's external data is sought in its folder and, if the model is a link, in that of\n"
    "the file that it leads to.\n"
    "Options may stand between files, and none may be given twice; --jobs=N is --jobs N, and\n"
    "what follows -- are files.\n"
    "The environment variable DQL_ISA (scalar, avx2, ...) picks another ISA; what can't run\n"
    "here is ignored with a warning.\n"
    "Exit status: 0 success, 1 failure, 2 wrong usage.\n";

static const struct {
    const char *name;
    int (*run)(int count, char **arguments);
} commands[] = {{"info", info_command},
                {"test", test_command},
                {"run", run_command},
                {"expand", expand_command},
                {"inspect", inspect_command}};

int usage_error(const char *message, const char *argument) {
    fprintf(stderr, "dql: %s%s", message, argument[0] != '\0' ? ": " : "");
    print_clean(stderr, argument);
    fprintf(stderr, "\n%s", usage);
    return EXIT_USAGE;
}

int help(void) {
    printf("%s%s", usage, details);
    return EXIT_OK;
}

static int version(void) {
    printf("dql %s\n", dql_version());
    return EXIT_OK;
}

/* dql info says it in its own words. */
static void warn_of_isa(void) {
    const char *why = why_isa_ignored();
    if (why == NULL)
        return;
    fprintf(stderr, "dql: DQL_ISA=");
    print_clean(stderr, getenv("DQL_ISA"));
    fprintf(stderr, " is ignored: %s; %s runs\n", why, dql_isa_name(dql_isa_active()));
}

static int dispatch(int count, char **arguments) {
    if (count == 0)
        return usage_error("no command", "");
    const char *name = arguments[0];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0) {
            if (commands[i].run != info_command)
                warn_of_isa();
            return commands[i].run(count - 1, arguments + 1);
        }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help();
    if (strcmp(name, "--version") == 0)
        return version();
    return usage_error("unknown command", name);
}

int main(int argc, char **argv) {
    const int status = dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("dql: standard output");
        return EXIT_FAILED;
    }
    return status;
}
