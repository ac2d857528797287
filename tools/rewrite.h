/* A message with some of its fields, at any depth, replaced or left out, and all other bytes as they were. */
#ifndef TOOLS_REWRITE_H
#define TOOLS_REWRITE_H

#include "wire.h"

/* What stands instead of a field: `head`, and then data. Only their sizes matter here: both may be made when they are
 * written. */
typedef struct {
    view field; /* in the message */
    bytes head; /* of no bytes, and no data: the field is left out */
    uint64_t data_size;
    size_t data; /* the caller's number for it */
} edit;

typedef enum { PIECE_BYTES, PIECE_LENGTH, PIECE_EDIT } piece_kind;

/* A part of the new message. */
typedef struct {
    piece_kind kind;
    view bytes;         /* of PIECE_BYTES; in the old message */
    uint8_t length[10]; /* of PIECE_LENGTH */
    size_t data;        /* of PIECE_EDIT: the number */
    uint64_t size;      /* of every kind */
} piece;

typedef struct {
    piece *pieces;
    size_t count, capacity;
    uint64_t size; /* of the new message */
} rewritten;

/* Sorts the edits, whose fields must be fields of `message` or of messages in it. The result points into it. `file`
 * is the one to blame. */
bool rewrite(rewritten *r, view message, edit *edits, size_t count, const char *file, problem *why);
void rewritten_free(rewritten *r);

/* Makes a protobuf varint, and returns its size. */
size_t write_varint(uint8_t to[10], uint64_t value);

#endif
