/* Zero points of types that have only 0 for one. */
#ifndef DQL_ZERO_CHECK_H
#define DQL_ZERO_CHECK_H

#include "cursor.h"

/* Whether the zero points that elements [begin, end) use, and no others, are 0; begin < end. */
bool dql_zeros_of_range_are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t end);

/* Whether those that `rows` rows of `length` elements use, and no others, are 0; rows and length are not 0. */
bool dql_zeros_of_rows_are_0(const dql_plan_data *plan, const void *zero, size_t begin, size_t length, size_t rows,
                             size_t x_stride);

#endif
