#include "provider.h"

#include "dispatch/cpu.h"
#include "node.h"
#include "text.h"
#include "types.h"

#include <stdlib.h>
#include <string.h>

typedef struct provider {
    ort_ep base;
    settings settings;
    const ort_ep_api *ep_api;
    const ort_logger *logger;
    ort_registry *registry;
} provider;

static const char *get_name(const ort_ep *ep) {
    (void)ep;
    return PROVIDER_NAME;
}

/* ---- options ---- */

static ort_status *refuse_isa(const ort_api *api, const char *name) {
    text available = {.size = 0};
    for (int isa = 0; dql_isa_name((dql_isa)isa); isa++)
        if (dql_isa_available((dql_isa)isa))
            text_add(&available, " %s", dql_isa_name((dql_isa)isa));
    return fail(api, ORT_INVALID_ARGUMENT, "dql: the option isa is '%.40s', but must be one of:%s", name,
                available.bytes);
}

static ort_status *read_isa(const ort_api *api, const char *value, settings *s) {
    for (int isa = 0; dql_isa_name((dql_isa)isa); isa++)
        if (strcmp(value, dql_isa_name((dql_isa)isa)) == 0 && dql_isa_available((dql_isa)isa)) {
            s->isa = (dql_isa)isa;
            return NULL;
        }
    return refuse_isa(api, value);
}

static ort_status *read_threads(const ort_api *api, const char *value, settings *s) {
    s->threads = strcmp(value, "on") == 0;
    if (s->threads || strcmp(value, "off") == 0)
        return NULL;
    return fail(api, ORT_INVALID_ARGUMENT, "dql: the option threads is '%.40s', but must be on or off", value);
}

static ort_status *read_option(const ort_api *api, const char *key, const char *value, settings *s) {
    if (strcmp(key, "isa") == 0)
        return read_isa(api, value, s);
    if (strcmp(key, "threads") == 0)
        return read_threads(api, value, s);
    return fail(api, ORT_INVALID_ARGUMENT, "dql: there is no option '%.40s'; there are isa and threads", key);
}

static ort_status *read_options(const ort_api *api, const ort_session_options *options, settings *s) {
    /* Where the runtime puts them, among all that a session is configured with. */
    static const char prefix[] = "ep.dqlexecutionprovider.";
    const size_t length = sizeof prefix - 1;
    ort_key_value_pairs *pairs = NULL;
    TRY(api->get_session_config(options, &pairs));
    const char *const *keys, *const *values;
    size_t count;
    api->get_pairs(pairs, &keys, &values, &count);
    ort_status *status = NULL;
    for (size_t i = 0; !status && i < count; i++)
        if (strncmp(keys[i], prefix, length) == 0)
            status = read_option(api, keys[i] + length, values[i], s);
    api->release_pairs(pairs);
    return status;
}

/* ---- kernels ---- */

/* A range of versions of the op, and what its schemas call the types of x, the scale and y; NULL: not a parameter. */
typedef struct version {
    const char *domain;
    int first, last;
    const char *x, *scale, *y;
} version;

static const version versions[] = {
    {"", 10, 18, "T", NULL, NULL}, /* float32 only */
    {"", 19, 22, "T1", "T2", NULL},
    {"", 23, 28, "T1", "T2", "T3"},
    {"com.microsoft", 1, 1, "T1", "T2", NULL},
};

/* The runtime's types of a role. Those that it does not know yet are left out. */
static size_t list_types(const provider *p, role wanted, const ort_data_type **list) {
    size_t count = 0;
    for (size_t i = 0; i < element_type_count; i++) {
        const element_type *type = &element_types[i];
        /* Up to 1.30 the look-up of types takes ONNX's numbers, where the API's others give and take their own. Both
         * are asked for: a type that this adds to the wrong list no model can have there. */
        const int numbers[] = {type->api, type->onnx};
        for (size_t k = 0; k < (type->api == type->onnx ? 1 : 2) && type->roles & wanted; k++) {
            ort_status *status = p->ep_api->get_tensor_type(numbers[k], &list[count]);
            if (status)
                p->settings.api->release_status(status);
            else
                count++;
        }
    }
    return count;
}

static ort_status *add_types(const provider *p, ort_definition_builder *builder, const char *constraint, role wanted) {
    if (!constraint)
        return NULL;
    const ort_data_type **list = calloc(2 * element_type_count, sizeof *list);
    if (!list)
        return fail(p->settings.api, ORT_FAIL, "dql: no memory");
    const size_t count = list_types(p, wanted, list);
    ort_status *status = p->ep_api->add_types(builder, constraint, list, count);
    free(list);
    return status;
}

