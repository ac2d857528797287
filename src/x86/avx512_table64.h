/* Types of 6 bits, 64 elements at a time: the upper half of each output is picked from a table of all 64 codes. For
 * halves these are the finished outputs of a group; for float32 they are the numbers themselves, which are bfloat16,
 * and the scale is still to come. */
#ifndef DQL_X86_AVX512_TABLE64_H
#define DQL_X86_AVX512_TABLE64_H

#include "x86/avx512.h"

enum { STEP64 = 64 };

/* The words of codes 0 to 31, and of those that have the sign. */
typedef struct table64 {
    __m512i low, high;
} table64;

DQL_INLINE table64 with_negative(__m512i words) {
    return (table64){words, _mm512_xor_si512(words, _mm512_set1_epi16((short)0x8000))};
}

DQL_INLINE table64 numbers64(dql_type x_type) {
    const float *const magnitudes = dql_float6_magnitudes(x_type);
    return with_negative(
        _mm512_permutex2var_epi16(_mm512_loadu_si512(magnitudes), uppers(), _mm512_loadu_si512(magnitudes + LANES)));
}

DQL_INLINE table64 finished64(dql_type x_type, dql_type y_type, float scale) {
    const float *const magnitudes = dql_float6_magnitudes(x_type);
    const vf32 s = splat(scale);
    return with_negative(halves_of_two(y_type, _mm512_mul_ps(_mm512_loadu_ps(magnitudes), s),
                                       _mm512_mul_ps(_mm512_loadu_ps(magnitudes + LANES), s)));
}

/* n elements as they are packed, at most 32, the first one in the lowest bits. */
DQL_INLINE __m256i load_stream64(dql_type type, dql_at at, size_t n) {
    const bit_place first = place_of_bits(type, at);
    const size_t bytes = (first.shift + n * dql_x_bits(type) + 7) / 8;
    const __m256i here = _mm256_maskz_loadu_epi8(0xffffffffu >> (32 - bytes), first.byte);
    if (at.skip == 0)
        return here;
    const __m128i shift = _mm_cvtsi32_si128((int)first.shift), back = _mm_cvtsi32_si128(64 - (int)first.shift);
    const __m256i next = _mm256_alignr_epi64(_mm256_setzero_si256(), here, 1);
    return _mm256_or_si256(_mm256_srl_epi64(here, shift), _mm256_sll_epi64(next, back));
}

/* ---- 32 codes in the lowest bits of words, others above. They begin at byte `first` of `stream`, a constant: 0 or 8.
 * In order, or apart: dword k has codes k and 16 + k. ---- */

#ifdef __AVX512VBMI__
DQL_INLINE __m512i spread_bytes(__m256i stream, int first, __m512i bytes, __m512i places) {
    const __m512i from = _mm512_add_epi8(bytes, _mm512_set1_epi8((char)first));
    return _mm512_multishift_epi64_epi8(places, _mm512_permutexvar_epi8(from, _mm512_castsi256_si512(stream)));
}

DQL_INLINE __m512i spread_in_order(__m256i stream, int first) {
    const __m512i bytes =
        _mm512_set_epi64(0x1717161515171615, 0x1414131212141312, 0x1111100f0f11100f, 0x0e0e0d0c0c0e0d0c,
                         0x0b0b0a09090b0a09, 0x0808070606080706, 0x0505040303050403, 0x0202010000020100);
    return spread_bytes(stream, first, bytes, _mm512_set1_epi64(0x0012000c00060000));
}

DQL_INLINE __m512i spread_apart(__m256i stream, int first) {
    const __m512i bytes =
        _mm512_set_epi64(0x17160b0a17160b0a, 0x16150a0916150a09, 0x1413080714130807, 0x1312070613120706,
                         0x1110050411100504, 0x100f0403100f0403, 0x0e0d02010e0d0201, 0x0d0c01000d0c0100);
    return spread_bytes(stream, first, bytes, _mm512_set4_epi32(0x001a000a, 0x00140004, 0x00160006, 0x00100000));
}
#else
DQL_INLINE __m512i spread_words(__m256i stream, int first, __m512i words, __m512i bytes, __m512i shifts) {
    const __m512i from = _mm512_add_epi16(words, _mm512_set1_epi16((short)(first / 2)));
    const __m512i two = _mm512_shuffle_epi8(_mm512_permutexvar_epi16(from, _mm512_castsi256_si512(stream)), bytes);
    return _mm512_srlv_epi16(two, shifts);
}

