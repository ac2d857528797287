/* One model being expanded: what has to be done, and doing it. */
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include "expansions.h"
#include "slices.h"

typedef struct {
    const char *input, *output;
    const char *data; /* --external-data; NULL: none */
    int32_t y_type;   /* 0: each node's own */
    unsigned jobs;
    bool constant_inputs;
} expand_options;

typedef struct {
    const expand_options *options;
    model m;
    expansions all;
    edit *edits; /* one for each that is EXPANDED, and those of what is not used any more */
    size_t edit_count;
    rewritten new_model;
    char *data_path;                       /* NULL: none */
    file_set read;                         /* what must not be overwritten */
    uint64_t y_size, data_size, read_size; /* read_size: of the model and the files that data is read from */
    output model_file, data_file;
    progress bar;
    double seconds;
} job;

/* Reads the model and plans everything; writes nothing. */
bool job_plan(job *j, const expand_options *options, problem *why);

/* Writes the new model, and the file of external data. */
bool job_run(job *j, problem *why);

/* Freed after failures too. Files that are not complete are removed. */
void job_free(job *j);

#endif
