/* SVE of any vector length from 128 to 2,048 bits, powers of two or not. SVE2 has nothing that would make it shorter
 * but a conversion to float16 that interleaves, which spares one instruction in eight elements. */
#include "arm/sve.h"

#include "arm/sve_steps.h"

DQL_INLINE bool try_long_groups(dql_type x_type, dql_type y_type, const dql_panel *panel, size_t group_length) {
    dql_for_groups_of_rows(x_type, y_type, panel, group_length, group_by_steps, NULL);
    return true;
}

#include "kernel_template.h"

#include "kernel_table.h"

const dql_kernels dql_isa_sve = {DQL_KERNEL_TABLE};
