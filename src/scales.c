/* Rows of scales that are far apart. */
#include "scales.h"

#include <string.h>

const int32_t dql_no_zero[DQL_NO_ZEROS];
_Static_assert((int)DQL_NO_ZEROS >= (int)SCRATCH_WORDS, "a panel's groups are no more than those");

/* Rows of `bytes` bytes, `stride` apart, one after the other. */
DQL_INLINE void copy_rows(char *to, const char *from, size_t bytes, size_t stride, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * bytes, from + r * stride, bytes);
}

/* Copies of constant sizes are single instructions. */
static void copy_few(char *to, const char *from, size_t bytes, size_t stride, size_t rows) {
    switch (bytes) {
    case 1: copy_rows(to, from, 1, stride, rows); break;
    case 2: copy_rows(to, from, 2, stride, rows); break;
    case 4: copy_rows(to, from, 4, stride, rows); break;
    case 8: copy_rows(to, from, 8, stride, rows); break;
    case 16: copy_rows(to, from, 16, stride, rows); break;
    default: copy_rows(to, from, bytes, stride, rows);
    }
}

/* Few bytes a row are copied beside each other, pack by pack, and widened by one call: for panels of 32 x 64 int4 this
 * takes 139 ns, a call a row 291, a widening function that knows rows 181, and codes instead of packs 154 (Zen 4).
 * A last pack of several bytes that is not whole is left to the calls: it may end beyond the tensor. */
widened dql_gather_rows(const narrow *source, const scale_rows *s, words *to) {
    const dql_pack pack = source->pack;
    const size_t length = (size_t)1 << pack.length_log2, skip = dql_place_in_pack(pack, s->first);
    const size_t whole = (skip + s->n + length - 1) & ~(length - 1), bytes = (whole >> pack.length_log2) * pack.bytes;
    const bool ends_early = pack.bytes > 1 && whole > skip + s->n;
    if (dql_place_in_pack(pack, s->stride) || bytes > MAX_COPIED_BYTES || ends_early) {
        assert(s->rows * s->n <= SCRATCH_WORDS);
        for (size_t r = 0; r < s->rows; r++)
            source->widen(source->from, s->first + r * s->stride, to->i32 + r * s->n, s->n);
        return (widened){to->i32, s->n};
    }
    assert(s->rows * whole <= SCRATCH_WORDS && s->rows * bytes <= 2 * SCRATCH_WORDS);
    char copied[2 * SCRATCH_WORDS]; /* 16 bytes are 4 elements or more, whose rows have room for 10 words or more */
    copy_few(copied, dql_pack_address(pack, source->from, s->first), bytes,
             (s->stride >> pack.length_log2) * pack.bytes, s->rows);
    source->widen(copied, 0, to->i32, s->rows * whole);
    return (widened){to->i32 + skip, whole};
}
