/* All that the ISAs with VBMI share. */
#ifndef DQL_X86_AVX512VBMI_H
#define DQL_X86_AVX512VBMI_H

#include "x86/avx512.h"

#include "x86/avx512_table16.h"
#include "x86/avx512_table64.h"
#include "x86/avx512vbmi_float8.h"
#include "x86/avx512vbmi_table256.h"
#include "x86/stream.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    return try_table16(x_type, y_type, panel, group_length) || try_table64(x_type, y_type, panel, group_length) ||
           try_table256(x_type, y_type, panel, group_length) || try_float8(x_type, y_type, panel, group_length) ||
           try_by_two(x_type, y_type, panel, group_length);
}

#endif
