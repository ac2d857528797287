/* What the fuzz targets share. Each is a file with a LLVMFuzzerTestOneInput, which libFuzzer calls with inputs that
 * reach new code, and replay.c with inputs that were kept and with random ones. A target aborts on what must not be. */
#ifndef DQL_TESTS_FUZZ_H
#define DQL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

/* What is left of an input that is read number by number. Past its end all numbers are 0. */
typedef struct input {
    const uint8_t *at, *end;
} input;

static inline uint64_t take(input *in, size_t bytes) {
    uint64_t value = 0;
    for (size_t k = 0; k < bytes && in->at < in->end; k++)
        value |= (uint64_t)*in->at++ << 8 * k;
    return value;
}

/* 0 to end - 1, from as many bytes as that takes. */
static inline size_t take_below(input *in, size_t end) {
    size_t bytes = 1;
    while (bytes < sizeof end && (end - 1) >> 8 * bytes)
        bytes++;
    return (size_t)(take(in, bytes) % end);
}

#endif
