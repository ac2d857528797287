/* The AVX2 of desktops and laptops, and of servers before AVX-512. FMA is not used. */
#include "x86/avx2.h"

#include "x86/avx2_e4m3fn.h"
#include "x86/avx2_float6.h"
#include "x86/avx2_table16.h"
#include "x86/stream.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    /* rounding to bfloat16 needs the registers that decoding bytes does */
    return try_table16(x_type, y_type, panel, group_length) || try_float6(x_type, y_type, panel, group_length) ||
           (y_type != DQL_BFLOAT16 && try_e4m3fn(x_type, y_type, panel, group_length));
}

#include "kernel_template.h"

#include "kernel_table.h"

const dql_kernels dql_isa_avx2 = {DQL_KERNEL_TABLE, .stream = stream};
