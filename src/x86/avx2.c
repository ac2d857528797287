/* The AVX2 of desktops and laptops, and of servers before AVX-512. FMA is not used. */
#include "x86/avx2.h"

DQL_INLINE bool special(dql_type x_type, dql_type y_type, const void *x, size_t i, void *y, size_t count, size_t run,
                        const float *scale, const float *zero) {
    (void)x_type, (void)y_type, (void)x, (void)i, (void)y, (void)count, (void)run, (void)scale, (void)zero;
    return false;
}

#include "kernel_template.h"

const dql_kernels dql_isa_avx2 = {DQL_KERNEL_TABLE};
