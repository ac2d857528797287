/* The plug-in in a runtime of ours, of which everything that can fail fails once: the life of a session is played again
 * and again, and each time one call more succeeds. Whatever fails, the plug-in gives back all that it was given, and
 * reports a status. In ONNX Runtime itself such failures can't be had at will. */
#include "abi.h"
#include "dql/dql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ort_status *CreateEpFactories(const char *name, const ort_base *base, const ort_logger *logger, ort_factory **factories,
                              size_t max, size_t *count);
ort_status *ReleaseEpFactory(ort_factory *f);

static void expect(bool truth, const char *what, int line) {
    if (truth)
        return;
    fprintf(stderr, "line %d: not so: %s\n", line, what);
    exit(EXIT_FAILURE);
}
#define EXPECT(truth) expect(truth, #truth, __LINE__)

/* ---- failing on purpose ---- */

static int calls, failing; /* call number `failing` fails; 0: none does */

static bool fails(void) {
    return ++calls == failing;
}

static int alive; /* what the plug-in has allocated, and objects of the runtime that it has to give back */

/* The linker gives these to the plug-in, as calloc and free. */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_calloc(size_t count, size_t size) {
    if (fails())
        return NULL;
    alive++;
    return __real_calloc(count, size);
}

void __wrap_free(void *memory) {
    alive -= memory != NULL;
    __real_free(memory);
}

/* ---- the runtime ---- */

struct ort_status {
    char message[1024];
};

static ort_status *create_status(ort_error code, const char *message) {
    (void)code;
    ort_status *s = __real_calloc(1, sizeof *s);
    snprintf(s->message, sizeof s->message, "%s", message);
    alive++;
    return s;
}

static void release_status(ort_status *status) {
    alive--;
    __real_free(status);
}

/* What a call of the runtime returns. */
static ort_status *result(void) {
    return fails() ? create_status(ORT_FAIL, "on purpose") : NULL;
}

/* The model: a node of x int8[2,3], scale float32[3] and a zero point; the second time of shapes that are not known. */
enum { FLOAT = 1, INT8 = 3 };

struct ort_value {
    int type;
    size_t rank;
    int64_t shape[2];
    void *data;
};
static int8_t x_data[] = {1, 2, 3, 4, 5, 6}, zero_data[] = {1, 1, 1};
static float scale_data[] = {1, 2, 4}, y_data[6];
static ort_value inputs[] = {{INT8, 2, {2, 3}, x_data}, {FLOAT, 1, {3}, scale_data}, {INT8, 1, {3}, zero_data}};
static ort_value y = {FLOAT, 2, {2, 3}, y_data};
static bool shapes_are_known, has_name;

struct ort_type_info {
    const ort_value *value;
};

static ort_status *get_tensor_data(const ort_value *value, void **data) {
    *data = value->data;
    return result();
}

static ort_status *get_tensor_info(const ort_type_info *info, const ort_tensor_info **tensor) {
    *tensor = (const ort_tensor_info *)info;
    return result();
}

static ort_status *get_element_type(const ort_tensor_info *tensor, int *type) {
    *type = ((const ort_type_info *)tensor)->value->type;
    return result();
}

static ort_status *get_rank(const ort_tensor_info *tensor, size_t *rank) {
    *rank = ((const ort_type_info *)tensor)->value->rank;
    return result();
}

static ort_status *get_dims(const ort_tensor_info *tensor, int64_t *dims, size_t rank) {
    for (size_t d = 0; d < rank; d++)
        dims[d] = shapes_are_known ? ((const ort_type_info *)tensor)->value->shape[d] : -1;
    return result();
}

static ort_status *get_attribute(const ort_kernel_info *info, const char *name, int64_t *value) {
    (void)info;
    if (strcmp(name, "axis") != 0)
        return create_status(ORT_FAIL, "there is no such attribute");
    *value = 1;
    return NULL; /* a failure means that there is none */
}

static ort_status *get_input_count(const ort_kernel_context *context, size_t *count) {
    (void)context;
    *count = 3;
    return result();
}

