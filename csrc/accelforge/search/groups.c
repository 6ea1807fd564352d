/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/pareto.h"
#include "accelforge/search/results.h"

/* A row, while it looks for its group. */
struct member {
    uint32_t template;
    uint32_t row;
    struct member *next; /* in the group */
};

/* A group that is being collected. */
struct bucket {
    struct forge_group_node *nodes;
    uint32_t node_count;
    uint32_t loop_count;
    uint64_t *stops; /* bits */
    uint64_t hash;
    struct member *first;
    struct member **last;
    uint32_t count;
    struct bucket *chain; /* in the table */
};

struct grouping {
    const struct forge_found *found;
    const struct forge_space *space;
    struct forge_arena *arena;
    struct bucket **table;
    size_t table_room;
    struct bucket **order;
    uint32_t count;
    uint32_t room;
    uint32_t most_nodes;
    uint32_t most_loops;
    uint32_t most_holders;
    /* of the row that is looked at */
    struct forge_group_node *nodes;
    bool *repeats;
    uint32_t *depths;
    uint64_t *stops;
    uint32_t words; /* of stops */
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count;
};

static const struct forge_template *template_of(const struct grouping *g, uint32_t t)
{
    return &g->found->templates->list[t];
}

static bool is_shared(const struct forge_space *space, uint32_t tensor)
{
    return (space->shared >> tensor & 1) != 0;
}

/* --- the structure of a row --- */

static bool comes_before(const struct forge_group_node *a, const struct forge_group_node *b)
{
    return a->level != b->level ? a->level < b->level : a->member < b->member;
}

/* Holders with no loop between them are sorted. */
static void add_hold(struct forge_group_node *nodes, uint32_t *count, struct forge_group_node node)
{
    uint32_t i = (*count)++;
    for (; i > 0 && nodes[i - 1].kind == FORGE_NODE_HOLD && comes_before(&node, &nodes[i - 1]); i--)
        nodes[i] = nodes[i - 1];
    nodes[i] = node;
}

static void add_stop(struct grouping *g, uint32_t depth)
{
    g->stops[depth / 64] |= UINT64_C(1) << depth % 64;
}

/* Sets the nodes, the stops and the depths of a row; the number of fused loops. */
static uint32_t describe(struct grouping *g, uint32_t t, uint32_t r, uint32_t *node_count)
{
    const struct forge_template *template = template_of(g, t);
    const struct forge_rows *rows = &g->found->rows[t];
    forge_results_repeats(g->found->templates, template, &rows->tiles[(size_t)r * rows->loop_count],
                          g->repeats);
    uint32_t fused = forge_results_depths(template, rows, g->repeats, g->depths);
    memset(g->stops, 0, g->words * sizeof *g->stops);

    uint32_t loop = 0;
    uint32_t depth = 0;
    *node_count = 0;
    for (uint32_t n = 0; n < template->node_count; n++) {
        const struct forge_node *node = &template->nodes[n];
        if (node->kind == FORGE_NODE_HOLD) {
            add_stop(g, depth);
            struct forge_group_node hold = {FORGE_NODE_HOLD, node->level, node->tensor, 0};
            if (node->backing && is_shared(g->space, node->tensor))
                add_hold(g->nodes, node_count, hold);
            continue;
        }
        if (loop < template->fused_count && g->repeats[loop]) {
            bool spatial = node->kind == FORGE_NODE_SPATIAL;
            g->nodes[(*node_count)++] =
                (struct forge_group_node){node->kind, spatial ? node->level : 0, node->variable,
                                          spatial ? node->dimension : 0};
            depth++;
        }
        loop++;
    }
    for (uint32_t h = 0; h < rows->holder_count; h++)
        if (rows->notes[h].shown)
            add_stop(g, g->depths[h]);
    g->stops[0] &= ~UINT64_C(1);
    g->stops[fused / 64] &= ~(UINT64_C(1) << fused % 64);
    return fused;
}

