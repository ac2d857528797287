#include "site.h"

#include <string.h>

static const char *const roles[OPERANDS] = {"x", "x_scale", "x_zero_point"};

static bool is_replaced(const placed_node *p) {
    const char *domain = string_or_empty(p->node->domain);
    return is_onnx_domain(domain) ? p->m->onnx_is_function
                                  : p->m->microsoft_is_function && strcmp(domain, "com.microsoft") == 0;
}

bool placed_node_read(placed_node *p, const model *m, const site *at, problem *why) {
    *p = (placed_node){.m = m, .at = at};
    p->node = unpack_message(&onnx__node_proto__descriptor, at->content, m->file, why);
    if (p->node == NULL)
        return false;
    for (size_t i = 0; i < OPERANDS; i++) {
        const char *name = node_input(p->node, i);
        p->operands[i] = model_find(m, at->scope, (view){(const uint8_t *)name, strlen(name)});
    }
    if (is_replaced(p))
        return unsupported(why, m->file, "DequantizeLinear is a function of the model");
    return dequantizer_read(&p->op, p->node, model_opsets(m, at->scope), m->file, why);
}

void placed_node_free(placed_node *p) {
    if (p->node != NULL)
        onnx__node_proto__free_unpacked(p->node, NULL);
    p->node = NULL;
}

bool placed_node_has(const placed_node *p, size_t operand) {
    return node_input(p->node, operand)[0] != '\0';
}

bool placed_node_is_constant(const placed_node *p, problem *why) {
    for (size_t i = 0; i < OPERANDS; i++) {
        const char *reason = why_not_constant(p->m, p->operands[i]);
        if (placed_node_has(p, i) && reason != NULL)
            return unsupported(why, p->m->file, "%s \"%.100s\" %s", roles[i], node_input(p->node, i), reason);
    }
    return true;
}
