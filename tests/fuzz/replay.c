/* A fuzz target without a fuzzer: the inputs in the files that are named, then `count` random ones, the same in every
 * run.
 *
 *     fuzz_NAME [--random COUNT LARGEST] [FILE...] */
#include "fuzz/fuzz.h"
#include "support/random.h"

#include <string.h>

static uint8_t *read_input(const char *file, size_t *size) {
    enum { LARGEST = 1 << 20 };
    FILE *stream = fopen(file, "rb");
    uint8_t *bytes = malloc(LARGEST);
    if (!stream || !bytes)
        FAIL("%s can't be read", file);
    *size = fread(bytes, 1, LARGEST, stream);
    fclose(stream);
    return bytes;
}

/* In memory of exactly its size. */
static void run_input(const uint8_t *bytes, size_t size) {
    uint8_t *const copy = malloc(size ? size : 1);
    if (!copy)
        FAIL("no memory");
    if (size)
        memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_random(long count, size_t largest) {
    random r = {1};
    uint8_t *bytes = malloc(largest);
    if (!bytes)
        FAIL("no memory");
    for (long n = 0; n < count; n++) {
        const size_t size = random_below(&r, largest);
        random_bytes(&r, bytes, size);
        run_input(bytes, size);
    }
    free(bytes);
}

int main(int argc, char **argv) {
    long count = 0;
    int k = 1;
    if (k + 2 < argc && strcmp(argv[k], "--random") == 0) {
        count = strtol(argv[k + 1], NULL, 10);
        run_random(count, strtoul(argv[k + 2], NULL, 10));
        k += 3;
    }
    printf("tested: %d inputs that were kept, %ld random ones\n", argc - k, count);
    for (; k < argc; k++) {
        size_t size;
        uint8_t *bytes = read_input(argv[k], &size);
        run_input(bytes, size);
        free(bytes);
    }
    return 0;
}
