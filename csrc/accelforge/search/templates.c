/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/template.h"

/* There are no more templates of one Einsum. */
#define MAX_TEMPLATES (UINT32_C(1) << 22)

/* --- crossings --- */

/* The last spatial loop below holder I that divides what the holder keeps, or I. */
static uint32_t last_divider(const struct forge_facts *facts, const struct forge_sketch *sketch,
                             uint32_t i)
{
    uint32_t last = i;
    for (uint32_t j = i + 1; j < sketch->count; j++)
        if (sketch->nodes[j].kind == FORGE_NODE_SPATIAL &&
            facts->fanouts[sketch->nodes[i].level] >= facts->fanouts[sketch->nodes[j].level])
            last = j;
    return last;
}

/* True if a temporal and a spatial loop over VARIABLE would leave a tile of I in pieces. */
static bool crosses(const struct forge_sketch *sketch, uint32_t i, uint32_t last, uint32_t variable)
{
    bool kinds[3] = {false, false, false};
    for (uint32_t j = i + 1; j < last; j++)
        if (sketch->nodes[j].kind != FORGE_NODE_HOLD && sketch->nodes[j].variable == variable)
            kinds[sketch->nodes[j].kind] = true;
    return kinds[FORGE_NODE_TEMPORAL] && kinds[FORGE_NODE_SPATIAL];
}

/* Pairs of sets of loops, one of which must go: (holder, variable). */
struct crossing {
    uint32_t holder;
    uint32_t last;
    uint32_t variable;
    bool removes_spatial;
};

static uint32_t find_crossings(const struct forge_facts *facts, const struct forge_sketch *sketch,
                               struct crossing *crossings)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sketch->count; i++) {
        if (sketch->nodes[i].kind != FORGE_NODE_HOLD)
            continue;
        uint32_t tensor = sketch->nodes[i].tensor;
        uint64_t variables = facts->direct[tensor] | facts->partial[tensor];
        uint32_t last = last_divider(facts, sketch, i);
        for (uint32_t v = 0; v < facts->variable_count; v++)
            if ((variables >> v & 1) != 0 && crosses(sketch, i, last, v))
                crossings[count++] = (struct crossing){i, last, v, false};
    }
    return count;
}

/* --- equal templates --- */

/* Holders between two loops may be in any order. */
static uint64_t hash_node(const struct forge_node *node)
{
    uint64_t words[4] = {node->kind, node->level,
                         node->kind == FORGE_NODE_HOLD ? node->tensor : node->variable,
                         node->dimension};
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < 4; i++) {
        hash ^= words[i] + UINT64_C(0x7f4a7c15);
        hash *= UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t hash_nodes(const struct forge_node *nodes, uint32_t count)
{
    uint64_t hash = count;
    uint64_t run = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].kind == FORGE_NODE_HOLD) {
            run += hash_node(&nodes[i]);
            continue;
        }
        hash = (hash ^ run) * UINT64_C(0xc4ceb9fe1a85ec53) + hash_node(&nodes[i]);
        hash ^= hash >> 29;
        run = 0;
    }
    return (hash ^ run) * UINT64_C(0xc4ceb9fe1a85ec53);
}

static bool same_node(const struct forge_node *a, const struct forge_node *b)
{
    return a->kind == b->kind && a->level == b->level && a->tensor == b->tensor &&
           a->variable == b->variable && a->dimension == b->dimension;
}

static uint32_t run_length(const struct forge_node *nodes, uint32_t start, uint32_t count)
{
    uint32_t end = start;
    while (end < count && nodes[end].kind == FORGE_NODE_HOLD)
        end++;
    return end - start;
}

static bool same_run(const struct forge_node *a, const struct forge_node *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < count && !found; j++)
            found = same_node(&a[i], &b[j]);
        if (!found)
            return false;
    }
    return true;
}

static bool same_nodes(const struct forge_template *template, const struct forge_node *nodes,
                       uint32_t count)
{
    if (template->node_count != count)
        return false;
    for (uint32_t i = 0; i < count;) {
        uint32_t run = run_length(nodes, i, count);
        if (run != run_length(template->nodes, i, count) ||
            !same_run(&template->nodes[i], &nodes[i], run))
            return false;
        i += run;
        if (i < count && !same_node(&template->nodes[i], &nodes[i]))
            return false;
        i += i < count;
    }
    return true;
}

