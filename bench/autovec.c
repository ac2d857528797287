/* The scalar ISA again, compiled with -O3 and all that this CPU has: what a compiler makes of it. */
#define dql_isa_scalar bench_autovec
#include "scalar/scalar.c"
