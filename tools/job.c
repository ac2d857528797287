#include "job.h"

#include "externals.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* External data: tensors of fewer bytes stay in the model, and the others start on a page, as ONNX advises. */
enum { LEAST_EXTERNAL = 1024, PAGE = 4096 };

/* A tensor that is wrong is an error; but what dql can't read or do is left. */
static bool plan_expansions(job *j, problem *why) {
    if (!expansions_plan(&j->all, &j->m, why))
        return false;
    for (size_t i = 0; i < j->m.site_count; i++) {
        expansion *e = &j->all.of[i];
        if (e->becomes == WRONG)
            return expansion_blame(e, why);
        if (e->becomes == EXPANDED && !expansion_change_type(e, j->options->y_type, why))
            return false;
    }
    return true;
}

static bool is_written(const expansion *e) {
    return e->becomes == EXPANDED && !expansion_is_dropped(e);
}

static bool place_data(job *j, problem *why) {
    for (size_t i = 0; i < j->m.site_count; i++) {
        expansion *e = &j->all.of[i];
        if (!is_written(e))
            continue;
        if (e->size > (uint64_t)INT64_MAX - PAGE - j->data_size - j->y_size)
            return fail(why, j->options->output, "would have more bytes than a file can have");
        j->y_size += e->size;
        e->is_external = j->options->data != NULL && e->size >= LEAST_EXTERNAL;
        if (e->is_external) {
            e->offset = (j->data_size + PAGE - 1) / PAGE * PAGE;
            j->data_size = e->offset + e->size;
        }
    }
    return true;
}

/* Of initializers and Constant nodes that nobody but the nodes that go has used. */
static void remove_value(job *j, const value *v) {
    if (v->site != NO_SITE || !value_is_abandoned(&j->m, v))
        return;
    j->edits[j->edit_count++] = (edit){.field = v->field};
    if (v->is_input)
        j->edits[j->edit_count++] = (edit){.field = v->input};
}

static bool make_edits(job *j, problem *why) {
    const model *m = &j->m;
    size_t most = j->all.count[EXPANDED];
    for (size_t i = 0; i < m->value_count; i++)
        most += m->values[i].removed_uses > 0 ? 2 : 0;
    j->edits = calloc(most + 1, sizeof *j->edits);
    if (j->edits == NULL)
        return fail(why, m->file, "no memory");
    for (size_t i = 0; i < m->site_count; i++) {
        if (j->all.of[i].becomes != EXPANDED)
            continue;
        edit *replacement = &j->edits[j->edit_count];
        if (!expansion_edit(replacement, &j->all.of[i], j->options->data, why))
            return false;
        free(replacement->head.data);
        replacement->head.data = NULL;
        replacement->data = i;
        j->edit_count++;
    }
    for (size_t i = 0; i < m->value_count; i++)
        remove_value(j, &m->values[i]);
    return true;
}

static bool plan_model(job *j, problem *why) {
    if (!plan_expansions(j, why))
        return false;
    if (!place_data(j, why) || !make_edits(j, why) ||
        !rewrite(&j->new_model, j->m.bytes, j->edits, j->edit_count, j->m.file, why))
        return false;
    if (j->new_model.size <= INT32_MAX)
        return true;
    return fail(why, j->options->output, "would have %" PRIu64 " bytes, more than the 2 GiB of a protobuf message%s",
                j->new_model.size, j->options->data == NULL ? ": --external-data FILE keeps tensors outside" : "");
}

static bool check_paths(job *j, problem *why) {
    const expand_options *o = j->options;
    char *folder;
    if (o->data != NULL) {
        bool ok = folder_of(&folder, o->output, why) && join_path(&j->data_path, folder, o->data, why);
        free(folder);
        if (!ok)
            return false;
    }
    const char *slash = strrchr(o->output, '/');
    file_id new_model, data;
    if (o->data != NULL &&
        (strcmp(slash != NULL ? slash + 1 : o->output, o->data) == 0 ||
         (file_identify(&new_model, o->output) && file_identify(&data, j->data_path) && same_file(new_model, data))))
        return fail(why, j->data_path, "can't be the model and its external data");
    return file_set_add(&j->read, o->input, why) &&
           externals_check(&j->read, &j->m, j->edits, j->edit_count, o->output, why);
}

/* The tensors that are dequantized have their data in few files, and those one after another. */
static bool add_sources(file_set *sources, const job *j, problem *why) {
    const char *last = "";
    bool ok = true;
    for (size_t i = 0; ok && i < OPERANDS * j->m.site_count; i++) {
        const expansion *e = &j->all.of[i / OPERANDS];
        const Onnx__TensorProto *proto = e->operands[i % OPERANDS].proto;
        const char *location =
            e->becomes == EXPANDED && proto != NULL && is_external(proto) ? external_value(proto, "location") : NULL;
        if (location == NULL || strcmp(location, last) == 0)
            continue;
        char *path;
        ok = external_path(&path, j->m.file, location, why) && file_set_add(sources, path, why);
        free(path);
        last = location;
    }
    return ok;
}