static ort_status *get_input(const ort_kernel_context *context, size_t index, const ort_value **value) {
    (void)context;
    *value = &inputs[index];
    return result();
}

static ort_status *get_output(ort_kernel_context *context, size_t index, const int64_t *dims, size_t rank,
                              ort_value **value) {
    (void)context, (void)index, (void)dims;
    EXPECT(rank == 2);
    *value = &y;
    return result();
}

static ort_status *get_type(const ort_value *value, ort_type_info **type) {
    ort_status *status = result();
    if (!status) {
        *type = __real_calloc(1, sizeof **type);
        (*type)->value = value;
        alive++;
    }
    return status;
}

static ort_status *get_input_type(const ort_kernel_info *info, size_t index, ort_type_info **type) {
    (void)info;
    return get_type(&inputs[index], type);
}

static ort_status *get_output_type(const ort_kernel_info *info, size_t index, ort_type_info **type) {
    (void)info, (void)index;
    return get_type(&y, type);
}

static void release_type_info(ort_type_info *info) {
    alive--;
    __real_free(info);
}

static ort_status *give_name(const char *name, char *text, size_t *size) {
    if (text)
        snprintf(text, *size, "%s", name);
    *size = strlen(name) + 1;
    return result();
}

static ort_status *get_node_name(const ort_kernel_info *info, char *text, size_t *size) {
    (void)info;
    return give_name(has_name ? "node" : "", text, size);
}

static ort_status *get_output_name(const ort_kernel_info *info, size_t index, char *text, size_t *size) {
    (void)info, (void)index;
    return give_name("output", text, size);
}

static ort_status *write_log(const ort_logger *logger, ort_severity severity, const char *message,
                             const ort_path_char *file, int line, const char *function) {
    (void)logger, (void)severity, (void)file, (void)line, (void)function;
    EXPECT(strstr(message, "(scalar) takes 1 of 1"));
    return result();
}

static ort_status *parallel_for(const ort_kernel_context *context, void (*function)(void *, size_t), size_t total,
                                size_t batches, void *state) {
    (void)context, (void)batches;
    for (size_t i = 0; i < total; i++)
        function(state, i);
    return result();
}

static const char *const option_keys[] = {"session.other", "ep.dqlexecutionprovider.isa",
                                          "ep.dqlexecutionprovider.threads"};
static const char *const option_values[] = {"1", "scalar", "off"};

static ort_status *get_session_config(const ort_session_options *options, ort_key_value_pairs **pairs) {
    (void)options;
    ort_status *status = result();
    if (!status) {
        *pairs = __real_calloc(1, 1);
        alive++;
    }
    return status;
}

static void get_pairs(const ort_key_value_pairs *pairs, const char *const **keys, const char *const **values,
                      size_t *count) {
    (void)pairs;
    *keys = option_keys, *values = option_values, *count = 3;
}

static void release_pairs(ort_key_value_pairs *pairs) {
    alive--;
    __real_free(pairs);
}

static ort_hardware_type get_hardware_type(const ort_hardware *hardware) {
    (void)hardware;
    return ORT_HARDWARE_CPU;
}

static ort_status *get_node_count(const ort_graph *graph, size_t *count) {
    (void)graph;
    *count = 2;
    return result();
}

static const char other_node[1], our_node[1];

static ort_status *get_nodes(const ort_graph *graph, const ort_node **nodes, size_t count) {
    (void)graph;
    EXPECT(count == 2);
    nodes[0] = (const ort_node *)other_node, nodes[1] = (const ort_node *)our_node;
    return result();
}

static ort_status *get_operator(const ort_node *node, const char **name) {
    *name = (const char *)node == our_node ? "DequantizeLinear" : "Conv";
    return result();
}

static ort_status *get_domain(const ort_node *node, const char **name) {
    (void)node;
    *name = "";
    return result();
}

static ort_status *get_tensor_type_and_shape(const ort_value *value, int *type, const int64_t **shape, size_t *rank) {
    *type = value->type, *shape = value->shape, *rank = value->rank;
    return result();
}