/* The place in the table for these nodes: free, or of a template that has them. */
static uint32_t *find_place(const struct forge_templates *templates, const struct forge_node *nodes,
                            uint32_t count)
{
    size_t mask = templates->table_room - 1;
    size_t i = (size_t)hash_nodes(nodes, count) & mask;
    while (templates->table[i] != FORGE_NONE &&
           !same_nodes(&templates->list[templates->table[i]], nodes, count))
        i = (i + 1) & mask;
    return &templates->table[i];
}

static bool grow(struct forge_templates *templates)
{
    if (templates->count < templates->room)
        return true;
    size_t room = 2 * templates->room + 32;
    struct forge_template *list = realloc(templates->list, room * sizeof *list);
    if (list == NULL)
        return false;
    templates->list = list;
    templates->room = room;

    size_t power = 64;
    while (power < 2 * room)
        power *= 2;
    uint32_t *grown = malloc(power * sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown, 0xff, power * sizeof *grown);
    free(templates->table);
    templates->table = grown;
    templates->table_room = power;
    for (uint32_t t = 0; t < templates->count; t++)
        *find_place(templates, list[t].nodes, list[t].node_count) = t;
    return true;
}

/* --- adding a template --- */

/* Numbers become places; limits of loops that are gone go too. There is room for MORE limits. */
static bool copy_limits(struct forge_arena *arena, const struct forge_draft_limits *draft,
                        uint32_t more, struct forge_template *template)
{
    template->limits =
        forge_arena_take(arena, (size_t)draft->count + more, sizeof *template->limits);
    if (template->limits == NULL)
        return false;
    for (uint32_t i = 0; i < draft->count; i++) {
        const struct forge_limit *source = &draft->list[i];
        struct forge_limit limit = *source;
        limit.loops = forge_arena_take(arena, source->loop_count, sizeof(uint32_t));
        if (limit.loops == NULL)
            return false;
        limit.loop_count = 0;
        for (uint32_t k = 0; k < source->loop_count; k++) {
            uint32_t place = 0;
            for (uint32_t n = 0; n < template->node_count; n++) {
                if (template->nodes[n].kind == FORGE_NODE_HOLD)
                    continue;
                if (template->nodes[n].number == source->loops[k])
                    limit.loops[limit.loop_count++] = place;
                place++;
            }
        }
        if (limit.loop_count > 0)
            template->limits[template->limit_count++] = limit;
    }
    return true;
}

static double value_of(const struct forge_space *space, uint32_t value)
{
    return space->problem.values[value];
}

/* A variable without a loop cannot be iterated over. */
static bool has_all_loops(const struct forge_facts *facts, const struct forge_sketch *sketch)
{
    const struct forge_space *space = facts->space;
    uint64_t looped = 0;
    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->nodes[i].kind != FORGE_NODE_HOLD)
            looped |= UINT64_C(1) << sketch->nodes[i].variable;
    for (uint32_t v = 0; v < facts->variable_count; v++) {
        uint32_t bound =
            space->problem.variables[forge_space_einsum(space)->variables.first + v].bound;
        if ((looped >> v & 1) == 0 && value_of(space, bound) > 1)
            return false;
    }
    return true;
}

static void count_loops(const struct forge_space *space, struct forge_template *template)
{
    for (uint32_t i = 0; i < template->node_count; i++) {
        const struct forge_node *node = &template->nodes[i];
        template->loop_count += node->kind != FORGE_NODE_HOLD;
        if (node->kind == FORGE_NODE_HOLD && node->backing &&
            (space->shared >> node->tensor & 1) != 0)
            template->fused_count = template->loop_count;
    }
}

static enum forge_status add_template(struct forge_step_maker *maker,
                                      const struct forge_sketch *sketch,
                                      const struct forge_draft_limits *limits)
{
    struct forge_templates *templates = maker->templates;
    if (templates->count >= maker->facts->space->settings.max_pmapping_templates_per_einsum) {
        templates->full = true;
        return FORGE_OK;
    }
    if (!has_all_loops(maker->facts, sketch))
        return FORGE_OK;
    if (templates->count >= MAX_TEMPLATES)
        return FORGE_TOO_LARGE;
    if (!grow(templates))
        return FORGE_OUT_OF_MEMORY;
    uint32_t *place = find_place(templates, sketch->nodes, sketch->count);
    if (*place != FORGE_NONE)
        return FORGE_OK;

    struct forge_template template = {
        .nodes = forge_arena_take(&templates->arena, sketch->count, sizeof *template.nodes),
        .node_count = sketch->count,
        .usages = maker->placement->usages,
    };
    if (template.nodes == NULL)
        return FORGE_OUT_OF_MEMORY;
    memcpy(template.nodes, sketch->nodes, sketch->count * sizeof *template.nodes);
    if (!copy_limits(&templates->arena, limits, maker->placement->tile_bounds.count, &template))
        return FORGE_OUT_OF_MEMORY;
    bool possible = true;
    enum forge_status status =
        forge_limit_tiles(maker->facts, maker->placement, &templates->arena, &template, &possible);
    if (status != FORGE_OK || !possible)
        return status;
    count_loops(maker->facts->space, &template);

    *place = templates->count;
    templates->list[templates->count++] = template;
    return FORGE_OK;
}

