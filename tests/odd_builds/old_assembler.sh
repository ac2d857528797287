#!/bin/sh
# gcc with an assembler that knows AVX2 and nothing later.
exec gcc -Wa,-march=generic64+avx2+f16c "$@"
