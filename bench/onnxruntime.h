/* As much of ONNX Runtime's C API as one DequantizeLinear node needs, from a library that is loaded at run time. */
#ifndef DQL_BENCH_ONNXRUNTIME_H
#define DQL_BENCH_ONNXRUNTIME_H

#include "dql/dql.h"

typedef struct ort_session ort_session;

/* Loads a libonnxruntime.so; NULL, or what went wrong. */
const char *ort_load(const char *library);
const char *ort_version(void);

/* A session of one thread, without graph optimisations, for a model of one node as `spec` says, its inputs and its
 * output bound to these buffers; zero may be NULL. NULL if ONNX Runtime refuses; then *why says why, until the next
 * call. */
ort_session *ort_open(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y,
                      const char **why);
void ort_run(ort_session *session);
void ort_close(ort_session *session);

#endif
