/* Messages: text of bounded length, and statuses of ONNX Runtime that carry it. */
#ifndef DQL_ONNXRUNTIME_TEXT_H
#define DQL_ONNXRUNTIME_TEXT_H

#include "abi.h"

typedef struct text {
    char bytes[1024]; /* terminated; what does not fit is left out */
    size_t size;
} text;

#ifdef __GNUC__
#define TEXT_FORMAT(text, list) __attribute__((format(printf, text, list)))
#else
#define TEXT_FORMAT(text, list)
#endif

/* Appends. */
void text_add(text *t, const char *format, ...) TEXT_FORMAT(2, 3);

/* Appends a name from a model: cut after 200 bytes, between characters, and without control characters. */
void text_add_name(text *t, const char *name);

/* A status whose message is the format's. NULL, which is success, only if the runtime has no memory for one. */
ort_status *fail(const ort_api *api, ort_error code, const char *format, ...) TEXT_FORMAT(3, 4);

/* Returns from the calling function what `call` returns, unless that is success. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        ort_status *try_status = (call);                                                                               \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

#endif
