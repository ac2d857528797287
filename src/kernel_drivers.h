/* The loops around every kernel's own: over the rows of a panel, and over the groups of a row. What they do is a
 * function that is a constant in every call and always inlined, so that nothing but its code is left of it. `tables` is
 * what its caller has made for it, or NULL. */
#ifndef DQL_KERNEL_DRIVERS_H
#define DQL_KERNEL_DRIVERS_H

#include "kernel.h"

/* Computes `count` elements of a row. */
typedef void dql_row_function(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                              const void *tables);

/* Computes elements [k, end) of a row of `count`: a group, whose scale and zero point are the row's first. */
typedef void dql_group_function(dql_type x_type, dql_type y_type, dql_row row, size_t k, size_t end, size_t count,
                                const void *tables);

/* The count is read again for each row, since y may alias the panel, as far as the compiler knows. In a register, with
 * all that gcc computes from it before the loop, it makes a call of 64 elements a third slower. */
DQL_INLINE void dql_for_rows(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length,
                             dql_row_function *f, const void *tables) {
    dql_row row = dql_first_row(x_type, panel);
    for (size_t rows = panel->rows; rows; rows--, dql_next_row(x_type, y_type, panel, &row))
        f(x_type, y_type, row, panel->count, group_length, tables);
}

/* The same for small rows: there the count is worth a register, which spares each row what gcc computes from it. */
DQL_INLINE void dql_for_small_rows(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length,
                                   dql_row_function *f, const void *tables) {
    const size_t count = panel->count;
    dql_row row = dql_first_row(x_type, panel);
    for (size_t rows = panel->rows; rows; rows--, dql_next_row(x_type, y_type, panel, &row))
        f(x_type, y_type, row, count, group_length, tables);
}

/* The whole groups at the start of a row, which are whole packs. Where group_length is a constant, so is the number of
 * their vectors. Moves the row past them, by pointers, since a loop over groups of one vector is 15 % slower by an
 * index, and returns how many elements are left. */
DQL_INLINE size_t dql_for_whole_groups(dql_type x_type, dql_type y_type, dql_row *row, size_t count,
                                       size_t group_length, dql_group_function *f, const void *tables) {
    assert(dql_starts_pack(x_type, group_length));
    for (; count >= group_length; count -= group_length) {
        f(x_type, y_type, *row, 0, group_length, count, tables);
        row->x += dql_bytes_of(group_length, dql_x_bits(x_type));
        row->y += group_length * dql_y_bytes(y_type);
        __asm__("" : "+r"(row->y)); /* else gcc may address y by an index from x */
        row->scale++;
        row->zero++;
    }
    return count;
}

/* All groups of a row, of which the last one may be a part. */
DQL_INLINE void dql_for_groups(dql_type x_type, dql_type y_type, dql_row row, size_t count, size_t group_length,
                               dql_group_function *f, const void *tables) {
    for (size_t k = 0, end; k < count; k = end, row.scale++, row.zero++) {
        end = group_length < count - k ? k + group_length : count;
        f(x_type, y_type, row, k, end, count, tables);
    }
}

/* All groups of all rows. */
DQL_INLINE void dql_for_groups_of_rows(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length,
                                       dql_group_function *f, const void *tables) {
    dql_row row = dql_first_row(x_type, panel);
    for (size_t rows = panel->rows; rows; rows--, dql_next_row(x_type, y_type, panel, &row))
        dql_for_groups(x_type, y_type, row, panel->count, group_length, f, tables);
}

#endif