DQL_INLINE __m512i spread_in_order(__m256i stream, int first) {
    const __m512i words = _mm512_set_epi64(0, 0x000b000a0009, 0, 0x000800070006, 0, 0x000500040003, 0, 0x000200010000);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 0, 1, 1, 2, 2, 2, 3, 4, 3, 4, 4, 5, 5, 5));
    return spread_words(stream, first, words, bytes, _mm512_set1_epi64(0x0002000400060000));
}

DQL_INLINE __m512i spread_apart(__m256i stream, int first) {
    const __m512i words =
        _mm512_set_epi64(0, 0x000b000a00050004, 0, 0x000a000900040003, 0, 0x0008000700020001, 0, 0x0007000600010000);
    const __m512i bytes =
        _mm512_set_epi64(0x0707030307060302, 0x0605020106050201, 0x0606020206050201, 0x0504010005040100,
                         0x0707030307060302, 0x0605020106050201, 0x0606020206050201, 0x0504010005040100);
    return spread_words(stream, first, words, bytes, _mm512_set4_epi32(0x00020002, 0x00040004, 0x00060006, 0));
}
#endif

DQL_INLINE __m512i spread(__m256i stream, int first, bool in_order) {
    return in_order ? spread_in_order(stream, first) : spread_apart(stream, first);
}

/* ---- a step ---- */

/* Halves of groups that are at least a vector of them. */
DQL_INLINE bool are_finished(dql_type y_type, size_t group_length) {
    return dql_is_half(y_type) && group_length >= 2 * LANES;
}

/* 64 elements: finished halves in order, or the upper halves of numbers, apart. */
typedef struct words64 {
    __m512i a, b;
} words64;

DQL_INLINE __m512i pick64(table64 table, __m512i codes) {
    return _mm512_permutex2var_epi16(table.low, codes, table.high);
}

/* Of elements from the start of a pack on, each half of them by a table of its own. No masks: the second load ends
 * where the elements do. */
DQL_INLINE words64 pick_words(table64 first, table64 second, const char *x, bool in_order) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)x), b = _mm256_loadu_si256((const __m256i *)(x + 16));
    return (words64){pick64(first, spread(a, 0, in_order)), pick64(second, spread(b, 8, in_order))};
}

/* Two vectors of numbers, of which dwords have the upper halves: lower words are those of the first one. */
DQL_INLINE vf32 first_numbers(__m512i apart) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(apart, 16));
}

DQL_INLINE vf32 second_numbers(__m512i apart) {
    return _mm512_castsi512_ps(_mm512_and_si512(apart, _mm512_set1_epi32((int)0xffff0000)));
}

/* 32 elements, of which vector v is times scale[v * LANES / group_length]. */
DQL_INLINE void store_numbers(dql_type y_type, __m512i apart, char *y, const float *scale, size_t group_length) {
    store_two(y_type, y, 0, _mm512_mul_ps(first_numbers(apart), splat(scale[0])),
              _mm512_mul_ps(second_numbers(apart), splat(scale[LANES / group_length])));
}

/* The table of a group, which may have that of numbers. */
DQL_INLINE table64 table_of_group(dql_type x_type, dql_type y_type, bool finished, float scale, const void *numbers) {
    return finished ? finished64(x_type, y_type, scale) : *(const table64 *)numbers;
}

/* 64 elements, a scale for each `group_length` of them, which finished ones have had. */
DQL_INLINE void store_64(dql_type y_type, words64 picked, char *y, const float *scale, size_t group_length) {
    if (are_finished(y_type, group_length)) {
        _mm512_storeu_si512(y, picked.a);
        _mm512_storeu_si512(y + 64, picked.b);
    } else {
        store_numbers(y_type, picked.a, y, scale, group_length);
        store_numbers(y_type, picked.b, y + 32 * dql_y_bytes(y_type), scale + 32 / group_length, group_length);
    }
}

