/* All that the ISAs with VBMI share. */
#ifndef DQL_X86_AVX512VBMI_H
#define DQL_X86_AVX512VBMI_H

#include "x86/avx512.h"

#include "x86/avx512_table16.h"
#include "x86/avx512vbmi_float8.h"
#include "x86/avx512vbmi_table256.h"
#include "x86/stream.h"

DQL_INLINE bool special(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t run,
                        const float *scale, const int32_t *zero) {
    return dequantize_by_table16(x_type, y_type, x, i, y, count, run, scale, zero) ||
           dequantize_by_table256(x_type, y_type, x, i, y, count, run, scale, zero) ||
           dequantize_float8(x_type, y_type, x, i, y, count, run, scale) ||
           dequantize_by_two(x_type, y_type, x, i, y, count, run, scale, zero);
}

#endif
