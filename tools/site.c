#include "site.h"

static bool is_replaced(const placed_node *p) {
    return is_onnx_domain(p->op.domain) ? p->m->onnx_is_function
                                        : p->m->microsoft_is_function && view_equals(p->op.domain, "com.microsoft");
}

bool placed_node_read(placed_node *p, const model *m, const site *at, problem *why) {
    *p = (placed_node){.m = m, .at = at};
    const bool ok = dequantizer_read(&p->op, at->content, &m->scopes[at->scope].imported, m->file, why);
    for (size_t i = 0; i < OPERANDS; i++)
        p->operands[i] = model_find(m, at->scope, p->op.inputs[i]);
    if (is_replaced(p))
        return unsupported(why, m->file, "DequantizeLinear is a function of the model");
    return ok;
}

bool placed_node_has(const placed_node *p, size_t operand) {
    return p->op.inputs[operand].size > 0;
}

bool placed_node_refuse(const placed_node *p, size_t operand, const char *reason, problem *why) {
    return unsupported(why, p->m->file, "%s \"%s\" %s", operand_names[operand], quoted(p->op.inputs[operand]).text,
                       reason);
}