static uint64_t hash_row(const struct grouping *g, uint32_t node_count)
{
    uint64_t hash = node_count;
    for (uint32_t n = 0; n < node_count; n++) {
        const struct forge_group_node *node = &g->nodes[n];
        uint64_t word = ((uint64_t)node->kind << 48) ^ ((uint64_t)node->level << 32) ^
                        ((uint64_t)node->member << 16) ^ node->dimension;
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (uint32_t i = 0; i < g->words; i++) {
        hash = (hash ^ g->stops[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 31;
    }
    return hash;
}

/* --- buckets --- */

static bool is_like(const struct grouping *g, const struct bucket *bucket, uint64_t hash,
                    uint32_t node_count)
{
    return bucket->hash == hash && bucket->node_count == node_count &&
           (node_count == 0 ||
            memcmp(bucket->nodes, g->nodes, node_count * sizeof *g->nodes) == 0) &&
           memcmp(bucket->stops, g->stops, g->words * sizeof *g->stops) == 0;
}

static struct bucket *new_bucket(struct grouping *g, uint64_t hash, uint32_t node_count,
                                 uint32_t loop_count)
{
    if (g->count == g->room) {
        uint32_t room = 2 * g->room + 64;
        struct bucket **order = forge_arena_take(g->arena, room, sizeof *order);
        if (order == NULL)
            return NULL;
        if (g->count > 0)
            memcpy(order, g->order, g->count * sizeof *order);
        g->order = order;
        g->room = room;
    }
    struct bucket *bucket = forge_arena_take(g->arena, 1, sizeof *bucket);
    struct forge_group_node *nodes = forge_arena_take(g->arena, node_count, sizeof *nodes);
    uint64_t *stops = forge_arena_take(g->arena, g->words, sizeof *stops);
    if (bucket == NULL || nodes == NULL || stops == NULL)
        return NULL;
    memcpy(nodes, g->nodes, node_count * sizeof *nodes);
    memcpy(stops, g->stops, g->words * sizeof *stops);
    *bucket = (struct bucket){
        .nodes = nodes,
        .node_count = node_count,
        .loop_count = loop_count,
        .stops = stops,
        .hash = hash,
        .last = &bucket->first,
        .chain = g->table[hash & (g->table_room - 1)],
    };
    g->table[hash & (g->table_room - 1)] = bucket;
    g->order[g->count++] = bucket;
    return bucket;
}

static bool add_row(struct grouping *g, uint32_t t, uint32_t r)
{
    uint32_t node_count = 0;
    uint32_t loop_count = describe(g, t, r, &node_count);
    uint64_t hash = hash_row(g, node_count);
    struct bucket *bucket = g->table[hash & (g->table_room - 1)];
    while (bucket != NULL && !is_like(g, bucket, hash, node_count))
        bucket = bucket->chain;
    if (bucket == NULL)
        bucket = new_bucket(g, hash, node_count, loop_count);

    struct member *member = forge_arena_take(g->arena, 1, sizeof *member);
    if (bucket == NULL || member == NULL)
        return false;
    *member = (struct member){.template = t, .row = r};
    *bucket->last = member;
    bucket->last = &member->next;
    bucket->count++;
    return true;
}

/* --- the best of a bucket --- */

/* The rows of a bucket as choices whose symbols are the fused loops, and their criteria. */
struct contest {
    const struct bucket *bucket;
    struct member **members;
    struct forge_choice_table tiles;
    double *criteria;
    double *tolerances;
    uint32_t width;
    bool *good;
    uint32_t *kept;
    uint32_t *scratch;
    double *block;
};

static void write_tiles(const struct grouping *g, const struct member *member, uint32_t *tiles)
{
    const struct forge_rows *rows = &g->found->rows[member->template];
    uint32_t count = 0;
    for (uint32_t l = 0; l < template_of(g, member->template)->fused_count; l++)
        if (g->repeats[l])
            tiles[count++] = rows->tiles[(size_t)member->row * rows->loop_count + l];
}

static bool start_contest(struct grouping *g, struct contest *c, struct forge_arena *arena)
{
    size_t count = c->bucket->count;
    c->width = FORGE_OBJECTIVES + g->tracked_count * (c->bucket->loop_count + 1);
    c->members = forge_arena_take(arena, count, sizeof *c->members);
    c->tiles.tiles = forge_arena_take(arena, count * c->bucket->loop_count, sizeof(uint32_t));
    c->criteria = forge_arena_take(arena, count * c->width, sizeof(double));
    c->block = forge_arena_take(arena, count * c->width, sizeof(double));
    c->tolerances = forge_arena_take(arena, c->width, sizeof(double));
    c->good = forge_arena_take(arena, count, sizeof(bool));
    c->kept = forge_arena_take(arena, count, sizeof(uint32_t));
    c->scratch = forge_arena_take(arena, count, sizeof(uint32_t));
    if (c->members == NULL || c->tiles.tiles == NULL || c->criteria == NULL || c->block == NULL ||
        c->tolerances == NULL || c->good == NULL || c->kept == NULL || c->scratch == NULL)
        return false;

    c->tiles.count = c->bucket->count;
    c->tiles.symbols = c->bucket->loop_count;
    uint32_t used = 0;
    uint32_t i = 0;
    for (struct member *member = c->bucket->first; member != NULL; member = member->next, i++) {
        uint32_t nodes = 0;
        uint32_t fused = describe(g, member->template, member->row, &nodes);
        c->members[i] = member;
        write_tiles(g, member, forge_tiles_of(&c->tiles, i));
        used = forge_results_criteria(g->space, &g->found->rows[member->template], member->row,
                                      g->depths, fused, g->tracked, g->tracked_count,
                                      &c->criteria[(size_t)i * used]);
    }
    c->width = used;
    forge_results_tolerances(g->space, c->tolerances, c->width);
    return true;
}

/* More loops than a word has bits are compared in words. */
static bool sort_rows(const struct contest *c, struct forge_sorting *sorting)
{
    uint64_t keys = c->tiles.symbols >= 64 ? UINT64_MAX : (UINT64_C(1) << c->tiles.symbols) - 1;
    return forge_sort_choices(sorting, &c->tiles, keys);
}

static uint32_t hold_contest(struct contest *c, const struct forge_sorting *sorting)
{
    uint32_t total = 0;
    for (uint32_t class = 0; class < sorting->class_count; class++) {
        uint32_t first = sorting->starts[class];
        uint32_t count = sorting->starts[class + 1] - first;
        for (uint32_t i = 0; i < count; i++)
            memcpy(&c->block[(size_t)i * c->width],
                   &c->criteria[(size_t)sorting->order[first + i] * c->width],
                   c->width * sizeof(double));
        uint32_t kept = forge_pareto(c->block, count, c->width, c->tolerances, c->kept, c->scratch);
        for (uint32_t i = 0; i < kept; i++)
            c->good[sorting->order[first + c->kept[i]]] = true;
        total += kept;
    }
    return total;
}

/* --- a group --- */

static struct forge_group_column *find_column(struct forge_pmapping_group *group, uint32_t level,
                                              uint32_t depth, uint32_t tensor, bool persistent)
{
    for (uint32_t i = 0; i < group->column_count; i++) {
        struct forge_group_column *column = &group->columns[i];
        if (column->level == level && column->depth == depth && column->tensor == tensor &&
            column->persistent == persistent)
            return column;
    }
    return NULL;
}

/* Of a copy all tensors of a level are in the buffer of the one that is shown. */
static bool holds_shared(const struct grouping *g, const struct forge_rows *rows, uint32_t h)
{
    bool copy = g->found->templates->facts.copy;
    for (uint32_t i = 0; i < rows->holder_count; i++)
        if ((i == h || (copy && rows->notes[i].level == rows->notes[h].level)) &&
            rows->notes[i].backing && is_shared(g->space, rows->notes[i].tensor))
            return true;
    return false;
}

static bool add_share(struct grouping *g, struct forge_pmapping_group *group, uint32_t level,
                      uint32_t depth, uint32_t tensor, bool persistent, uint32_t row, double share)
{
    struct forge_group_column *column = find_column(group, level, depth, tensor, persistent);
    if (column == NULL) {
        struct forge_group_column *columns =
            forge_arena_take(g->arena, (size_t)group->column_count + 1, sizeof *columns);
        double *shares = forge_arena_take(g->arena, group->row_count, sizeof *shares);
        if (columns == NULL || shares == NULL)
            return false;
        if (group->column_count > 0)
            memcpy(columns, group->columns, group->column_count * sizeof *columns);
        group->columns = columns;
        column = &columns[group->column_count++];
        *column = (struct forge_group_column){level, depth, tensor, persistent, shares};
    }
    column->shares[row] += share;
    return true;
}

static bool is_tracked(const struct grouping *g, uint32_t level)
{
    for (uint32_t i = 0; i < g->tracked_count; i++)
        if (g->tracked[i] == level)
            return true;
    return false;
}

/* The share of the holder that is shown for HOLDER's level, or its own. */
static double share_of(const struct forge_rows *rows, uint32_t r, uint32_t holder)
{
    const double *shares = &rows->shares[(size_t)r * rows->holder_count];
    if (rows->notes[holder].shown)
        return shares[holder];
    for (uint32_t h = 0; h < rows->holder_count; h++)
        if (rows->notes[h].shown && rows->notes[h].level == rows->notes[holder].level)
            return shares[h];
    return 0;
}

static bool add_shares(struct grouping *g, struct forge_pmapping_group *group, uint32_t i)
{
    const struct forge_rows *rows = &g->found->rows[group->templates[i]];
    uint32_t r = group->rows[i];
    for (uint32_t h = 0; h < rows->holder_count; h++) {
        const struct forge_note *note = &rows->notes[h];
        if (note->toll)
            continue;
        bool added = true;
        if (note->backing && is_shared(g->space, note->tensor))
            added = add_share(g, group, note->level, note->persistent ? FORGE_NONE : g->depths[h],
                              note->tensor, false, i, share_of(rows, r, h));
        else if (note->shown && is_tracked(g, note->level) && !holds_shared(g, rows, h))
            added = add_share(g, group, note->level, note->persistent ? 0 : g->depths[h],
                              FORGE_NONE, note->persistent, i, share_of(rows, r, h));
        if (!added)
            return false;
    }
    return true;
}

static bool take_arrays(struct grouping *g, struct forge_pmapping_group *group)
{
    size_t count = group->row_count;
    group->templates = forge_arena_take(g->arena, count, sizeof(uint32_t));
    group->rows = forge_arena_take(g->arena, count, sizeof(uint32_t));
    group->objectives = forge_arena_take(g->arena, FORGE_OBJECTIVES * count, sizeof(double));
    group->tiles = forge_arena_take(g->arena, count * group->loop_count, sizeof(uint32_t));
    group->stops = forge_arena_take(g->arena, (size_t)group->loop_count + 1, sizeof(uint32_t));
    return group->templates != NULL && group->rows != NULL && group->objectives != NULL &&
           group->tiles != NULL && group->stops != NULL;
}

static bool fill_group(struct grouping *g, struct forge_pmapping_group *group,
                       const struct contest *c, uint32_t row_count)
{
    group->nodes = c->bucket->nodes;
    group->node_count = c->bucket->node_count;
    group->loop_count = c->bucket->loop_count;
    group->row_count = row_count;
    if (!take_arrays(g, group))
        return false;
    for (uint32_t d = 1; d < group->loop_count; d++)
        if ((c->bucket->stops[d / 64] >> d % 64 & 1) != 0)
            group->stops[group->stop_count++] = d;

    uint32_t i = 0;
    for (uint32_t m = 0; m < c->bucket->count; m++) {
        if (!c->good[m])
            continue;
        const struct member *member = c->members[m];
        uint32_t nodes = 0;
        describe(g, member->template, member->row, &nodes);
        group->templates[i] = member->template;
        group->rows[i] = member->row;
        memcpy(&group->objectives[FORGE_OBJECTIVES * (size_t)i],
               &g->found->rows[member->template].objectives[FORGE_OBJECTIVES * (size_t)member->row],
               FORGE_OBJECTIVES * sizeof(double));
        write_tiles(g, member, &group->tiles[(size_t)i * group->loop_count]);
        if (!add_shares(g, group, i))
            return false;
        i++;
    }
    return true;
}

static bool finish_bucket(struct grouping *g, const struct bucket *bucket,
                          struct forge_pmapping_group *group, struct forge_sorting *sorting)
{
    struct forge_arena arena = {NULL};
    struct contest contest = {.bucket = bucket};
    bool done = start_contest(g, &contest, &arena) && sort_rows(&contest, sorting) &&
                fill_group(g, group, &contest, hold_contest(&contest, sorting));
    forge_arena_clear(&arena);
    return done;
}

/* --- all groups --- */

static bool prepare(struct grouping *g)
{
    const struct forge_found *found = g->found;
    size_t rows = 0;
    for (uint32_t t = 0; t < found->templates->count; t++) {
        const struct forge_template *template = &found->templates->list[t];
        rows += found->rows[t].count;
        if (template->node_count > g->most_nodes)
            g->most_nodes = template->node_count;
        if (template->loop_count > g->most_loops)
            g->most_loops = template->loop_count;
        if (found->rows[t].holder_count > g->most_holders)
            g->most_holders = found->rows[t].holder_count;
    }
    g->table_room = 64;
    while (g->table_room < rows && g->table_room < (size_t)1 << 20)
        g->table_room *= 2;
    g->words = g->most_loops / 64 + 1;
    g->table = forge_arena_take(g->arena, g->table_room, sizeof *g->table);
    g->nodes = forge_arena_take(g->arena, g->most_nodes, sizeof *g->nodes);
    g->repeats = forge_arena_take(g->arena, g->most_loops, sizeof *g->repeats);
    g->depths = forge_arena_take(g->arena, g->most_holders, sizeof *g->depths);
    g->stops = forge_arena_take(g->arena, g->words, sizeof *g->stops);
    g->tracked_count = forge_tracked_levels(g->space, g->tracked);
    return g->table != NULL && g->nodes != NULL && g->repeats != NULL && g->depths != NULL &&
           g->stops != NULL;
}

static bool make(struct grouping *g, struct forge_groups *groups)
{
    for (uint32_t t = 0; t < g->found->templates->count; t++)
        for (uint32_t r = 0; r < g->found->rows[t].count; r++)
            if (!add_row(g, t, r))
                return false;

    groups->list = forge_arena_take(g->arena, g->count, sizeof *groups->list);
    if (groups->list == NULL)
        return false;
    struct forge_sorting sorting;
    memset(&sorting, 0, sizeof(sorting));
    bool done = true;
    for (uint32_t b = 0; done && b < g->count; b++) {
        done = finish_bucket(g, g->order[b], &groups->list[b], &sorting);
        groups->rows += groups->list[b].row_count;
        groups->count++;
    }
    forge_sorting_clear(&sorting);
    return done;
}

enum forge_status forge_groups_make(struct forge_groups *groups, const struct forge_found *found)
{
    memset(groups, 0, sizeof *groups);
    struct grouping g = {
        .found = found,
        .space = found->templates->facts.space,
        .arena = &groups->arena,
    };
    return prepare(&g) && make(&g, groups) ? FORGE_OK : FORGE_OUT_OF_MEMORY;
}

void forge_groups_clear(struct forge_groups *groups)
{
    forge_arena_clear(&groups->arena);
    memset(groups, 0, sizeof *groups);
}
