/* AVX-512 with byte permutations (VBMI): Ice Lake, Zen 4 and later. */
#include "x86/avx512vbmi.h"

#include "kernel_template.h"

#include "kernel_table.h"

const dql_kernels dql_isa_avx512vbmi = {DQL_KERNEL_TABLE, .stream = stream};