/* --- from loops to templates --- */

static void remove_crossings(const struct crossing *crossings, uint32_t count,
                             const struct forge_sketch *whole, struct forge_sketch *rest)
{
    rest->count = 0;
    rest->next_number = whole->next_number;
    for (uint32_t i = 0; i < whole->count; i++) {
        const struct forge_node *node = &whole->nodes[i];
        bool kept = true;
        for (uint32_t c = 0; c < count && kept; c++) {
            enum forge_node_kind kind =
                crossings[c].removes_spatial ? FORGE_NODE_SPATIAL : FORGE_NODE_TEMPORAL;
            kept = node->kind != kind || node->variable != crossings[c].variable ||
                   i <= crossings[c].holder || i >= crossings[c].last;
        }
        if (kept)
            rest->nodes[rest->count++] = *node;
    }
}

/* Spatial loops go first, if they may go at all; false after the last choice. */
static bool next_choice(struct crossing *crossings, uint32_t count, bool spatial)
{
    for (uint32_t c = count; spatial && c-- > 0;) {
        crossings[c].removes_spatial = !crossings[c].removes_spatial;
        if (!crossings[c].removes_spatial)
            return true;
    }
    return false;
}

static enum forge_status finish(struct forge_step_maker *maker, struct forge_sketch *sketch,
                                struct forge_arena *arena)
{
    const struct forge_facts *facts = maker->facts;
    if (!forge_insert_fanouts(facts, sketch) || !forge_insert_missing(facts, sketch))
        return FORGE_TOO_LARGE;
    struct forge_draft_limits limits = {NULL, 0};
    enum forge_status status = forge_make_limits(facts, maker->placement, sketch, arena, &limits);
    if (status != FORGE_OK)
        return status;

    size_t most = (size_t)sketch->count * facts->variable_count;
    struct crossing *crossings = forge_arena_take(arena, most, sizeof *crossings);
    struct forge_sketch rest = {
        .nodes = forge_arena_take(arena, sketch->count, sizeof *rest.nodes),
        .room = sketch->count,
    };
    if (crossings == NULL || rest.nodes == NULL)
        return FORGE_OUT_OF_MEMORY;

    bool spatial =
        facts->space->settings.out_of_order_hierarchy_explore_removing_spatials_for_more_temporals >
        0;
    uint32_t count = find_crossings(facts, sketch, crossings);
    for (uint32_t c = 0; c < count; c++)
        crossings[c].removes_spatial = spatial;
    do {
        remove_crossings(crossings, count, sketch, &rest);
        status = add_template(maker, &rest, &limits);
    } while (status == FORGE_OK && !forge_maker_stopped(maker) &&
             next_choice(crossings, count, spatial));
    return status;
}

static enum forge_status take_loops(struct forge_step_maker *maker, struct forge_sketch *sketch)
{
    struct forge_arena arena = {NULL};
    enum forge_status status = finish(maker, sketch, &arena);
    forge_arena_clear(&arena);
    return status;
}

/* --- all templates --- */

enum forge_status forge_templates_make(struct forge_templates *templates,
                                       const struct forge_space *space, atomic_bool *stop,
                                       struct forge_fault *fault)
{
    memset(templates, 0, sizeof *templates);
    templates->complete = true;
    templates->stop = stop;
    forge_facts_note(&templates->facts, space);
    struct forge_step_maker maker = {
        .templates = templates,
        .facts = &templates->facts,
        .fault = fault,
        .on_holders = forge_fill_slots,
        .on_loops = take_loops,
    };

    enum forge_status status = FORGE_OK;
    for (size_t p = 0; status == FORGE_OK && p < space->placement_count; p++) {
        maker.placement = &space->placements[p];
        if (forge_maker_stopped(&maker))
            break;
        status = forge_order_holders(&maker);
    }
    if (stop != NULL && atomic_load(stop))
        templates->complete = false;
    fault->status = status;
    return status;
}

void forge_templates_clear(struct forge_templates *templates)
{
    forge_arena_clear(&templates->arena);
    free(templates->list);
    free(templates->table);
    memset(templates, 0, sizeof *templates);
}
