/* The scalar ISA again, compiled with -O3 and all that this CPU has: what a compiler makes of it. */
#define dql_isa_scalar       bench_autovec
#define dql_dequantize_int32 bench_autovec_int32
#include "scalar/scalar.c"
