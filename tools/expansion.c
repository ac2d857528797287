#include "expansion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Older models list the initializers of a graph among its inputs. */
enum { IR_VERSION_WITHOUT_LISTING = 4 };

/* The first opset whose Cast takes bfloat16. */
enum { CAST_BFLOAT16_OPSET = 13 };

/* Tags of fields that hold messages or bytes. */
enum {
    GRAPH_INITIALIZER_TAG = 0x2a,
    TENSOR_RAW_DATA_TAG = 0x4a,
    NODE_ATTRIBUTE_TAG = 0x2a,
    ATTRIBUTE_TENSOR_TAG = 0x2a
};
enum { NODE_OUTPUT = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT_TYPE = 1 };

static bool needs_constant_node(const expansion *e, const model *m) {
    return m->scopes[e->at->scope].is_function || m->ir_version < IR_VERSION_WITHOUT_LISTING;
}

static bool check_form(const expansion *e, const model *m, problem *why) {
    int64_t opset;
    const bool has_constants = !m->constant_is_function && find_opset(&opset, model_opsets(m, e->at->scope), "");
    return !needs_constant_node(e, m) || has_constants ||
           unsupported(why, m->file, "no Constant node can take its place, as ONNX's operators are not imported");
}

/* 0: not declared. */
static int32_t declared_type(const value *v) {
    view type = wire_string(v->declared, TYPE_TENSOR);
    wire_field f;
    while (wire_next(&type, &f))
        if (f.number == TENSOR_ELEMENT_TYPE)
            return (int32_t)f.value;
    return 0;
}

/* Only Cast takes another type without making its own output, or its other inputs, another one. */
static bool check_type_change(const expansion *e, const model *m, const value *y, int32_t y_type, problem *why) {
    int64_t opset;
    const label from = type_label(e->spec.y_type), to = type_label(y_type);
    if (y->is_output)
        return fail(why, m->file, "y is %s and an output: as %s it would make another model", from.text, to.text);
    if (declared_type(y) != 0 && declared_type(y) != y_type)
        return fail(why, m->file, "y is declared as %s, so it can't become %s", type_label(declared_type(y)).text,
                    to.text);
    if (y->cast_uses != y->uses)
        return fail(why, m->file, "y is %s, and nodes other than Cast use it: they may not take %s", from.text,
                    to.text);
    if (y_type == DQL_BFLOAT16 && y->uses > 0 &&
        !(find_opset(&opset, model_opsets(m, e->at->scope), "") && opset >= CAST_BFLOAT16_OPSET))
        return fail(why, m->file, "y can't become bfloat16: Cast takes that from opset %d on", CAST_BFLOAT16_OPSET);
    return true;
}

static bool change_type(expansion *e, const placed_node *p, int32_t y_type, problem *why) {
    const value *y = model_find(p->m, e->at->scope, (view){(uint8_t *)e->y_name, strlen(e->y_name)});
    if (y == NULL || y->is_ambiguous)
        return unsupported(why, p->m->file, "y is defined twice");
    if (y_type == 0 || y_type == e->spec.y_type)
        return true;
    if (!check_type_change(e, p->m, y, y_type, why))
        return false;
    e->spec.y_type = y_type;
    return dequantizer_plan(&e->plan, &p->op, &e->spec, e->operands[2], why);
}

static bool plan_operands(expansion *e, const placed_node *p, int32_t y_type, problem *why) {
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(p, i) && !constant_tensor(&e->operands[i], p->m, p->operands[i], why))
            return false;
    e->spec = dequantizer_spec(&p->op, e->operands[0].proto, e->operands[1].proto);
    e->spec.store = DQL_STORE_CACHED; /* it is copied to a file at once */
    return dequantizer_plan(&e->plan, &p->op, &e->spec, e->operands[2], why) && change_type(e, p, y_type, why) &&
           check_form(e, p->m, why);
}

static void remove_uses(const placed_node *p) {
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(p, i))
            p->operands[i]->removed_uses++;
}

bool expansion_plan(expansion *e, const model *m, const site *at, int32_t y_type, problem *why) {
    placed_node p;
    const view name = wire_string(at->content, NODE_OUTPUT);
    *e = (expansion){.at = at, .y_name = strndup((const char *)name.data, name.size)};
    if (e->y_name == NULL)
        return fail(why, m->file, "no memory");
    const bool ok =
        placed_node_read(&p, m, at, why) && placed_node_is_constant(&p, why) && plan_operands(e, &p, y_type, why);
    if (ok) {
        remove_uses(&p);
        e->size = (uint64_t)dql_plan_count(&e->plan) * (type_bits(e->spec.y_type) / 8);
    }
    placed_node_free(&p);
    return ok;
}

