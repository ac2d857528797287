#include <immintrin.h>

#define NAME          avx512
#define VECTOR        ((size_t)64)
#define vector        __m512i
#define vload(p)      _mm512_loadu_si512(p)
#define vstore(p, v)  _mm512_storeu_si512(p, v)
#define vstream(p, v) _mm512_stream_si512((void *)(p), v)
#define vxor(a, b)    _mm512_xor_si512(a, b)
#define vset(bits)    _mm512_set1_epi32(bits)
#define fence()       _mm_sfence()
#include "limits_template.h"
