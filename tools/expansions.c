#include "expansions.h"

#include <stdlib.h>

/* ---- planning: the node of a scale comes before those that use it ---- */

static void read_node(expansion *e, const model *m, const site *at) {
    problem why;
    e->progress = WAITING;
    e->becomes = LEFT;
    e->is_read = placed_node_read(&e->node, m, at, &why);
    if (!e->is_read)
        keep_problem(&e->reason, &why);
}

/* The one whose y is the scale; NULL if no DequantizeLinear computes it. */
static expansion *find_scale_source(const expansions *all, const expansion *e) {
    const value *scale = e->node.operands[X_SCALE];
    return scale != NULL && scale->site != NO_SITE && !scale->is_ambiguous ? &all->of[scale->site] : NULL;
}

/* Follows the scales to one that is known, or that waits already: a cycle; and plans all of them on the way back. The
 * way is a list, as chains may be as long as the file. */
static void plan_chain(const expansions *all, const model *m, expansion *e) {
    expansion *chain = NULL;
    while (e != NULL && e->progress == UNREAD) {
        read_node(e, m, &m->sites[e - all->of]);
        e->next = chain;
        chain = e;
        e = find_scale_source(all, e);
    }
    for (; chain != NULL; chain = chain->next) {
        expansion_plan(chain, find_scale_source(all, chain));
        chain->progress = PLANNED;
    }
}

/* Who is still going to read y: those that are written, and those whose own y somebody reads. */
static void count_readers(expansions *all, const model *m) {
    for (size_t i = 0; i < m->site_count; i++) {
        const expansion *e = &all->of[i];
        if (e->becomes == EXPANDED && e->scale_from != NULL && !expansion_is_dropped(e))
            e->scale_from->readers++;
    }
    for (size_t i = 0; i < m->site_count; i++) {
        expansion *e = &all->of[i];
        if (e->becomes == EXPANDED && e->is_scale && e->scale_from != NULL)
            e->scale_from->readers++;
    }
}

bool expansions_plan(expansions *all, const model *m, problem *why) {
    const bool allowed = m->site_count <= wire_memory(m->bytes.size) / sizeof *all->of;
    *all = (expansions){.of = allowed ? calloc(m->site_count + 1, sizeof *all->of) : NULL};
    if (all->of == NULL)
        return fail(why, m->file, allowed ? "no memory" : "would take too much memory for its size");
    for (size_t i = 0; i < m->site_count; i++)
        plan_chain(all, m, &all->of[i]);
    for (size_t i = 0; i < m->site_count; i++)
        all->count[all->of[i].becomes]++;
    count_readers(all, m);
    return true;
}

void expansions_free(expansions *all, const model *m) {
    for (size_t i = 0; all->of != NULL && i < m->site_count; i++)
        expansion_free(&all->of[i]);
    free(all->of);
    *all = (expansions){0};
}

/* ---- computing ---- */

static bool decode(tensor decoded[OPERANDS], const expansion *e, bool opens_x, problem *why) {
    for (size_t i = 0; i < OPERANDS; i++) {
        if (i == X_SCALE && e->scale_from != NULL) {
            decoded[i] = e->scale_from->folded;
            decoded[i].borrowed = true;
        } else if (e->operands[i].proto != NULL &&
                   !(i == X && opens_x ? tensor_open : tensor_decode)(&decoded[i], e->operands[i], why)) {
            return false;
        }
    }
    return true;
}

static bool run(expansion *e, const tensor decoded[OPERANDS], problem *why) {
    const char *file = e->node.m->file;
    dql_plan plan;
    dql_spec spec = e->spec;
    spec.y_type = e->head.data_type;
    if (!dequantizer_plan(&plan, &e->node.op, &spec, e->operands[X_ZERO_POINT].proto, why) ||
        !tensor_create(&e->folded, spec.y_type, spec.rank, spec.shape, file, why))
        return false;
    const dql_status status =
        dql_run(&plan, decoded[X].data, decoded[X_SCALE].data, decoded[X_ZERO_POINT].data, e->folded.data);
    return status == DQL_OK || fail(why, file, "%s", dql_status_text(status));
}

static bool fold(expansion *e, problem *why) {
    tensor decoded[OPERANDS] = {{0}};
    const bool ok = decode(decoded, e, false, why) && run(e, decoded, why);
    expansion_release(decoded, e);
    return ok;
}

bool expansion_decode(tensor decoded[OPERANDS], expansion *e, problem *why) {
    expansion *first = e;
    while (first->scale_from != NULL && first->scale_from->folded.data == NULL) {
        first->scale_from->next = first;
        first = first->scale_from;
    }
    for (; first != e; first = first->next)
        if (!fold(first, why))
            return false;
    return decode(decoded, e, true, why);
}

void expansion_release(tensor decoded[OPERANDS], expansion *e) {
    for (size_t i = 0; i < OPERANDS; i++)
        tensor_free(&decoded[i]);
    if (e->scale_from != NULL && --e->scale_from->readers == 0)
        tensor_free(&e->scale_from->folded);
}