static bool measure_files(job *j, problem *why) {
    file_set sources = {0};
    const bool ok = add_sources(&sources, j, why);
    j->read_size = j->m.bytes.size;
    for (size_t i = 0; i < sources.count; i++)
        j->read_size += sources.ids[i].size;
    file_set_free(&sources);
    return ok;
}

bool job_plan(job *j, const expand_options *options, problem *why) {
    *j = (job){.options = options, .model_file = {.fd = -1}, .data_file = {.fd = -1}};
    if (!model_load(&j->m, options->input, why))
        return false;
    j->m.constant_inputs = options->constant_inputs;
    return plan_model(j, why) && check_paths(j, why) && measure_files(j, why);
}

/* ---- the work ---- */

static bool write_data(job *j, expansion *e, const output *to, uint64_t offset, uint64_t done, problem *why) {
    tensor decoded[OPERANDS] = {{0}};
    bool ok = expansion_decode(decoded, e, why);
    if (ok) {
        const slices s = {.file = j->m.file,
                          .plan = &e->plan,
                          .x = &decoded[X],
                          .scale = decoded[X_SCALE].data,
                          .zero = decoded[X_ZERO_POINT].data,
                          .y_type = e->spec.y_type,
                          .to = to,
                          .offset = offset,
                          .bar = &j->bar,
                          .done = done};
        ok = slices_run(&s, j->options->jobs, why);
    }
    expansion_release(decoded, e);
    if (!ok && strcmp(why->file, j->m.file) == 0)
        about(why, "y", e->y_name);
    return ok;
}

/* Bytes of the old model, of which not all have been read. */
static bool copy_bytes(job *j, view from, uint64_t offset, problem *why) {
    if (from.size < LEAST_UNREAD)
        return output_write(&j->model_file, from.data, from.size, offset, why);
    uint8_t *buffer = malloc(LEAST_UNREAD);
    bool ok = buffer != NULL || fail(why, j->m.file, "no memory");
    while (ok && from.size > 0) {
        const size_t size = from.size < LEAST_UNREAD ? from.size : LEAST_UNREAD;
        ok = window_copy(&j->m.in, buffer, from.data, size, why) &&
             output_write(&j->model_file, buffer, size, offset, why);
        view_skip(&from, size);
        offset += size;
    }
    free(buffer);
    return ok;
}

/* What stands for an edit, made again, as all of them at once could be many times the model's size. */
static bool write_edit(job *j, size_t number, uint64_t offset, uint64_t *done, problem *why) {
    expansion *e = &j->all.of[number];
    edit made;
    if (!expansion_edit(&made, e, j->options->data, why))
        return false;
    const uint64_t data_size = made.data_size;
    bool ok = output_write(&j->model_file, made.head.data, made.head.size, offset, why);
    free(made.head.data);
    if (ok && data_size > 0)
        ok = write_data(j, e, &j->model_file, offset + made.head.size, *done, why);
    *done += data_size;
    return ok;
}

static bool write_piece(job *j, const piece *p, uint64_t offset, uint64_t *done, problem *why) {
    switch (p->kind) {
    case PIECE_BYTES: return copy_bytes(j, p->bytes, offset, why);
    case PIECE_LENGTH: return output_write(&j->model_file, p->length, (size_t)p->size, offset, why);
    default: return write_edit(j, p->data, offset, done, why);
    }
}

static bool write_model(job *j, uint64_t *done, problem *why) {
    uint64_t offset = 0;
    for (size_t i = 0; i < j->new_model.count; i++) {
        if (!write_piece(j, &j->new_model.pieces[i], offset, done, why))
            return false;
        offset += j->new_model.pieces[i].size;
    }
    return true;
}

static bool write_external(job *j, uint64_t *done, problem *why) {
    for (size_t i = 0; i < j->m.site_count; i++) {
        expansion *e = &j->all.of[i];
        if (!e->is_external)
            continue;
        if (!write_data(j, e, &j->data_file, e->offset, *done, why))
            return false;
        *done += e->size;
    }
    return true;
}

/* The data gets its name first: a model is there only with its data. */
bool job_run(job *j, problem *why) {
    uint64_t done = 0;
    const double start = now();
    if (!output_open(&j->model_file, j->options->output, &j->read, why) ||
        (j->data_path != NULL && !output_open(&j->data_file, j->data_path, &j->read, why)))
        return false;
    j->bar = progress_start(j->y_size);
    const bool ok = write_model(j, &done, why) && write_external(j, &done, why);
    progress_end(&j->bar);
    j->seconds = now() - start;
    return ok && (j->data_path == NULL || output_commit(&j->data_file, why)) && output_commit(&j->model_file, why);
}

void job_free(job *j) {
    output_discard(&j->model_file);
    output_discard(&j->data_file);
    expansions_free(&j->all, &j->m);
    free(j->edits);
    free(j->data_path);
    file_set_free(&j->read);
    rewritten_free(&j->new_model);
    model_free(&j->m);
}
