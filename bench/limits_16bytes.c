/* Any CPU: 16 bytes, the compiler's own vectors. */
#include <stdint.h>
#include <string.h>

typedef uint32_t vector __attribute__((vector_size(16)));

static inline vector vload(const void *p) {
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vstore(void *p, vector v) {
    memcpy(p, &v, sizeof v);
}

#define NAME   16bytes
#define VECTOR ((size_t)16)
#define NO_STREAM
#define vxor(a, b) ((a) ^ (b))
#define vset(bits) ((vector){bits, bits, bits, bits})
#include "limits_template.h"