void expansion_free(expansion *e) {
    free(e->y_name);
    e->y_name = NULL;
}

/* ---- the new field, made from its end to its beginning ---- */

static bool prepend(bytes *head, const void *data, size_t size) {
    uint8_t *longer = malloc(size + head->size);
    if (longer == NULL)
        return false;
    memcpy(longer, data, size);
    if (head->size > 0)
        memcpy(longer + size, head->data, head->size);
    free(head->data);
    head->data = longer;
    head->size += size;
    return true;
}

static bool prepend_message(bytes *head, const void *message) {
    const ProtobufCMessage *base = message;
    uint8_t *packed = malloc(protobuf_c_message_get_packed_size(base) + 1);
    const bool ok = packed != NULL && prepend(head, packed, protobuf_c_message_pack(base, packed));
    free(packed);
    return ok;
}

/* Makes the head, and the data after it, the content of a field. */
static bool wrap(bytes *head, uint64_t data_size, view tag) {
    uint8_t start[20];
    if (tag.size > 0)
        memcpy(start, tag.data, tag.size);
    const size_t size = tag.size + write_varint(start + tag.size, head->size + data_size);
    return prepend(head, start, size);
}

static bool wrap_in(bytes *head, uint64_t data_size, uint8_t tag) {
    return wrap(head, data_size, (view){&tag, 1});
}

static void make_entry(Onnx__StringStringEntryProto *entry, const char *key, const char *text) {
    onnx__string_string_entry_proto__init(entry);
    entry->key = (char *)(uintptr_t)key; /* protobuf-c has no const, but packing only reads */
    entry->value = (char *)(uintptr_t)text;
}

static bool make_tensor(bytes *head, const expansion *e, const char *location) {
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    Onnx__StringStringEntryProto entries[3], *pointers[] = {&entries[0], &entries[1], &entries[2]};
    char offset[24], length[24];
    t.n_dims = e->spec.rank;
    t.dims = (int64_t *)(uintptr_t)e->spec.shape;
    t.has_data_type = true;
    t.data_type = e->spec.y_type;
    t.name = e->y_name;
    if (e->is_external) {
        snprintf(offset, sizeof offset, "%" PRIu64, e->offset);
        snprintf(length, sizeof length, "%" PRIu64, e->size);
        make_entry(&entries[0], "location", location);
        make_entry(&entries[1], "offset", offset);
        make_entry(&entries[2], "length", length);
        t.external_data = pointers;
        t.n_external_data = 3;
        t.has_data_location = true;
        t.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    }
    return (e->is_external || wrap_in(head, e->size, TENSOR_RAW_DATA_TAG)) && prepend_message(head, &t);
}

static bool make_constant_node(bytes *head, uint64_t data_size, char *name) {
    Onnx__AttributeProto attribute = ONNX__ATTRIBUTE_PROTO__INIT;
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT;
    char value_name[] = "value", op[] = "Constant";
    attribute.name = value_name;
    attribute.has_type = true;
    attribute.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    node.output = &name;
    node.n_output = 1;
    node.op_type = op;
    return wrap_in(head, data_size, ATTRIBUTE_TENSOR_TAG) && prepend_message(head, &attribute) &&
           wrap_in(head, data_size, NODE_ATTRIBUTE_TAG) && prepend_message(head, &node);
}

/* The tag of the node's own field, in a graph or a function. */
static view own_tag(const site *at) {
    view field = at->field;
    wire_field f;
    return wire_next(&field, &f) ? f.tag : (view){NULL, 0};
}

static bool make_field(bytes *head, const expansion *e, const model *m, const char *location) {
    const uint64_t data_size = e->is_external ? 0 : e->size;
    if (!make_tensor(head, e, location))
        return false;
    if (needs_constant_node(e, m))
        return make_constant_node(head, data_size, e->y_name) && wrap(head, data_size, own_tag(e->at));
    return wrap_in(head, data_size, GRAPH_INITIALIZER_TAG);
}

bool expansion_edit(edit *replacement, const expansion *e, const model *m, const char *location, problem *why) {
    *replacement = (edit){.field = e->at->field, .data_size = e->is_external ? 0 : e->size};
    if (make_field(&replacement->head, e, m, location))
        return true;
    free(replacement->head.data);
    replacement->head = (bytes){NULL, 0};
    return fail(why, m->file, "no memory");
}
