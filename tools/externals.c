#include "externals.h"

#include <stdlib.h>
#include <string.h>

enum { TENSOR_EXTERNAL_DATA = 13, TENSOR_DATA_LOCATION = 14, ENTRY_KEY = 1, ENTRY_VALUE = 2 };

typedef struct {
    file_set *read;
    const model *m;
    const edit *edits;
    size_t edit_count;
    const char *output;
    owner_folders folders; /* of the model */
    view location;         /* the last one */
    bool stays;            /* it has been checked for a tensor that is left */
    problem *why;
} checker;

/* Even where the location may not be used. */
static bool add_location(file_set *read, const owner_folders *f, const char *location, problem *why) {
    bool ok = true;
    for (size_t i = 0; ok && i < f->count; i++) {
        char *path;
        ok = join_path(&path, f->real[i], location, why) && file_set_add(read, path, why);
        free(path);
    }
    return ok;
}

bool externals_add(file_set *read, const Onnx__TensorProto *proto, const char *owner, problem *why) {
    owner_folders f;
    if (!is_external(proto))
        return true;
    if (!owner_folders_find(&f, owner, why))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < proto->n_external_data; i++)
        if (strcmp(string_or_empty(proto->external_data[i]->key), "location") == 0)
            ok = add_location(read, &f, string_or_empty(proto->external_data[i]->value), why);
    owner_folders_free(&f);
    return ok;
}

static bool is_external_tensor(view content) {
    wire_field f;
    while (wire_next(&content, &f))
        if (f.number == TENSOR_DATA_LOCATION)
            return f.value == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    return false;
}

static bool is_replaced(const checker *c, const uint8_t *at) {
    size_t low = 0, high = c->edit_count; /* the edits that may be the last one before `at` */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->edits[middle].field.data <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && at < c->edits[low - 1].field.data + c->edits[low - 1].field.size;
}

/* What the model itself doesn't find, nobody misses. */
static bool is_found_from_output(const checker *c, const char *location) {
    problem ignored;
    file_id wanted = {0}, found = {0};
    char *from_model, *from_output = NULL;
    bool ok = !external_path(&from_model, c->m->file, location, &ignored) || !file_identify(&wanted, from_model);
    if (!ok)
        ok = external_path(&from_output, c->output, location, &ignored) && file_identify(&found, from_output) &&
             same_file(wanted, found);
    free(from_model);
    free(from_output);
    return ok;
}

static bool check_location(checker *c, view content, view location) {
    const bool stays = !is_replaced(c, content.data);
    const bool seen = location.size == c->location.size && memcmp(location.data, c->location.data, location.size) == 0;
    if (seen && (c->stays || !stays))
        return true;
    c->location = location;
    c->stays = stays;
    char *name = strndup((const char *)location.data, location.size);
    bool ok = name != NULL || fail(c->why, c->m->file, "no memory");
    ok = ok && add_location(c->read, &c->folders, name, c->why);
    if (ok && stays && c->output != NULL && !is_found_from_output(c, name))
        ok = fail(c->why, c->output, "would not find the data of tensors that stay: \"%.100s\" is beside %.500s", name,
                  c->m->file);
    free(name);
    return ok;
}

static bool check_tensor(checker *c, view content) {
    view rest = content;
    wire_field f;
    if (!is_external_tensor(content))
        return true;
    while (wire_next(&rest, &f)) {
        const bool located =
            f.number == TENSOR_EXTERNAL_DATA && view_equals(wire_string(f.content, ENTRY_KEY), "location");
        const view location = located ? wire_string(f.content, ENTRY_VALUE) : (view){NULL, 0};
        if (location.size > 0 && !check_location(c, content, location))
            return false;
    }
    return true;
}

static bool check_message(checker *c, const ProtobufCMessageDescriptor *type, view message) {
    if (type == &onnx__tensor_proto__descriptor)
        return check_tensor(c, message);
    wire_field f;
    while (wire_next(&message, &f)) {
        const ProtobufCFieldDescriptor *known = protobuf_c_message_descriptor_get_field(type, f.number);
        if (known != NULL && known->type == PROTOBUF_C_TYPE_MESSAGE && !check_message(c, known->descriptor, f.content))
            return false;
    }
    return true;
}

bool externals_check(file_set *read, const model *m, const edit *edits, size_t edit_count, const char *output,
                     problem *why) {
    checker c = {.read = read, .m = m, .edits = edits, .edit_count = edit_count, .output = output, .why = why};
    const bool ok =
        owner_folders_find(&c.folders, m->file, why) && check_message(&c, &onnx__model_proto__descriptor, m->bytes);
    owner_folders_free(&c.folders);
    return ok;
}
