/* The AVX-512 of servers since 2017. */
#include "x86/avx512.h"

#include "x86/avx512_e4m3fn.h"
#include "x86/avx512_table16.h"
#include "x86/avx512_table64.h"
#include "x86/stream.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    return try_table16(x_type, y_type, panel, group_length) || try_table64(x_type, y_type, panel, group_length) ||
           try_e4m3fn(x_type, y_type, panel, group_length) || try_by_two(x_type, y_type, panel, group_length);
}

#include "kernel_template.h"

#include "kernel_table.h"

const dql_kernels dql_isa_avx512 = {DQL_KERNEL_TABLE, .stream = stream};
