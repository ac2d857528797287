// What a user of the installed library writes, in C++.
#include <dql/dql.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

int main() {
    const std::int64_t shape[] = {2, 3}, scale_shape[] = {3};
    const std::int8_t x[] = {-1, 2, -3, 4, -5, 6};
    const float scale[] = {0.5f, 1, 2}, expected[] = {-0.5f, 2, -6, 2, -5, 12};
    float y[6];
    dql_spec spec = {};
    spec.x_type = DQL_INT8;
    spec.scale_type = spec.y_type = DQL_FLOAT32;
    spec.rank = 2;
    spec.shape = shape;
    spec.scale_rank = 1;
    spec.scale_shape = scale_shape;
    spec.axis = 1;
    const dql_status status = dql_dequantize(&spec, x, scale, nullptr, y);
    std::printf("%s, %s: %s\n", dql_version(), dql_isa_name(dql_isa_active()), dql_status_text(status));
    return status != DQL_OK || std::memcmp(y, expected, sizeof y) != 0;
}
