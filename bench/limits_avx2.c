#include <immintrin.h>

#define NAME          avx2
#define VECTOR        ((size_t)32)
#define vector        __m256i
#define vload(p)      _mm256_loadu_si256((const void *)(p))
#define vstore(p, v)  _mm256_storeu_si256((void *)(p), v)
#define vstream(p, v) _mm256_stream_si256((void *)(p), v)
#define vxor(a, b)    _mm256_xor_si256(a, b)
#define vset(bits)    _mm256_set1_epi32(bits)
#define fence()       _mm_sfence()
#include "limits_template.h"