/* ---- its part for providers ---- */

static ort_status *create_device(ort_factory *factory, const ort_hardware *hardware,
                                 const ort_key_value_pairs *metadata, const ort_key_value_pairs *options,
                                 ort_device **device) {
    (void)factory, (void)hardware, (void)metadata, (void)options;
    *device = NULL; /* the runtime's */
    return result();
}

static ort_status *create(void **object) {
    ort_status *status = result();
    if (!status) {
        *object = __real_calloc(1, 1);
        alive++;
    }
    return status;
}

static void release(void *object) {
    alive--;
    __real_free(object);
}

static ort_status *create_registry(ort_registry **registry) {
    return create((void **)registry);
}

static void release_registry(ort_registry *registry) {
    release(registry);
}

static ort_status *create_builder(ort_definition_builder **builder) {
    return create((void **)builder);
}

static void release_builder(ort_definition_builder *builder) {
    release(builder);
}

static ort_status *build(ort_definition_builder *builder, ort_definition **definition) {
    (void)builder;
    return create((void **)definition);
}

static void release_definition(ort_definition *definition) {
    release(definition);
}

static ort_status *(*create_node)(void *, const ort_kernel_info *, ort_kernel **);
static void *create_node_state;

static ort_status *add_kernel(ort_registry *registry, const ort_definition *definition,
                              ort_status *(*creator)(void *, const ort_kernel_info *, ort_kernel **), void *state) {
    (void)registry, (void)definition;
    create_node = creator, create_node_state = state;
    return result();
}

static ort_status *set_name(ort_definition_builder *builder, const char *name) {
    (void)builder, (void)name;
    return result();
}

static ort_status *set_versions(ort_definition_builder *builder, int first, int last) {
    (void)builder;
    EXPECT(first <= last);
    return result();
}

static ort_status *add_types(ort_definition_builder *builder, const char *constraint, const ort_data_type *const *types,
                             size_t count) {
    (void)builder, (void)types;
    EXPECT(*constraint == 'T' && count > 0);
    return result();
}

static ort_status *get_tensor_type(int element_type, const ort_data_type **type) {
    *type = NULL;
    /* A failure means that the runtime does not know the type. */
    return element_type == 26 ? create_status(ORT_FAIL, "there is no such type") : NULL;
}

static ort_status *look_up_kernel(ort_graph_support *support, const ort_node *node, const ort_definition **definition) {
    (void)support, (void)node;
    static char any;
    *definition = (const ort_definition *)&any;
    return result();
}

static ort_status *add_node(ort_graph_support *support, const ort_node *node) {
    (void)support;
    EXPECT((const char *)node == our_node);
    return result();
}

static const ort_ep_api ep_api = {
    .create_device = create_device,
    .add_node = add_node,
    .create_registry = create_registry,
    .release_registry = release_registry,
    .add_kernel = add_kernel,
    .create_builder = create_builder,
    .release_builder = release_builder,
    .set_operator = set_name,
    .set_domain = set_name,
    .set_versions = set_versions,
    .set_provider = set_name,
    .add_types = add_types,
    .build = build,
    .release_definition = release_definition,
    .get_tensor_type = get_tensor_type,
    .look_up_kernel = look_up_kernel,
};

static const ort_ep_api *get_ep_api(void) {
    return &ep_api;
}

static const ort_api api = {
    .create_status = create_status,
    .get_tensor_data = get_tensor_data,
    .get_tensor_info = get_tensor_info,
    .get_element_type = get_element_type,
    .get_rank = get_rank,
    .get_dims = get_dims,
    .get_attribute = get_attribute,
    .get_input_count = get_input_count,
    .get_input = get_input,
    .get_output = get_output,
    .release_status = release_status,
    .release_type_info = release_type_info,
    .get_output_name = get_output_name,
    .get_input_type = get_input_type,
    .get_output_type = get_output_type,
    .get_node_name = get_node_name,
    .log = write_log,
    .parallel_for = parallel_for,
    .get_pairs = get_pairs,
    .release_pairs = release_pairs,
    .get_hardware_type = get_hardware_type,
    .get_ep_api = get_ep_api,
    .get_node_count = get_node_count,
    .get_nodes = get_nodes,
    .get_operator = get_operator,
    .get_domain = get_domain,
    .get_session_config = get_session_config,
    .get_tensor_type_and_shape = get_tensor_type_and_shape,
};