static ort_status *define(const provider *p, const version *v, ort_definition_builder *builder,
                          ort_definition **definition) {
    const ort_ep_api *api = p->ep_api;
    TRY(api->set_operator(builder, "DequantizeLinear"));
    TRY(api->set_domain(builder, v->domain));
    TRY(api->set_versions(builder, v->first, v->last));
    TRY(api->set_provider(builder, PROVIDER_NAME));
    TRY(add_types(p, builder, v->x, ROLE_X));
    TRY(add_types(p, builder, v->scale, ROLE_SCALE));
    TRY(add_types(p, builder, v->y, ROLE_Y));
    return api->build(builder, definition);
}

static ort_status *add_kernel(provider *p, const version *v) {
    const ort_ep_api *api = p->ep_api;
    ort_definition_builder *builder = NULL;
    ort_definition *definition = NULL;
    TRY(api->create_builder(&builder));
    ort_status *status = define(p, v, builder, &definition);
    api->release_builder(builder);
    if (status)
        return status;
    status = api->add_kernel(p->registry, definition, node_create, &p->settings);
    api->release_definition(definition);
    return status;
}

static ort_status *fill_registry(provider *p) {
    TRY(p->ep_api->create_registry(&p->registry));
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        TRY(add_kernel(p, &versions[i]));
    return NULL;
}

static ort_status *get_registry(ort_ep *ep, const ort_registry **registry) {
    *registry = ((provider *)ep)->registry;
    return NULL;
}

/* ---- which nodes ---- */

typedef struct tally {
    size_t found, taken;
} tally;

static bool is_ours(const char *op, const char *domain) {
    return strcmp(op, "DequantizeLinear") == 0 &&
           (!*domain || strcmp(domain, "ai.onnx") == 0 || strcmp(domain, "com.microsoft") == 0);
}

static ort_status *take_node(const provider *p, const ort_node *node, ort_graph_support *support, tally *t) {
    const ort_api *api = p->settings.api;
    const char *op, *domain;
    const ort_definition *definition = NULL;
    TRY(api->get_operator(node, &op));
    TRY(api->get_domain(node, &domain));
    if (!is_ours(op, domain))
        return NULL;
    t->found++;
    TRY(p->ep_api->look_up_kernel(support, node, &definition));
    if (!definition)
        return NULL;
    t->taken++;
    return p->ep_api->add_node(support, node);
}

static ort_status *take_nodes(const provider *p, const ort_node *const *nodes, size_t count, ort_graph_support *support,
                              tally *t) {
    for (size_t i = 0; i < count; i++)
        TRY(take_node(p, nodes[i], support, t));
    return NULL;
}

static ort_status *log_tally(const provider *p, const tally *t) {
    const dql_isa isa = p->settings.isa == DQL_ISA_AUTO ? dql_isa_active() : p->settings.isa;
    text message = {.size = 0};
    text_add(&message, "dql %s (%s) takes %zu of %zu DequantizeLinear nodes of a graph", dql_version(),
             dql_isa_name(isa), t->taken, t->found);
    return p->settings.api->log(p->logger, ORT_LOG_INFO, message.bytes, ORT_PATH("provider.c"), __LINE__, __func__);
}

static ort_status *get_capability(ort_ep *ep, const ort_graph *graph, ort_graph_support *support) {
    const provider *p = (const provider *)ep;
    const ort_api *api = p->settings.api;
    tally t = {.found = 0};
    size_t count;
    TRY(api->get_node_count(graph, &count));
    const ort_node **nodes = calloc(count + 1, sizeof *nodes);
    if (!nodes)
        return fail(api, ORT_FAIL, "dql: no memory");
    ort_status *status = api->get_nodes(graph, nodes, count);
    if (!status)
        status = take_nodes(p, nodes, count, support, &t);
    free(nodes);
    return status || !t.found ? status : log_tally(p, &t);
}

/* ---- creating ---- */

void provider_release(ort_ep *ep) {
    provider *p = (provider *)ep;
    if (p->registry)
        p->ep_api->release_registry(p->registry);
    free(p);
}

static ort_status *fill_provider(provider *p, const ort_session_options *options) {
    TRY(read_options(p->settings.api, options, &p->settings));
    return fill_registry(p);
}

ort_status *provider_create(const ort_api *api, const ort_session_options *options, const ort_logger *logger,
                            ort_ep **ep) {
    provider *p = calloc(1, sizeof *p);
    if (!p)
        return fail(api, ORT_FAIL, "dql: no memory");
    p->base = (ort_ep){
        .version = ORT_VERSION, .get_name = get_name, .get_capability = get_capability, .get_registry = get_registry};
    p->settings = (settings){.api = api, .isa = DQL_ISA_AUTO, .threads = true, .cache = dql_cpu_last_level_cache()};
    p->ep_api = api->get_ep_api();
    p->logger = logger;
    ort_status *status = fill_provider(p, options);
    if (status)
        provider_release(&p->base);
    else
        *ep = &p->base;
    return status;
}
