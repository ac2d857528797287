/* AVX-512 with an instruction that rounds to bfloat16: Sapphire Rapids, Zen 4 and later. Only the kernels to bfloat16;
 * VBMI has the others, and these too for the few panels that this instruction can't round. */
#define ROUNDS_BY_INSTRUCTION /* nothing but this file may: -march=native gives the instruction to all */
#include "x86/avx512vbmi.h"

#include "kernel_template.h"

/* The instruction makes subnormals 0. What is multiplied by the scale is 0, or at least 1 if it is a difference of
 * integers, at least 2^-17 if it is a float: only a scale can make it subnormal. */
DQL_INLINE __mmask16 makes_subnormals(dql_type x_type, vf32 scale) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(scale), _mm512_set1_epi32(0x7fffffff));
    const __m512i least = _mm512_castps_si512(splat(dql_is_integer(x_type) ? 0x1p-126f : 0x1p-109f));
    return _mm512_mask_cmplt_epu32_mask(_mm512_test_epi32_mask(bits, bits), bits, least);
}

DQL_INLINE bool may_make_subnormals(dql_type x_type, const dql_panel *panel) {
    const size_t scales = (panel->count - 1) / panel->group_length + 1, rows = panel->scale_stride ? panel->rows : 1;
    unsigned any = 0;
    for (size_t r = 0; r < rows; r++) {
        const float *scale = panel->scale + r * panel->scale_stride;
        size_t k = 0;
        for (; scales - k >= LANES; k += LANES)
            any |= makes_subnormals(x_type, load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, scale, k), LANES));
        if (k < scales)
            any |= makes_subnormals(x_type, load(DQL_FLOAT32, dql_at_element(DQL_FLOAT32, scale, k), scales - k));
    }
    return any != 0;
}

/* Where each scale serves one element, looking at it takes longer than rounding without the instruction. */
DQL_INLINE bool is_for_vbmi(dql_type x_type, const dql_panel *panel) {
    return (panel->group_length == 1 && (panel->rows == 1 || panel->scale_stride)) ||
           may_make_subnormals(x_type, panel);
}

extern const dql_kernels dql_isa_avx512vbmi;

#define DEFINE_KERNEL(X, x_name, ...)                                                                                  \
    static void dequantize_##x_name##_bfloat16(const dql_panel *panel) {                                               \
        if (is_for_vbmi(DQL_##X, panel))                                                                               \
            dql_isa_avx512vbmi.dequantize[DQL_##X][DQL_Y_BFLOAT16](panel);                                             \
        else                                                                                                           \
            dequantize(DQL_##X, DQL_BFLOAT16, panel);                                                                  \
    }
DQL_X_TYPES(DEFINE_KERNEL)

#define ENTRY(X, x_name, ...) [DQL_##X][DQL_Y_BFLOAT16] = DQL_HAS(X, BFLOAT16) ? dequantize_##x_name##_bfloat16 : NULL,
const dql_kernels dql_isa_avx512bf16 = {
    .dequantize = {DQL_X_TYPES(ENTRY)}, DQL_WIDEN_TABLE, .stream = stream, .fallback = &dql_isa_avx512vbmi};
