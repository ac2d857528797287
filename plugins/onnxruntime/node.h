/* A DequantizeLinear node: the kernel that ONNX Runtime creates for it and runs. */
#ifndef DQL_ONNXRUNTIME_NODE_H
#define DQL_ONNXRUNTIME_NODE_H

#include "abi.h"
#include "dql/dql.h"

/* What the nodes of a session share. */
typedef struct settings {
    const ort_api *api;
    dql_isa isa;
    bool threads; /* whether large tensors are cut for the session's threads */
    size_t cache; /* bytes of the last-level cache: what y is larger than is streamed */
} settings;

/* What the registry calls for each node; `state` is the session's settings, which outlive the node. */
ort_status *node_create(void *state, const ort_kernel_info *info, ort_kernel **kernel);

#endif
