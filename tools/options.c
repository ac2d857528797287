#include "options.h"

#include "command.h"
#include <string.h>

/* The option that an argument names, alone or before "="; NULL if there is none. */
static const option *find_option(const option *options, size_t count, const char *argument) {
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(options[i].name);
        const bool is_long = options[i].name[1] == '-';
        if (strncmp(argument, options[i].name, length) == 0 &&
            (argument[length] == '\0' || (is_long && argument[length] == '=')))
            return &options[i];
    }
    return NULL;
}

static int set_flag(const option *o, const char *equals) {
    if (equals != NULL)
        return usage_error("takes no argument", o->name);
    if (*o->given)
        return usage_error("given twice", o->name);
    *o->given = true;
    return EXIT_OK;
}

static int set_value(const option *o, const char *argument) {
    if (argument == NULL)
        return usage_error("needs an argument", o->name);
    if (argument[0] == '\0')
        return usage_error("needs an argument that is not empty", o->name);
    if (*o->value != NULL)
        return usage_error("given twice", o->name);
    *o->value = argument;
    return EXIT_OK;
}

static bool is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

bool options_parse(const option *options, size_t count, int argument_count, char **arguments, int *files, int *status) {
    bool only_files = false;
    *files = 0;
    *status = EXIT_OK;
    for (int i = 0; i < argument_count && *status == EXIT_OK; i++) {
        char *argument = arguments[i];
        const bool is_file = only_files || argument[0] != '-' || argument[1] == '\0';
        const option *o = is_file ? NULL : find_option(options, count, argument);
        const char *equals = o != NULL ? strchr(argument, '=') : NULL;
        if (is_file && argument[0] == '\0')
            *status = usage_error("a file without a name", "");
        else if (is_file)
            arguments[(*files)++] = argument;
        else if (strcmp(argument, "--") == 0)
            only_files = true;
        else if (o != NULL && o->value == NULL)
            *status = set_flag(o, equals);
        else if (o != NULL && equals != NULL)
            *status = set_value(o, equals + 1);
        else if (o != NULL)
            *status = set_value(o, ++i < argument_count ? arguments[i] : NULL);
        else if (is_help(argument))
            return help(), false;
        else
            *status = usage_error("unknown option", argument);
    }
    return *status == EXIT_OK;
}
