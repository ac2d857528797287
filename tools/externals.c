#include "externals.h"

#include <stdlib.h>
#include <string.h>

enum { TENSOR_EXTERNAL_DATA = 13, TENSOR_DATA_LOCATION = 14, ENTRY_KEY = 1, ENTRY_VALUE = 2 };

typedef struct {
    const model *m;
    const edit *edits;
    size_t edit_count;
    const char *const *outputs;
    size_t output_count;
    char *folder;     /* of the model */
    bool same_folder; /* as the new model's */
    view checked;     /* the last location */
    problem *why;
} checker;

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

static bool check_path(const checker *c, const char *location) {
    char *path;
    bool ok = join_path(&path, c->folder, location, c->why);
    for (size_t i = 0; ok && i < c->output_count; i++)
        if (same_file(path, c->outputs[i]))
            ok = fail(c->why, c->outputs[i], "is where the model has its data: it would be overwritten");
    free(path);
    return ok;
}

static bool check_location(checker *c, view content, view location) {
    if (!c->same_folder && !is_replaced(c, content.data))
        return fail(c->why, c->m->file, "tensors that stay have their data in \"%.*s\" beside it: so must %s be",
                    (int)(location.size < 100 ? location.size : 100), (const char *)location.data, c->outputs[0]);
    if (location.size == c->checked.size && memcmp(location.data, c->checked.data, location.size) == 0)
        return true;
    c->checked = location;
    char *name = strndup((const char *)location.data, location.size);
    const bool ok = name != NULL ? check_path(c, name) : fail(c->why, c->m->file, "no memory");
    free(name);
    return ok;
}

/* Of several locations some readers take the first one, and some the last: none of them is overwritten. */
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

bool externals_check(const model *m, const edit *edits, size_t edit_count, const char *const *outputs,
                     size_t output_count, problem *why) {
    checker c = {
        .m = m, .edits = edits, .edit_count = edit_count, .outputs = outputs, .output_count = output_count, .why = why};
    char *folder = NULL;
    bool ok = folder_of(&c.folder, m->file, why) && folder_of(&folder, outputs[0], why);
    if (ok) {
        c.same_folder = same_file(c.folder, folder);
        ok = check_message(&c, &onnx__model_proto__descriptor, m->bytes);
    }
    free(c.folder);
    free(folder);
    return ok;
}
