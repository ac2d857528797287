#include "onnxruntime.h"

#include "kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the C API: a table of functions that is only ever appended to, so a slot number is a name ---- */

typedef void any_function(void);
typedef struct ort_status ort_status; /* NULL: success */

typedef struct ort_base {
    any_function *const *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
} ort_base;

enum {
    API_VERSION = 13, /* the first with all that is used here */
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_GRAPH_OPTIMIZATION_LEVEL = 23,
    SET_INTRA_OP_THREADS = 24,
    CREATE_TENSOR_WITH_DATA = 49,
    CREATE_CPU_MEMORY_INFO = 69,
    RELEASE_STATUS = 93,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
};

typedef const char *get_error_message(const ort_status *status);
typedef ort_status *create_env(int log_level, const char *name, void **env);
typedef ort_status *create_session_from_array(void *env, const void *model, size_t size, void *options, void **session);
typedef ort_status *run(void *session, const void *options, const char *const *input_names, void *const *inputs,
                        size_t input_count, const char *const *output_names, size_t output_count, void **outputs);
typedef ort_status *create_session_options(void **options);
typedef ort_status *set_number(void *options, int number);
typedef ort_status *create_tensor_with_data(const void *memory_info, void *data, size_t bytes, const int64_t *shape,
                                            size_t rank, int type, void **value);
typedef ort_status *create_cpu_memory_info(int allocator, int memory_type, void **memory_info);
typedef void release(void *object);

static any_function *const *api;
static const ort_base *base;
static void *env, *options, *memory_info;

/* Function `slot`, of type TYPE. */
#define API(TYPE, slot) ((TYPE *)api[slot])

/* NULL, or the message of a status that is then gone; valid until the next one. */
static const char *message_of(ort_status *status) {
    static char message[256];
    if (!status)
        return NULL;
    snprintf(message, sizeof message, "%s", API(get_error_message, GET_ERROR_MESSAGE)(status));
    API(release, RELEASE_STATUS)(status);
    return message;
}

const char *ort_load(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return dlerror();
    const ort_base *(*get_base)(void);
    void *symbol = dlsym(handle, "OrtGetApiBase");
    if (!symbol)
        return "no OrtGetApiBase in it";
    memcpy(&get_base, &symbol, sizeof symbol);
    base = get_base();
    api = base->get_api(API_VERSION);
    if (!api)
        return "its API is too old";
    enum { FATAL = 4, ARENA = 1, DEFAULT = 0, NO_OPTIMIZATION = 0 };
    const char *error = message_of(API(create_env, CREATE_ENV)(FATAL, "bench", &env));
    if (!error)
        error = message_of(API(create_session_options, CREATE_SESSION_OPTIONS)(&options));
    if (!error)
        error = message_of(API(set_number, SET_INTRA_OP_THREADS)(options, 1));
    if (!error)
        error = message_of(API(set_number, SET_GRAPH_OPTIMIZATION_LEVEL)(options, NO_OPTIMIZATION));
    if (!error)
        error = message_of(API(create_cpu_memory_info, CREATE_CPU_MEMORY_INFO)(ARENA, DEFAULT, &memory_info));
    return error;
}

const char *ort_version(void) {
    return base->get_version();
}

/* ---- the model: protobuf, innermost message first ---- */

typedef struct message {
    uint8_t bytes[400];
    size_t size;
} message;

static void put_byte(message *m, uint8_t byte) {
    if (m->size < sizeof m->bytes)
        m->bytes[m->size++] = byte;
}

static void put_varint(message *m, uint64_t value) {
    for (; value > 0x7f; value >>= 7)
        put_byte(m, (uint8_t)(value | 0x80));
    put_byte(m, (uint8_t)value);
}

static void put_number(message *m, unsigned field, int64_t value) {
    put_varint(m, field << 3);
    put_varint(m, (uint64_t)value);
}

static void put_bytes(message *m, unsigned field, const void *bytes, size_t size) {
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    for (size_t k = 0; k < size; k++)
        put_byte(m, ((const uint8_t *)bytes)[k]);
}

static void put_string(message *m, unsigned field, const char *string) {
    put_bytes(m, field, string, strlen(string));
}

static void put_message(message *m, unsigned field, const message *inner) {
    put_bytes(m, field, inner->bytes, inner->size);
}

static void put_attribute(message *node, const char *name, int64_t value) {
    enum { INT = 2 };
    message m = {.size = 0};
    put_string(&m, 1, name);
    put_number(&m, 3, value);
    put_number(&m, 20, INT);
    put_message(node, 5, &m);
}

