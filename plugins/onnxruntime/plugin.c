/* The two functions that ONNX Runtime calls when the library is registered and unregistered, and the factory that they
 * make: it offers the CPU as a device, and creates a provider for each session. */
#include "dql/dql.h"
#include "provider.h"
#include "text.h"

#include <stdlib.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef struct factory {
    ort_factory base;
    const ort_api *api; /* a process may have several runtimes, each with a factory and an API of its own */
} factory;

static const char *get_name(const ort_factory *f) {
    (void)f;
    return PROVIDER_NAME;
}

static const char *get_vendor(const ort_factory *f) {
    (void)f;
    return "dql";
}

static uint32_t get_vendor_id(const ort_factory *f) {
    (void)f;
    return 0; /* of PCI vendors: none */
}

static const char *get_version(const ort_factory *f) {
    (void)f;
    return dql_version();
}

static ort_status *get_devices(ort_factory *f, const ort_hardware *const *hardware, size_t count, ort_device **devices,
                               size_t max, size_t *device_count) {
    const ort_api *api = ((factory *)f)->api;
    *device_count = 0;
    for (size_t i = 0; i < count && *device_count < max; i++)
        if (api->get_hardware_type(hardware[i]) == ORT_HARDWARE_CPU) {
            TRY(api->get_ep_api()->create_device(f, hardware[i], NULL, NULL, &devices[*device_count]));
            ++*device_count;
        }
    return NULL;
}

static ort_status *create_ep(ort_factory *f, const ort_hardware *const *hardware,
                             const ort_key_value_pairs *const *metadata, size_t count,
                             const ort_session_options *options, const ort_logger *logger, ort_ep **ep) {
    (void)hardware, (void)metadata, (void)count;
    return provider_create(((factory *)f)->api, options, logger, ep);
}

static void release_ep(ort_factory *f, ort_ep *ep) {
    (void)f;
    provider_release(ep);
}

/* Without an allocator of its own the provider works in the CPU's memory, and nothing is ever copied for it. */
static ort_status *create_allocator(ort_factory *f, const ort_memory_info *memory, const ort_key_value_pairs *options,
                                    ort_allocator **allocator) {
    (void)f, (void)memory, (void)options;
    *allocator = NULL;
    return NULL;
}

static void release_allocator(ort_factory *f, ort_allocator *allocator) {
    (void)f, (void)allocator;
}

static ort_status *create_data_transfer(ort_factory *f, void **transfer) {
    (void)f;
    *transfer = NULL;
    return NULL;
}

static bool is_stream_aware(const ort_factory *f) {
    (void)f;
    return false;
}

/* The API to ask for: 24 of "1.24.0" and of what is newer, 23 of "1.23.2"; 0 for what is no version. */
static uint32_t api_version(const char *runtime) {
    char *dot;
    const unsigned long major = strtoul(runtime, &dot, 10);
    if (major < 1 || *dot != '.')
        return 0;
    const unsigned long minor = strtoul(dot + 1, NULL, 10);
    return major > 1 || minor > ORT_VERSION ? ORT_VERSION : (uint32_t)minor;
}

/* Asking for an API that the runtime does not have makes it print, so its version is read first. */
static ort_status *find_api(const ort_base *base, const ort_api **api) {
    const char *runtime = base->get_version();
    const uint32_t version = api_version(runtime);
    *api = base->get_api(version);
    if (*api && version < ORT_VERSION)
        return fail(*api, ORT_NOT_IMPLEMENTED, "dql %s needs ONNX Runtime 1.%d or later, this is %.40s", dql_version(),
                    ORT_VERSION, runtime);
    return NULL;
}

EXPORT ort_status *CreateEpFactories(const char *name, const ort_base *base, const ort_logger *logger,
                                     ort_factory **factories, size_t max, size_t *count) {
    (void)name, (void)logger;
    const ort_api *api = NULL;
    *count = 0;
    TRY(find_api(base, &api));
    if (!api || max < 1)
        return NULL; /* there is nobody to tell, or no place */
    factory *f = calloc(1, sizeof *f);
    if (!f)
        return fail(api, ORT_FAIL, "dql: no memory");
    *f = (factory){
        .api = api,
        .base =
            {
                .version = ORT_VERSION,
                .get_name = get_name,
                .get_vendor = get_vendor,
                .get_devices = get_devices,
                .create_ep = create_ep,
                .release_ep = release_ep,
                .get_vendor_id = get_vendor_id,
                .get_version = get_version,
                .create_allocator = create_allocator,
                .release_allocator = release_allocator,
                .create_data_transfer = create_data_transfer,
                .is_stream_aware = is_stream_aware,
            },
    };
    factories[0] = &f->base;
    *count = 1;
    return NULL;
}

EXPORT ort_status *ReleaseEpFactory(ort_factory *f) {
    free(f);
    return NULL;
}
