/* As much of ONNX Runtime's C ABI as this plug-in uses, in our own words. Its tables of functions and its structs are
 * only ever appended to, so what is declared here is at the same place in every version from 1.24 on; the numbers are
 * those of the slots. A slot that a version lacks is never read: the tables are asked for as of version ORT_VERSION.
 *
 * Source: ONNX Runtime's documentation of OrtApi, OrtEpApi, OrtEpFactory, OrtEp and OrtKernelImpl. */
#ifndef DQL_ONNXRUNTIME_ABI_H
#define DQL_ONNXRUNTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_VERSION 24 /* of the API: 1.24's. Structs that the plug-in fills in have the fields of that version. */

typedef void ort_function(void);

typedef struct ort_status ort_status; /* NULL is success */
typedef struct ort_value ort_value;
typedef struct ort_logger ort_logger;
typedef struct ort_session_options ort_session_options;
typedef struct ort_key_value_pairs ort_key_value_pairs;
typedef struct ort_type_info ort_type_info;
typedef struct ort_tensor_info ort_tensor_info;
typedef struct ort_kernel_info ort_kernel_info;
typedef struct ort_kernel_context ort_kernel_context;
typedef struct ort_graph ort_graph;
typedef struct ort_node ort_node;
typedef struct ort_hardware ort_hardware;
typedef struct ort_device ort_device; /* hardware that a provider can use */
typedef struct ort_graph_support ort_graph_support;
typedef struct ort_registry ort_registry;
typedef struct ort_definition ort_definition; /* of a kernel: operator, versions, types */
typedef struct ort_definition_builder ort_definition_builder;
typedef struct ort_data_type ort_data_type;
typedef struct ort_memory_info ort_memory_info;
typedef struct ort_allocator ort_allocator;

typedef enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2, ORT_NOT_IMPLEMENTED = 9 } ort_error;
typedef enum { ORT_LOG_INFO = 1 } ort_severity;
typedef enum { ORT_HARDWARE_CPU } ort_hardware_type;

#ifdef _WIN32
typedef wchar_t ort_path_char;
#define ORT_PATH(text) L##text
#else
typedef char ort_path_char;
#define ORT_PATH(text) text
#endif

typedef struct ort_ep ort_ep;
typedef struct ort_ep_api ort_ep_api;
typedef struct ort_factory ort_factory;
typedef struct ort_kernel ort_kernel;

/* ---- what the runtime gives ---- */

/* Slots [from, to) of a table, which are not used. */
#define ORT_SLOTS(from, to) ort_function *slots_##from[(to) - (from)]

typedef struct ort_api {
    ort_status *(*create_status)(ort_error code, const char *message);
    ORT_SLOTS(1, 51);
    ort_status *(*get_tensor_data)(const ort_value *value, void **data);
    ORT_SLOTS(52, 55);
    ort_status *(*get_tensor_info)(const ort_type_info *info, const ort_tensor_info **tensor); /* NULL: no tensor */
    ORT_SLOTS(56, 60);
    ort_status *(*get_element_type)(const ort_tensor_info *tensor, int *type);
    ort_status *(*get_rank)(const ort_tensor_info *tensor, size_t *rank);
    ort_status *(*get_dims)(const ort_tensor_info *tensor, int64_t *dims, size_t rank); /* -1: unknown */
    ORT_SLOTS(63, 86);
    ort_status *(*get_attribute)(const ort_kernel_info *info, const char *name, int64_t *value); /* fails if absent */
    ORT_SLOTS(87, 88);
    ort_status *(*get_input_count)(const ort_kernel_context *context, size_t *count);
    ORT_SLOTS(89, 90);
    ort_status *(*get_input)(const ort_kernel_context *context, size_t index, const ort_value **value); /* or NULL */
    ort_status *(*get_output)(ort_kernel_context *context, size_t index, const int64_t *dims, size_t rank,
                              ort_value **value);
    ORT_SLOTS(92, 93);
    void (*release_status)(ort_status *status);
    ORT_SLOTS(94, 98);
    void (*release_type_info)(ort_type_info *info);
    ORT_SLOTS(99, 233);
    /* Names: with text NULL, *size becomes what is needed, with the terminator. */
    ort_status *(*get_output_name)(const ort_kernel_info *info, size_t index, char *text, size_t *size);
    ort_status *(*get_input_type)(const ort_kernel_info *info, size_t index, ort_type_info **type);
    ort_status *(*get_output_type)(const ort_kernel_info *info, size_t index, ort_type_info **type);
    ORT_SLOTS(236, 244);
    ort_status *(*get_node_name)(const ort_kernel_info *info, char *text, size_t *size);
    ORT_SLOTS(245, 247);
    ort_status *(*log)(const ort_logger *logger, ort_severity severity, const char *message, const ort_path_char *file,
                       int line, const char *function);
    ORT_SLOTS(248, 274);
    /* Calls function(state, number) for each number below `total`, on the session's threads; returns when all are done.
     */
    ort_status *(*parallel_for)(const ort_kernel_context *context, void (*function)(void *state, size_t number),
                                size_t total, size_t batches, void *state);
    ORT_SLOTS(275, 298);
    void (*get_pairs)(const ort_key_value_pairs *pairs, const char *const **keys, const char *const **values,
                      size_t *count);
    ORT_SLOTS(299, 300);
    void (*release_pairs)(ort_key_value_pairs *pairs);
    ORT_SLOTS(301, 307);
    ort_hardware_type (*get_hardware_type)(const ort_hardware *hardware);
    ORT_SLOTS(308, 317);
    const ort_ep_api *(*get_ep_api)(void);
    ORT_SLOTS(318, 344);
    ort_status *(*get_node_count)(const ort_graph *graph, size_t *count);
    ort_status *(*get_nodes)(const ort_graph *graph, const ort_node **nodes, size_t count);
    ORT_SLOTS(346, 350);
    ort_status *(*get_operator)(const ort_node *node, const char **name);
    ort_status *(*get_domain)(const ort_node *node, const char **name);
    ORT_SLOTS(352, 379);
    ort_status *(*get_session_config)(const ort_session_options *options, ort_key_value_pairs **pairs);
    ORT_SLOTS(380, 414);
    ort_status *(*get_tensor_type_and_shape)(const ort_value *value, int *type, const int64_t **shape, size_t *rank);
} ort_api;

