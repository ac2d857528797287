/* The kernels of NEON on CPUs that have none of their own: SIMDe imitates NEON by whatever vectors the compiler has. */
#include "arm/neon_kernels.h"

const dql_kernels dql_isa_simde = {DQL_KERNEL_TABLE};
