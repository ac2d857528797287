/* The NEON of every AArch64. */
#include "arm/neon_kernels.h"

const dql_kernels dql_isa_neon = {DQL_KERNEL_TABLE};
