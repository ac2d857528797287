#include "problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of one character of UTF-8, 0 if these are not one. Table 3-7 of the Unicode standard. */
static size_t character_size(const unsigned char *at) {
    const unsigned char lead = at[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80; /* no longer form of a shorter one */
    const unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf; /* no surrogates, none past U+10FFFF */
    if (at[1] < least || at[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    return length;
}

/* Terminals obey control characters; those above 0x7f are two bytes in UTF-8, 0xc2 and 0x80 to 0x9f. */
static bool is_control(const unsigned char *at) {
    return at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
}

void print_clean(FILE *stream, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        const size_t size = character_size(at);
        if (size == 0 || is_control(at))
            fputc('?', stream);
        else
            fwrite(at, 1, size, stream);
        at += size > 0 ? size : 1;
    }
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

void keep_problem(kept_problem *kept, const problem *why) {
    *kept = (kept_problem){why->unsupported, strdup(why->file), strdup(why->text)};
}

bool recall_problem(const kept_problem *kept, problem *why) {
    fail(why, kept->file != NULL ? kept->file : "?", "%s", kept->text != NULL ? kept->text : "no memory");
    why->unsupported = kept->unsupported;
    return false;
}

void free_problem(kept_problem *kept) {
    free(kept->file);
    free(kept->text);
    *kept = (kept_problem){0};
}

void print_problem(const problem *why) {
    fputs("dql: ", stderr);
    print_clean(stderr, why->file);
    fputs(": ", stderr);
    print_clean(stderr, why->text);
    fputc('\n', stderr);
}