static const char *version = "1.24.0";
static uint32_t newest_api = 24;

static const ort_api *get_api(uint32_t wanted) {
    EXPECT(wanted <= newest_api); /* else ONNX Runtime prints */
    return wanted ? &api : NULL;
}

static const char *get_version(void) {
    return version;
}

static const ort_base base = {get_api, get_version};

/* ---- the life of a session ---- */

static ort_status *run_node(void) {
    ort_kernel *kernel = NULL;
    ort_status *status = create_node(create_node_state, NULL, &kernel);
    if (status)
        return status;
    memset(y_data, 0, sizeof y_data);
    for (int i = 0; !status && i < 2; i++)
        status = kernel->compute(kernel, NULL);
    kernel->release(kernel);
    EXPECT(status || (y_data[0] == 0 && y_data[4] == 8 && y_data[5] == 20));
    return status;
}

static ort_status *run_session(ort_factory *factory) {
    const ort_hardware *const hardware[] = {NULL, NULL};
    ort_device *devices[1];
    size_t count;
    ort_ep *ep = NULL;
    ort_status *status = factory->get_devices(factory, hardware, 2, devices, 1, &count);
    if (status)
        return status;
    EXPECT(count == 1);
    status = factory->create_ep(factory, hardware, NULL, 1, NULL, NULL, &ep);
    if (status)
        return status;
    status = ep->get_capability(ep, NULL, NULL);
    if (!status)
        status = run_node();
    factory->release_ep(factory, ep);
    return status;
}

static ort_status *live(void) {
    ort_factory *factory = NULL;
    size_t count;
    ort_status *status = CreateEpFactories("dql", &base, NULL, &factory, 1, &count);
    if (status)
        return status;
    EXPECT(count == 1);
    status = run_session(factory);
    EXPECT(!ReleaseEpFactory(factory));
    return status;
}

/* Whether the life went well though call number `number` failed. */
static bool live_failing(int number) {
    calls = 0, failing = number;
    ort_status *status = live();
    const bool is_well = !status;
    if (status) {
        EXPECT(*status->message);
        release_status(status);
    }
    EXPECT(alive == 0);
    return is_well;
}

static int fail_each(void) {
    EXPECT(live_failing(0));
    const int all = calls;
    int harmless = 0;
    for (int number = 1; number <= all; number++)
        harmless += live_failing(number);
    /* The declared shapes are of use, but not needed. */
    EXPECT(harmless <= 12);
    return all;
}

/* The message of what the entry point returns in a runtime of this version. */
static bool refuses(const char *runtime, uint32_t newest, const char *words) {
    version = runtime, newest_api = newest;
    ort_factory *factory = NULL;
    size_t count = 7;
    ort_status *status = CreateEpFactories("dql", &base, NULL, &factory, 1, &count);
    EXPECT(count == 0);
    const bool is_right = status ? strstr(status->message, words) != NULL : !*words;
    if (status)
        release_status(status);
    version = "1.24.0", newest_api = 24;
    return is_right;
}

int main(void) {
    int all = 0;
    for (int i = 0; i < 4; i++) {
        shapes_are_known = i % 2, has_name = i / 2;
        all += fail_each();
    }
    failing = 0;
    EXPECT(refuses("1.23.2", 23, "needs ONNX Runtime 1.24 or later, this is 1.23.2"));
    EXPECT(refuses("1.4.0", 4, "needs ONNX Runtime 1.24"));
    EXPECT(refuses("nonsense", 24, "")); /* no API to make a status with */
    printf("tested: %d failures\n", all);
    return EXIT_SUCCESS;
}
