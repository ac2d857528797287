#include "problem.h"

#include <stdarg.h>

/* Terminals obey control characters; those above 0x7f are two bytes in UTF-8, 0xc2 and 0x80 to 0x9f. */
static bool is_control(const char *text, size_t i) {
    const unsigned char c = (unsigned char)text[i];
    return c < 0x20 || c == 0x7f || (i > 0 && (unsigned char)text[i - 1] == 0xc2 && c >= 0x80 && c < 0xa0);
}

void print_clean(FILE *stream, const char *text) {
    for (size_t i = 0; text[i] != '\0'; i++)
        fputc(is_control(text, i) ? '?' : text[i], stream);
}

PRINTF_LIKE(3, 0) static void describe(problem *why, const char *file, const char *format, va_list arguments) {
    why->unsupported = false;
    snprintf(why->file, sizeof why->file, "%s", file);
    vsnprintf(why->text, sizeof why->text, format, arguments);
}

bool fail(problem *why, const char *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    describe(why, file, format, arguments);
    va_end(arguments);
    return false;
}

bool unsupported(problem *why, const char *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    describe(why, file, format, arguments);
    va_end(arguments);
    why->unsupported = true;
    return false;
}

void about(problem *why, const char *what, const char *name) {
    char text[sizeof why->text];
    snprintf(text, sizeof text, "%s", why->text);
    snprintf(why->text, sizeof why->text, "%s \"%.100s\": %.800s", what, name, text);
}

void print_problem(const problem *why) {
    fputs("dql: ", stderr);
    print_clean(stderr, why->file);
    fputs(": ", stderr);
    print_clean(stderr, why->text);
    fputc('\n', stderr);
}
