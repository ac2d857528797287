#include "model.h"

#include <stdlib.h>
#include <string.h>

static int compare_views(view a, view b) {
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_values(const void *a, const void *b) {
    const value *first = a, *second = b;
    if (first->scope != second->scope)
        return first->scope < second->scope ? -1 : 1;
    return compare_views(first->name, second->name);
}

/* An initializer may be that of an input, and everything may be declared. */
static void merge(value *to, const value *from) {
    const bool defined = to->is_initializer || to->is_constant || to->is_computed;
    const bool defines = from->is_initializer || from->is_constant || from->is_computed;
    const bool input = to->is_input || from->is_input;
    to->is_ambiguous |= from->is_ambiguous || (defined && defines) || (to->is_input && from->is_input) ||
                        (input && (to->is_constant || to->is_computed || from->is_constant || from->is_computed));
    to->is_input = input;
    to->is_initializer |= from->is_initializer;
    to->is_constant |= from->is_constant;
    to->is_computed |= from->is_computed;
    if (defines) {
        to->field = from->field;
        to->content = from->content;
        to->site = from->site;
    }
    if (from->input.size > 0)
        to->input = from->input;
    if (from->declared.size > 0)
        to->declared = from->declared;
}

static void sort_values(model *m) {
    size_t kept = 0;
    if (m->value_count == 0)
        return;
    qsort(m->values, m->value_count, sizeof *m->values, compare_values);
    for (size_t i = 1; i < m->value_count; i++)
        if (compare_values(&m->values[kept], &m->values[i]) == 0)
            merge(&m->values[kept], &m->values[i]);
        else
            m->values[++kept] = m->values[i];
    m->value_count = kept + 1;
}

static value *find_in(const model *m, size_t in, view name) {
    const value key = {.scope = in, .name = name};
    return m->value_count == 0 ? NULL : bsearch(&key, m->values, m->value_count, sizeof *m->values, compare_values);
}

static bool is_defined(const value *v) {
    return v != NULL && (v->is_input || v->is_initializer || v->is_constant || v->is_computed);
}

value *model_find(const model *m, size_t in, view name) {
    for (ptrdiff_t s = (ptrdiff_t)in; s != NO_SCOPE; s = m->scopes[s].parent) {
        value *v = find_in(m, (size_t)s, name);
        if (is_defined(v))
            return v;
    }
    return NULL;
}

bool value_is_abandoned(const model *m, const value *v) {
    return v->removed_uses > 0 && v->removed_uses == v->uses && (!v->is_input || m->constant_inputs);
}

static void count_uses(model *m) {
    for (size_t i = 0; i < m->use_count; i++) {
        value *v = model_find(m, m->uses[i].scope, m->uses[i].name);
        if (v == NULL)
            continue;
        v->uses++;
        v->cast_uses += m->uses[i].by_cast;
        v->is_output |= m->uses[i].by_output;
    }
}

void model_resolve(model *m) {
    sort_values(m);
    count_uses(m);
}
