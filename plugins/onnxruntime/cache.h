#ifndef DQL_ONNXRUNTIME_CACHE_H
#define DQL_ONNXRUNTIME_CACHE_H

#include <stddef.h>

/* Bytes of the last-level cache. What the OS says, or a usual size. */
size_t last_level_cache(void);

#endif
