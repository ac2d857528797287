#include "rewrite.h"

#include <stdlib.h>

/* The edits that are still to be made, in the order of the message. */
typedef struct {
    const edit *next, *end;
    const char *file;
    problem *why;
} pending;

size_t write_varint(uint8_t to[10], uint64_t value) {
    size_t size = 0;
    for (; value > 127; value >>= 7)
        to[size++] = (uint8_t)(value & 127) | 128;
    to[size++] = (uint8_t)value;
    return size;
}

static bool append(rewritten *r, piece p, pending *left) {
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity > 0 ? 2 * r->capacity : 16;
        piece *longer = realloc(r->pieces, capacity * sizeof *longer);
        if (longer == NULL)
            return fail(left->why, left->file, "no memory");
        r->pieces = longer;
        r->capacity = capacity;
    }
    r->pieces[r->count++] = p;
    return true;
}

/* Bytes that follow the last ones make one piece with them. */
static bool append_bytes(rewritten *r, view v, pending *left) {
    piece *last = r->count > 0 ? &r->pieces[r->count - 1] : NULL;
    if (v.size == 0)
        return true;
    if (last == NULL || last->kind != PIECE_BYTES || last->bytes.data + last->bytes.size != v.data)
        return append(r, (piece){.kind = PIECE_BYTES, .bytes = v, .size = v.size}, left);
    last->bytes.size += v.size;
    last->size += v.size;
    return true;
}

static bool append_edit(rewritten *r, uint64_t *size, pending *left) {
    const edit *e = left->next++;
    const uint64_t new_size = e->head.size + e->data_size;
    *size += new_size;
    return new_size == 0 || append(r, (piece){.kind = PIECE_EDIT, .data = e->data, .size = new_size}, left);
}

static bool rewrite_message(rewritten *r, uint64_t *size, view message, pending *left);

/* A field that an edit is in: only its length and content change. */
static bool rewrite_field(rewritten *r, uint64_t *size, const wire_field *f, pending *left) {
    uint64_t inside = 0;
    if (f->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return fail(left->why, left->file, "changed while it was read");
    if (!append_bytes(r, f->tag, left))
        return false;
    const size_t length = r->count;
    if (!append(r, (piece){.kind = PIECE_LENGTH}, left) || !rewrite_message(r, &inside, f->content, left))
        return false;
    r->pieces[length].size = write_varint(r->pieces[length].length, inside);
    *size += f->tag.size + r->pieces[length].size + inside;
    return true;
}

static bool rewrite_message(rewritten *r, uint64_t *size, view message, pending *left) {
    wire_field f;
    while (wire_next(&message, &f)) {
        bool ok;
        if (left->next == left->end || left->next->field.data >= f.whole.data + f.whole.size) {
            ok = append_bytes(r, f.whole, left);
            *size += f.whole.size;
        } else if (left->next->field.data == f.whole.data) {
            ok = append_edit(r, size, left);
        } else {
            ok = rewrite_field(r, size, &f, left);
        }
        if (!ok)
            return false;
    }
    return true;
}

static int compare_edits(const void *a, const void *b) {
    const uint8_t *first = ((const edit *)a)->field.data, *second = ((const edit *)b)->field.data;
    return (first > second) - (first < second);
}

bool rewrite(rewritten *r, view message, edit *edits, size_t count, const char *file, problem *why) {
    pending left = {edits, edits + count, file, why};
    *r = (rewritten){NULL, 0, 0, 0};
    if (count > 0)
        qsort(edits, count, sizeof *edits, compare_edits);
    if (rewrite_message(r, &r->size, message, &left) &&
        (left.next == left.end || fail(why, file, "changed while it was read")))
        return true;
    rewritten_free(r);
    return false;
}

void rewritten_free(rewritten *r) {
    free(r->pieces);
    *r = (rewritten){NULL, 0, 0, 0};
}
