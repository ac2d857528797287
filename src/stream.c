/* A panel goes through a buffer that stays in the cache, so that every kernel can stream and every store is a whole
 * one; or the kernel streams by itself. */
#include "stream.h"

#include "cursor.h"

/* 16-bit outputs lose 15 % to buffers of 1 KiB, and 8 and 16 KiB are slower for 32 bits (Zen 4). */
enum { BUFFER_BYTES = 2048 };

/* The CPU's own prefetching comes too late between non-temporal stores for kernels that read a cache line in few loads.
 * Elements of more than 16 bits are so many lines that asking for them costs more than it gains; so do outputs of 16
 * bits, which take longer. (Not inlined, gcc 12 thinks that this does nothing, and leaves it out.) */
DQL_INLINE void prefetch(const dql_plan_data *plan, const void *x, size_t i, size_t n) {
    enum { CACHE_LINE = 64 };
    if (dql_element_bits(plan->x_pack) > 16 || plan->y_size < 4)
        return;
    const char *const end = dql_pack_address(plan->x_pack, x, i + n);
    for (const char *at = dql_pack_address(plan->x_pack, x, i); at < end; at += CACHE_LINE)
        __builtin_prefetch(at);
}

/* Row r, as many whole groups at a time as the buffer has room for, or parts of one. */
static void stream_row(const dql_plan_data *plan, dql_kernel *kernel, const dql_panel *panel, size_t r, char *buffer) {
    const size_t y_size = plan->y_size, room = BUFFER_BYTES / y_size, group_length = panel->group_length;
    const size_t whole_groups = group_length <= room ? room / group_length * group_length : 0;
    dql_panel part = *panel;
    part.y = buffer;
    part.i += r * panel->x_stride;
    part.scale += r * panel->scale_stride;
    part.zero += r * panel->zero_stride;
    part.rows = 1;
    char *y = (char *)panel->y + r * panel->y_stride * y_size;
    size_t group_left = group_length; /* of the group of *part.scale */
    for (size_t left = panel->count; left; left -= part.count) {
        part.count = min(left, whole_groups ? whole_groups : min(group_left, room));
        if (part.count < left)
            prefetch(plan, part.x, part.i + part.count, min(part.count, left - part.count));
        else if (r + 1 < panel->rows)
            prefetch(plan, part.x, panel->i + (r + 1) * panel->x_stride, part.count);
        kernel(&part);
        plan->stream(y, buffer, part.count * y_size);
        y += part.count * y_size;
        part.i += part.count;
        const size_t groups = whole_groups ? part.count / group_length : part.count == group_left;
        group_left = groups ? group_length : group_left - part.count;
        part.scale += groups;
        part.zero += panel->zero == dql_no_zero ? 0 : groups; /* by its address kernels know that there is none */
    }
}

/* Rows that follow each other in y, `together` at a time. */
static void stream_rows(const dql_plan_data *plan, dql_kernel *kernel, dql_panel part, size_t together, char *buffer) {
    const size_t row_bytes = part.count * plan->y_size;
    char *y = part.y;
    part.y = buffer;
    for (size_t left = part.rows; left; left -= part.rows) {
        part.rows = min(left, together);
        if (part.rows < left && part.x_stride == part.count)
            prefetch(plan, part.x, part.i + part.rows * part.count, min(part.rows, left - part.rows) * part.count);
        kernel(&part);
        plan->stream(y, buffer, part.rows * row_bytes);
        y += part.rows * row_bytes;
        part.i += part.rows * part.x_stride;
        part.scale += part.rows * part.scale_stride;
        part.zero += part.rows * part.zero_stride;
    }
}

/* Long rows that share their scales, an element each, go straight to y: through the buffer each would read all scales
 * again. (The exact kernel of int32 can't stream.) An even number of rows together is whole cache lines where they are
 * multiples of 16 elements. */
void dql_stream_panel(const dql_plan_data *plan, dql_kernel *kernel, const dql_panel *panel) {
    if (panel->rows > 1 && panel->count > DQL_SMALL_ROW && kernel == plan->kernel &&
        dql_can_stream(panel, plan->y_size, (size_t)1 << plan->x_pack.length_log2)) {
        dql_panel direct = *panel;
        direct.streams = true;
        kernel(&direct);
        return;
    }
    _Alignas(64) char buffer[BUFFER_BYTES];
    const size_t together = BUFFER_BYTES / (panel->count * plan->y_size) / 2 * 2;
    if (panel->rows > 1 && panel->y_stride == panel->count && together)
        stream_rows(plan, kernel, *panel, together, buffer);
    else
        for (size_t r = 0; r < panel->rows; r++)
            stream_row(plan, kernel, panel, r, buffer);
}