static void put_value(message *graph, unsigned field, const char *name, int32_t type, const int64_t *shape,
                      size_t rank) {
    message dims = {.size = 0}, tensor = {.size = 0}, value_type = {.size = 0}, value = {.size = 0};
    for (size_t d = 0; d < rank; d++) {
        message dim = {.size = 0};
        put_number(&dim, 1, shape[d]);
        put_message(&dims, 1, &dim);
    }
    put_number(&tensor, 1, type);
    put_message(&tensor, 2, &dims);
    put_message(&value_type, 1, &tensor);
    put_string(&value, 1, name);
    put_message(&value, 2, &value_type);
    put_message(graph, field, &value);
}

static const char *const input_names[] = {"x", "scale", "zero"}, *const output_names[] = {"y"};

static message model_of(const dql_spec *s, bool has_zero) {
    message node = {.size = 0}, graph = {.size = 0}, opset = {.size = 0}, model = {.size = 0};
    for (size_t k = 0; k < (has_zero ? 3 : 2); k++)
        put_string(&node, 1, input_names[k]);
    put_string(&node, 2, output_names[0]);
    put_string(&node, 4, "DequantizeLinear");
    put_attribute(&node, "axis", s->axis);
    if (s->block_size)
        put_attribute(&node, "block_size", s->block_size);
    put_message(&graph, 1, &node);
    put_string(&graph, 2, "graph");
    put_value(&graph, 11, input_names[0], s->x_type, s->shape, s->rank);
    put_value(&graph, 11, input_names[1], s->scale_type, s->scale_shape, s->scale_rank);
    if (has_zero)
        put_value(&graph, 11, input_names[2], s->x_type, s->scale_shape, s->scale_rank);
    put_value(&graph, 12, output_names[0], s->y_type, s->shape, s->rank);
    put_number(&opset, 2, 21);
    put_number(&model, 1, 10); /* ir_version */
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return model;
}

/* ---- sessions ---- */

struct ort_session {
    void *session;
    void *inputs[3];
    size_t input_count;
    void *output;
};

static size_t bytes_of(int32_t type, const int64_t *shape, size_t rank) {
    static const uint8_t bits[DQL_TYPE_END] = {
#define BITS(TYPE, name, bits, ...) [DQL_##TYPE] = bits,
#define Y_BITS(TYPE, name, bits)    [DQL_##TYPE] = bits,
        DQL_X_TYPES(BITS) DQL_Y_TYPES(Y_BITS)};
    size_t elements = 1;
    for (size_t d = 0; d < rank; d++)
        elements *= (size_t)shape[d];
    return (elements * bits[type] + 7) / 8;
}

static const char *bind(void **value, int32_t type, const int64_t *shape, size_t rank, const void *data) {
    return message_of(API(create_tensor_with_data, CREATE_TENSOR_WITH_DATA)(
        memory_info, (void *)data, bytes_of(type, shape, rank), shape, rank, type, value));
}

static ort_status *run_session(ort_session *s) {
    return API(run, RUN)(s->session, NULL, input_names, s->inputs, s->input_count, output_names, 1, &s->output);
}

static const char *open_session(ort_session *s, const dql_spec *spec, const void *x, const void *scale,
                                const void *zero, void *y) {
    const message model = model_of(spec, zero != NULL);
    const char *error = message_of(
        API(create_session_from_array, CREATE_SESSION_FROM_ARRAY)(env, model.bytes, model.size, options, &s->session));
    if (!error)
        error = bind(&s->inputs[0], spec->x_type, spec->shape, spec->rank, x);
    if (!error)
        error = bind(&s->inputs[1], spec->scale_type, spec->scale_shape, spec->scale_rank, scale);
    if (!error && zero)
        error = bind(&s->inputs[2], spec->x_type, spec->scale_shape, spec->scale_rank, zero);
    if (!error)
        error = bind(&s->output, spec->y_type, spec->shape, spec->rank, y);
    s->input_count = zero ? 3 : 2;
    return error ? error : message_of(run_session(s));
}

ort_session *ort_open(const dql_spec *spec, const void *x, const void *scale, const void *zero, void *y,
                      const char **why) {
    ort_session *s = calloc(1, sizeof *s);
    *why = s ? open_session(s, spec, x, scale, zero, y) : "no memory";
    if (!*why)
        return s;
    ort_close(s);
    return NULL;
}

void ort_run(ort_session *session) {
    const char *error = message_of(run_session(session));
    if (error) {
        fprintf(stderr, "ONNX Runtime: %s\n", error);
        exit(EXIT_FAILURE);
    }
}

void ort_close(ort_session *s) {
    if (!s)
        return;
    for (size_t k = 0; k < 3; k++)
        if (s->inputs[k])
            API(release, RELEASE_VALUE)(s->inputs[k]);
    if (s->output)
        API(release, RELEASE_VALUE)(s->output);
    if (s->session)
        API(release, RELEASE_SESSION)(s->session);
    free(s);
}
