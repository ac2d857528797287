/* Computes a panel and writes it past the caches. */
#ifndef DQL_STREAM_H
#define DQL_STREAM_H

#include "plan.h"

/* Others are not sure to see it before a sequentially consistent fence. */
void dql_stream_panel(const dql_plan_data *plan, dql_kernel *kernel, const dql_panel *panel);

#endif