/* n elements of one group, at most 32. */
DQL_INLINE void store_part(dql_type y_type, table64 table, __m512i codes, char *y, float scale, size_t n) {
    const __m512i picked = pick64(table, codes);
    if (dql_is_half(y_type)) {
        _mm512_mask_storeu_epi16(y, 0xffffffffu >> (32 - n), picked);
        return;
    }
    store(y_type, y, 0, n < LANES ? n : LANES, _mm512_mul_ps(first_numbers(picked), splat(scale)));
    if (n > LANES)
        store(y_type, y, LANES, n - LANES, _mm512_mul_ps(second_numbers(picked), splat(scale)));
}

/* ---- groups ---- */

/* The bytes of x of a step. */
DQL_INLINE size_t x_step64(dql_type x_type) {
    return dql_bytes_of(STEP64, dql_x_bits(x_type));
}

/* A group of whole steps from the start of a pack on. Picking words a step ahead gains 3 % over one long group, and
 * loses more in others. */
DQL_INLINE void group_of_64(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                            const void *numbers) {
    (void)count;
    const bool finished = dql_is_half(y_type);
    const float scales[] = {*row.scale, *row.scale}; /* y may alias it */
    const table64 table = table_of_group(x_type, y_type, finished, scales[0], numbers);
    const char *x = dql_address(x_type, row.x, row.i + k);
    for (; k < end; k += STEP64, x += x_step64(x_type))
        store_64(y_type, pick_words(table, table, x, finished), row.y + k * dql_y_bytes(y_type), scales, 32);
}

/* Any group. */
DQL_INLINE void group_by_table64(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                 const void *numbers) {
    const size_t steps = dql_starts_pack(x_type, row.i + k) ? (end - k) / STEP64 * STEP64 : 0;
    group_of_64(x_type, y_type, row, k, k + steps, count, numbers);
    k += steps;
    const bool finished = dql_is_half(y_type);
    const float scale = *row.scale;
    const table64 table = table_of_group(x_type, y_type, finished, scale, numbers);
    for (size_t n; k < end; k += n) {
        n = end - k < 32 ? end - k : 32;
        const __m256i stream = load_stream64(x_type, dql_at_element(x_type, row.x, row.i + k), n);
        store_part(y_type, table, spread(stream, 0, finished), row.y + k * dql_y_bytes(y_type), scale, n);
    }
}

/* Two groups of 32 or four of 16 a step, as many steps as there are; the number of elements left. */
DQL_INLINE size_t groups_of_64(dql_type x_type, dql_type y_type, dql_row *row, size_t count, size_t group_length,
                               const void *numbers) {
    const bool finished = are_finished(y_type, group_length);
    for (; count >= STEP64; count -= STEP64) {
        const table64 a = table_of_group(x_type, y_type, finished, row->scale[0], numbers),
                      b = table_of_group(x_type, y_type, finished, row->scale[1], numbers);
        store_64(y_type, pick_words(a, b, row->x, finished), row->y, row->scale, group_length);
        row->x += x_step64(x_type);
        row->y += STEP64 * dql_y_bytes(y_type);
        row->scale += STEP64 / group_length;
    }
    return count;
}

DQL_INLINE void row_by_table64(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                               const void *numbers) {
    if (!dql_starts_pack(x_type, row.i))
        ;
    else if (group_length == 16)
        count = groups_of_64(x_type, y_type, &row, count, 16, numbers);
    else if (group_length == 32)
        count = groups_of_64(x_type, y_type, &row, count, 32, numbers);
    else if (group_length % STEP64 == 0)
        count = dql_for_whole_groups(x_type, y_type, &row, count, group_length, group_of_64, numbers);
    dql_for_groups(x_type, y_type, row, count, group_length, group_by_table64, numbers);
}

/* Types of 6 bits; else false. Zero points are 0. */
DQL_INLINE bool try_table64(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    if (dql_codes(x_type) != 64)
        return false;
    const table64 numbers = numbers64(x_type);
    dql_for_rows(x_type, y_type, panel, group_length, row_by_table64, &numbers);
    return true;
}

#endif
