/* The execution provider of one session: it says which nodes dql runs, and brings their kernels. */
#ifndef DQL_ONNXRUNTIME_PROVIDER_H
#define DQL_ONNXRUNTIME_PROVIDER_H

#include "abi.h"

#define PROVIDER_NAME "DqlExecutionProvider"

/* Fails if an option of the provider in `options` is unknown or has a value that can't be. `logger` is the session's.
 */
ort_status *provider_create(const ort_api *api, const ort_session_options *options, const ort_logger *logger,
                            ort_ep **ep);

/* After the session. */
void provider_release(ort_ep *ep);

#endif
