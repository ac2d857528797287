#include "text.h"

#include <stdarg.h>
#include <stdio.h>

static void add_list(text *t, const char *format, va_list list) TEXT_FORMAT(2, 0);

static void add_list(text *t, const char *format, va_list list) {
    const size_t room = sizeof t->bytes - t->size;
    const int size = vsnprintf(t->bytes + t->size, room, format, list);
    if (size > 0)
        t->size += (size_t)size < room ? (size_t)size : room - 1;
}

void text_add(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    add_list(t, format, list);
    va_end(list);
}

static bool is_control(char byte) {
    return (unsigned char)byte < ' ' || byte == 0x7f;
}

/* Whether a byte continues a character of UTF-8. */
static bool continues(char byte) {
    return (byte & 0xc0) == 0x80;
}

void text_add_name(text *t, const char *name) {
    enum { LONGEST = 200 };
    size_t size = 0;
    while (size < LONGEST && name[size])
        size++;
    const bool is_cut = name[size] != 0;
    while (is_cut && size > 0 && continues(name[size]))
        size--;
    for (size_t i = 0; i < size; i++)
        text_add(t, "%c", is_control(name[i]) ? '?' : name[i]);
    if (is_cut)
        text_add(t, "...");
}

ort_status *fail(const ort_api *api, ort_error code, const char *format, ...) {
    text message = {.size = 0};
    va_list list;
    va_start(list, format);
    add_list(&message, format, list);
    va_end(list);
    return api->create_status(code, message.bytes);
}
