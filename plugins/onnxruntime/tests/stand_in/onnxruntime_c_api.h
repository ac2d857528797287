/* Stands in for ONNX Runtime's header of this name, which its packages for Python and node lack: what the example of
 * docs/onnxruntime.md uses of it, under the same names. The slots are the C API's, which never change. */
#ifndef DQL_STAND_IN_ONNXRUNTIME_C_API_H
#define DQL_STAND_IN_ONNXRUNTIME_C_API_H

#include <stddef.h>
#include <stdint.h>

#define ORT_API_VERSION 24

#ifdef _WIN32
typedef wchar_t ORTCHAR_T;
#else
typedef char ORTCHAR_T;
#endif

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtValue OrtValue;

typedef enum { ORT_LOGGING_LEVEL_INFO = 1, ORT_LOGGING_LEVEL_ERROR = 3 } OrtLoggingLevel;
typedef enum { OrtDeviceAllocator = 0 } OrtAllocatorType;
typedef enum { OrtMemTypeDefault = 0 } OrtMemType;
typedef enum { ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1 } ONNXTensorElementDataType;

#define SLOTS(from, to) void (*slots_##from[(to) - (from)])(void)

typedef struct OrtApi {
    SLOTS(0, 2);
    const char *(*GetErrorMessage)(const OrtStatus *);
    OrtStatus *(*CreateEnv)(OrtLoggingLevel, const char *, OrtEnv **);
    SLOTS(4, 7);
    OrtStatus *(*CreateSession)(const OrtEnv *, const ORTCHAR_T *, const OrtSessionOptions *, OrtSession **);
    SLOTS(8, 9);
    OrtStatus *(*Run)(OrtSession *, const OrtRunOptions *, const char *const *, const OrtValue *const *, size_t,
                      const char *const *, size_t, OrtValue **);
    OrtStatus *(*CreateSessionOptions)(OrtSessionOptions **);
    SLOTS(11, 49);
    OrtStatus *(*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo *, void *, size_t, const int64_t *, size_t,
                                                 ONNXTensorElementDataType, OrtValue **);
    SLOTS(50, 51);
    OrtStatus *(*GetTensorMutableData)(OrtValue *, void **);
    SLOTS(52, 69);
    OrtStatus *(*CreateCpuMemoryInfo)(OrtAllocatorType, OrtMemType, OrtMemoryInfo **);
    SLOTS(70, 92);
    void (*ReleaseEnv)(OrtEnv *);
    SLOTS(93, 94);
    void (*ReleaseMemoryInfo)(OrtMemoryInfo *);
    void (*ReleaseSession)(OrtSession *);
    void (*ReleaseValue)(OrtValue *);
    SLOTS(97, 100);
    void (*ReleaseSessionOptions)(OrtSessionOptions *);
    SLOTS(101, 301);
    OrtStatus *(*RegisterExecutionProviderLibrary)(OrtEnv *, const char *, const ORTCHAR_T *);
    OrtStatus *(*UnregisterExecutionProviderLibrary)(OrtEnv *, const char *);
    OrtStatus *(*GetEpDevices)(const OrtEnv *, const OrtEpDevice *const **, size_t *);
    OrtStatus *(*SessionOptionsAppendExecutionProvider_V2)(OrtSessionOptions *, OrtEnv *, const OrtEpDevice *const *,
                                                           size_t, const char *const *, const char *const *, size_t);
    SLOTS(305, 312);
    const char *(*EpDevice_EpName)(const OrtEpDevice *);
} OrtApi;

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t);
    const char *(*GetVersionString)(void);
} OrtApiBase;

const OrtApiBase *OrtGetApiBase(void);

#endif