struct ort_ep_api {
    ort_status *(*create_device)(ort_factory *factory, const ort_hardware *hardware,
                                 const ort_key_value_pairs *metadata, const ort_key_value_pairs *options,
                                 ort_device **device);
    ORT_SLOTS(1, 3);
    ort_status *(*add_node)(ort_graph_support *support, const ort_node *node);
    ORT_SLOTS(4, 18);
    ort_status *(*create_registry)(ort_registry **registry);
    void (*release_registry)(ort_registry *registry);
    ort_status *(*add_kernel)(ort_registry *registry, const ort_definition *definition,
                              ort_status *(*create)(void *state, const ort_kernel_info *info, ort_kernel **kernel),
                              void *state);
    ort_status *(*create_builder)(ort_definition_builder **builder);
    void (*release_builder)(ort_definition_builder *builder);
    ort_status *(*set_operator)(ort_definition_builder *builder, const char *name);
    ort_status *(*set_domain)(ort_definition_builder *builder, const char *name);
    ort_status *(*set_versions)(ort_definition_builder *builder, int first, int last);
    ort_status *(*set_provider)(ort_definition_builder *builder, const char *name);
    ORT_SLOTS(27, 29);
    ort_status *(*add_types)(ort_definition_builder *builder, const char *constraint, const ort_data_type *const *types,
                             size_t count);
    ORT_SLOTS(30, 32);
    ort_status *(*build)(ort_definition_builder *builder, ort_definition **definition);
    void (*release_definition)(ort_definition *definition);
    ORT_SLOTS(34, 40);
    ort_status *(*get_tensor_type)(int element_type,
                                   const ort_data_type **type); /* the runtime's, not to be released */
    ort_status *(*look_up_kernel)(ort_graph_support *support, const ort_node *node, const ort_definition **definition);
};

#define ORT_IS_AT(table, slot, member)                                                                                 \
    _Static_assert(offsetof(table, member) == (slot) * sizeof(ort_function *), #member " is elsewhere")
ORT_IS_AT(ort_api, 51, get_tensor_data);
ORT_IS_AT(ort_api, 86, get_attribute);
ORT_IS_AT(ort_api, 93, release_status);
ORT_IS_AT(ort_api, 233, get_output_name);
ORT_IS_AT(ort_api, 247, log);
ORT_IS_AT(ort_api, 274, parallel_for);
ORT_IS_AT(ort_api, 317, get_ep_api);
ORT_IS_AT(ort_api, 351, get_domain);
ORT_IS_AT(ort_api, 414, get_tensor_type_and_shape);
ORT_IS_AT(ort_ep_api, 26, set_provider);
ORT_IS_AT(ort_ep_api, 41, look_up_kernel);

typedef struct ort_base {
    const ort_api *(*get_api)(uint32_t version); /* NULL, and a line on stderr, if the runtime is older */
    const char *(*get_version)(void);            /* "1.24.0" */
} ort_base;

/* ---- what the plug-in gives: a version, and functions; those that are NULL are optional ---- */

struct ort_factory {
    uint32_t version;
    const char *(*get_name)(const ort_factory *factory);
    const char *(*get_vendor)(const ort_factory *factory);
    ort_status *(*get_devices)(ort_factory *factory, const ort_hardware *const *hardware, size_t count,
                               ort_device **devices, size_t max, size_t *device_count);
    ort_status *(*create_ep)(ort_factory *factory, const ort_hardware *const *hardware,
                             const ort_key_value_pairs *const *metadata, size_t count,
                             const ort_session_options *options, const ort_logger *logger, ort_ep **ep);
    void (*release_ep)(ort_factory *factory, ort_ep *ep);
    uint32_t (*get_vendor_id)(const ort_factory *factory);
    const char *(*get_version)(const ort_factory *factory);
    ort_function *validate_compiled_model;
    ort_status *(*create_allocator)(ort_factory *factory, const ort_memory_info *memory,
                                    const ort_key_value_pairs *options, ort_allocator **allocator);
    void (*release_allocator)(ort_factory *factory, ort_allocator *allocator);
    ort_status *(*create_data_transfer)(ort_factory *factory, void **transfer);
    bool (*is_stream_aware)(const ort_factory *factory);
    ort_function *others[12];
};

struct ort_ep {
    uint32_t version;
    const char *(*get_name)(const ort_ep *ep);
    ort_status *(*get_capability)(ort_ep *ep, const ort_graph *graph, ort_graph_support *support);
    ort_function *compiling[10];
    ort_status *(*get_registry)(ort_ep *ep, const ort_registry **registry);
    ort_function *others[16];
};

struct ort_kernel {
    uint32_t version;
    uint32_t flags; /* 0 */
    ort_status *(*compute)(ort_kernel *kernel, ort_kernel_context *context);
    void (*release)(ort_kernel *kernel);
    ort_function *packing[2];
};

#endif
