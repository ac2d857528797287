#include "rows.h"

#include "scalar/element.h"

#include <math.h>

const bench_type x_types[X_TYPES] = {
#define ROW(TYPE, name, bits, KIND, zero_bits) {DQL_##TYPE, #name, bits, zero_bits != 0},
    DQL_X_TYPES(ROW)
#undef ROW
};

const bench_type y_types[Y_TYPES] = {
#define ROW(TYPE, name, bits) {DQL_##TYPE, #name, bits, true},
    DQL_Y_TYPES(ROW)
#undef ROW
};

size_t type_bytes(unsigned bits, size_t elements) {
    return (elements * bits + 7) / 8;
}

bool same_elements(dql_type y_type, const void *a, const void *b, size_t elements) {
    for (size_t k = 0; k < elements; k++) {
        const float x = load_element(y_type, a, k), y = load_element(y_type, b, k);
        if (f32_bits(x) != f32_bits(y) && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}
