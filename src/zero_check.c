/* Bits are compared, not numbers, so that packed types need no code of their own. */
#include "zero_check.h"

static bool is_0(const dql_plan_data *plan, const void *zero, size_t i) {
    const size_t bits = dql_element_bits(plan->x_pack), first = dql_place_in_pack(plan->x_pack, i) * bits;
    const uint8_t *const at = (const uint8_t *)dql_pack_address(plan->x_pack, zero, i) + first / 8;
    unsigned code = at[0] >> first % 8;
    if (first % 8 + bits > 8)
        code |= (unsigned)at[1] << (8 - first % 8);
    return (code & plan->zero_bits) == 0;
}

/* Looks at zero points [begin, end) that are whole packs: at bytes of the same place in their packs together. */
static bool packs_are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t end) {
    const dql_pack pack = plan->x_pack;
    uint64_t mask = 0;
    for (unsigned k = 0; k < 1u << pack.length_log2; k++)
        mask |= (uint64_t)plan->zero_bits << k * dql_element_bits(pack);
    const uint8_t *const last = (const uint8_t *)dql_pack_address(pack, zero, end);
    for (size_t place = 0; place < pack.bytes; place++) {
        unsigned bits = 0;
        for (const uint8_t *at = (const uint8_t *)dql_pack_address(pack, zero, begin) + place; at < last;
             at += pack.bytes)
            bits |= *at;
        if (bits & mask >> 8 * place)
            return false;
    }
    return true;
}

/* Looks at zero points [begin, end), at those of packs in part one by one: other bits of their bytes do not count, and
 * no byte is read that holds none of them. */
static bool are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t end) {
    for (; begin < end && dql_place_in_pack(plan->x_pack, begin); begin++)
        if (!is_0(plan, zero, begin))
            return false;
    for (; begin < end && dql_place_in_pack(plan->x_pack, end); end--)
        if (!is_0(plan, zero, end - 1))
            return false;
    return begin == end || packs_are_0(plan, zero, begin, end);
}

/* Whether the zero points of elements [begin, end), whose scales follow each other, are 0. */
static bool span_is_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t end) {
    return begin == end || are_0(plan, zero, cursor_at(plan, begin).scale, cursor_at(plan, end - 1).scale + 1);
}

/* The scales of the part of a first line, of whole lines, and of the part of a last one follow each other. */
bool dql_zeros_of_range_are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t end) {
    const size_t next_line = begin - cursor_at(plan, begin).column + plan->line_length;
    if (end <= next_line)
        return span_is_0(plan, zero, begin, end);
    const size_t last_line = end - 1 - cursor_at(plan, end - 1).column;
    return span_is_0(plan, zero, begin, next_line) && span_is_0(plan, zero, last_line, end) &&
           span_is_0(plan, zero, next_line, last_line);
}

/* Rows that use the same scales as the one before are not looked at again. */
bool dql_zeros_of_rows_are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t length, size_t rows,
                             size_t x_stride) {
    const cursor_delta row = cursor_delta_of(plan, x_stride);
    cursor at = cursor_at(plan, begin);
    for (;;) {
        if (!dql_zeros_of_range_are_0(plan, zero, at.element, at.element + length))
            return false;
        for (cursor before = at;; before = at) {
            if (--rows == 0)
                return true;
            cursor_add(plan, &at, &row);
            const bool in_a_line = length <= plan->line_length - at.column;
            if (!in_a_line || at.scale != before.scale || at.in_group != before.in_group)
                break;
        }
    }
}
