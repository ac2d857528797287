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
enum { TYPE_TENSOR = 1, TENSOR_ELEMENT_TYPE = 1 };

static const model *model_of(const expansion *e) {
    return e->node.m;
}

static const scope *scope_of(const expansion *e) {
    return &model_of(e)->scopes[e->node.at->scope];
}

static bool needs_constant_node(const expansion *e) {
    return scope_of(e)->is_function || model_of(e)->ir_version < IR_VERSION_WITHOUT_LISTING;
}

static bool check_form(const expansion *e, problem *why) {
    const bool has_constants = !model_of(e)->constant_is_function && scope_of(e)->imported.has_onnx;
    return !needs_constant_node(e) || has_constants ||
           unsupported(why, model_of(e)->file,
                       "no Constant node can take its place, as ONNX's operators are not imported");
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
static bool check_type_change(const expansion *e, int32_t y_type, problem *why) {
    const value *y = e->y;
    const opsets *imported = &scope_of(e)->imported;
    const char *file = model_of(e)->file;
    const label from = type_label(e->spec.y_type), to = type_label(y_type);
    const size_t uses = y->uses - y->removed_uses;
    if (y->is_output)
        return fail(why, file, "y is %s and an output: as %s it would make another model", from.text, to.text);
    if (declared_type(y) != 0 && declared_type(y) != y_type)
        return fail(why, file, "y is declared as %s, so it can't become %s", type_label(declared_type(y)).text,
                    to.text);
    if (y->cast_uses != uses)
        return fail(why, file, "y is %s, and nodes other than Cast use it: they may not take %s", from.text, to.text);
    if (y_type == DQL_BFLOAT16 && uses > 0 && !(imported->has_onnx && imported->onnx >= CAST_BFLOAT16_OPSET))
        return fail(why, file, "y can't become bfloat16: Cast takes that from opset %d on", CAST_BFLOAT16_OPSET);
    return true;
}

static void measure(expansion *e) {
    e->size = (uint64_t)dql_plan_count(&e->plan) * (type_bits(e->spec.y_type) / 8);
}

bool expansion_change_type(expansion *e, int32_t y_type, problem *why) {
    if (y_type == 0 || y_type == e->spec.y_type || expansion_is_dropped(e))
        return true;
    if (!check_type_change(e, y_type, why)) {
        about(why, "y", e->y_name);
        return false;
    }
    e->spec.y_type = y_type;
    if (!dequantizer_plan(&e->plan, &e->node.op, &e->spec, e->operands[X_ZERO_POINT].proto, why))
        return false;
    measure(e);
    return true;
}

/* ---- planning ---- */

static bool check_constants(expansion *e, const expansion *scale_from, problem *why) {
    for (size_t i = 0; i < OPERANDS; i++) {
        const char *reason = why_not_constant(model_of(e), e->node.operands[i]);
        if (i == X_SCALE && scale_from != NULL)
            reason = scale_from->progress == WAITING   ? "depends on this node's own y"
                     : scale_from->becomes != EXPANDED ? "is computed by a DequantizeLinear that stays"
                                                       : NULL;
        if (placed_node_has(&e->node, i) && reason != NULL)
            return placed_node_refuse(&e->node, i, reason, why);
    }
    e->is_constant = true;
    return true;
}

static bool find_operands(expansion *e, expansion *scale_from, problem *why) {
    e->scale_from = scale_from;
    for (size_t i = 0; i < OPERANDS; i++)
        if (i == X_SCALE && scale_from != NULL)
            e->operands[i] = (tensor_source){&scale_from->head, model_of(e)->file, NULL, NULL};
        else if (placed_node_has(&e->node, i) &&
                 !constant_tensor(&e->operands[i], model_of(e), e->node.operands[i], why))
            return false;
    return true;
}

static bool find_y(expansion *e, problem *why) {
    const view name = e->node.op.y;
    e->y = model_find(model_of(e), e->node.at->scope, name);
    if (e->y == NULL || e->y->is_ambiguous)
        return unsupported(why, model_of(e)->file, "y is defined twice");
    if (memchr(name.data, 0, name.size) != NULL)
        return unsupported(why, model_of(e)->file, "the name of y has a NUL");
    e->y_name = strndup((const char *)name.data, name.size);
    return e->y_name != NULL || fail(why, model_of(e)->file, "no memory");
}

static bool plan_call(expansion *e, problem *why) {
    const Onnx__TensorProto *computed = e->scale_from != NULL ? &e->scale_from->head : NULL;
    if (!dequantizer_plan_tensors(&e->plan, &e->spec, &e->node.op, e->operands, computed, why))
        return false;
    e->spec.store = DQL_STORE_CACHED; /* it is copied to a file at once */
    return dequantizer_plan(&e->plan, &e->node.op, &e->spec, e->operands[X_ZERO_POINT].proto, why);
}

static void finish(expansion *e) {
    e->becomes = EXPANDED;
    onnx__tensor_proto__init(&e->head);
    e->head.data_type = e->spec.y_type;
    e->head.n_dims = e->spec.rank;
    e->head.dims = (int64_t *)(uintptr_t)e->spec.shape; /* protobuf-c has no const */
    measure(e);
    if (e->scale_from != NULL)
        e->scale_from->is_scale = true;
    for (size_t i = 0; i < OPERANDS; i++)
        if (placed_node_has(&e->node, i))
            e->node.operands[i]->removed_uses++;
}

void expansion_plan(expansion *e, expansion *scale_from) {
    problem why;
    if (!e->is_read)
        return;
    if (check_constants(e, scale_from, &why) && find_operands(e, scale_from, &why) && plan_call(e, &why) &&
        find_y(e, &why) && check_form(e, &why)) {
        finish(e);
    } else {
        e->becomes = why.unsupported ? LEFT : WRONG;
        keep_problem(&e->reason, &why);
    }
}

bool expansion_is_dropped(const expansion *e) {
    return value_is_abandoned(model_of(e), e->y);
}

bool expansion_blame(const expansion *e, problem *why) {
    recall_problem(&e->reason, why);
    if (strcmp(why->file, model_of(e)->file) == 0)
        about(why, "y", quoted(e->node.op.y).text);
    return false;
}

void expansion_free(expansion *e) {
    free_problem(&e->reason);
    free(e->y_name);
    tensor_free(&e->folded);
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
static view own_tag(const expansion *e) {
    view field = e->node.at->field;
    wire_field f;
    return wire_next(&field, &f) ? f.tag : (view){NULL, 0};
}

static bool make_field(bytes *head, const expansion *e, const char *location) {
    const uint64_t data_size = e->is_external ? 0 : e->size;
    if (!make_tensor(head, e, location))
        return false;
    if (needs_constant_node(e))
        return make_constant_node(head, data_size, e->y_name) && wrap(head, data_size, own_tag(e));
    return wrap_in(head, data_size, GRAPH_INITIALIZER_TAG);
}

bool expansion_edit(edit *replacement, const expansion *e, const char *location, problem *why) {
    const bool dropped = expansion_is_dropped(e);
    *replacement = (edit){.field = e->node.at->field, .data_size = dropped || e->is_external ? 0 : e->size};
    if (dropped || make_field(&replacement->head, e, location))
        return true;
    free(replacement->head.data);
    replacement->head = (bytes){NULL, 0};
    return fail(why, model_of(e)->file, "no memory");
}
