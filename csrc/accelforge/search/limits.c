/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "accelforge/search/template.h"

/* Limits that are being made; those that ask for one iteration remove loops instead. */
struct limiting {
    const struct forge_facts *facts;
    const struct forge_placement *placement;
    struct forge_sketch *sketch;
    struct forge_arena *arena;
    struct forge_draft_limits *limits;
    uint32_t room;
    bool *removed; /* by number of the loop */
};

static bool is_loop(const struct forge_node *node)
{
    return node->kind != FORGE_NODE_HOLD;
}

static bool is_unit(const struct forge_comparison *comparison, double value)
{
    return (comparison->relation == FORGE_EQUAL || comparison->relation == FORGE_AT_MOST) &&
           value >= 1 && value <= 1;
}

/* Adds a limit for COUNT loops, whose numbers are copied. */
static enum forge_status add_limit(struct limiting *l, const struct forge_comparison *comparison,
                                   const uint32_t *numbers, uint32_t count)
{
    double value = l->facts->space->numbers[comparison->value];
    if (count == 0)
        return FORGE_OK;
    if (is_unit(comparison, value)) {
        for (uint32_t i = 0; i < count; i++)
            l->removed[numbers[i]] = true;
        return FORGE_OK;
    }

    if (l->limits->count == l->room)
        return FORGE_TOO_LARGE;
    struct forge_limit *limit = &l->limits->list[l->limits->count++];
    limit->of_tiles = false;
    limit->factor = 1;
    limit->product = comparison->product != 0;
    limit->relation = comparison->relation;
    limit->value = value;
    limit->loop_count = count;
    limit->loops = forge_arena_take(l->arena, count, sizeof(uint32_t));
    if (limit->loops == NULL)
        return FORGE_OUT_OF_MEMORY;
    memcpy(limit->loops, numbers, count * sizeof(uint32_t));
    return FORGE_OK;
}

/* --- tiles of a memory --- */

static uint32_t first_holder(const struct forge_node *nodes, uint32_t count, uint32_t level)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].kind == FORGE_NODE_HOLD && nodes[i].level == level)
            return i;
    return FORGE_NONE;
}

static bool agrees(uint32_t relation, double number, double value)
{
    switch ((enum forge_relation)relation) {
    case FORGE_EQUAL: return number >= value && number <= value;
    case FORGE_AT_MOST: return number <= value;
    case FORGE_AT_LEAST: return number >= value;
    case FORGE_BELOW: return number < value;
    case FORGE_ABOVE: return number > value;
    }
    return false;
}

static double bound_of(const struct forge_space *space, uint32_t variable)
{
    const struct forge_einsum *einsum = forge_space_einsum(space);
    return space->problem
        .values[space->problem.variables[einsum->variables.first + variable].bound];
}

/* Notes the place of the nearest loop over each variable above node END. */
static void find_nearest(const struct forge_template *template, uint32_t end, uint32_t *nearest)
{
    uint32_t place = 0;
    for (uint32_t v = 0; v < FORGE_MAX_MEMBERS; v++)
        nearest[v] = FORGE_NONE;
    for (uint32_t i = 0; i < end; i++)
        if (is_loop(&template->nodes[i]))
            nearest[template->nodes[i].variable] = place++;
}

/* The tile of a variable that has no loop above the memory is all of it. */
static enum forge_status limit_tiles(const struct forge_facts *facts,
                                     const struct forge_comparison *comparison,
                                     struct forge_arena *arena, struct forge_template *template,
                                     bool *possible)
{
    const struct forge_space *space = facts->space;
    uint64_t wanted = space->sets[comparison->variables];
    uint32_t holder = first_holder(template->nodes, template->node_count, comparison->level);
    if (holder == FORGE_NONE || wanted == 0)
        return FORGE_OK;

    struct forge_limit limit = {
        .of_tiles = true,
        .product = comparison->product != 0,
        .relation = comparison->relation,
        .value = space->numbers[comparison->value],
        .factor = 1,
        .loops = forge_arena_take(arena, facts->variable_count, sizeof(uint32_t)),
    };
    if (limit.loops == NULL)
        return FORGE_OUT_OF_MEMORY;

    uint32_t nearest[FORGE_MAX_MEMBERS];
    find_nearest(template, holder, nearest);
    for (uint32_t v = 0; v < facts->variable_count; v++) {
        if ((wanted >> v & 1) == 0)
            continue;
        if (nearest[v] != FORGE_NONE)
            limit.loops[limit.loop_count++] = nearest[v];
        else if (limit.product)
            limit.factor *= bound_of(space, v);
        else if (!agrees(limit.relation, bound_of(space, v), limit.value))
            *possible = false;
    }
    if (limit.loop_count > 0)
        template->limits[template->limit_count++] = limit;
    else if (limit.product && !agrees(limit.relation, limit.factor, limit.value))
        *possible = false;
    return FORGE_OK;
}

enum forge_status forge_limit_tiles(const struct forge_facts *facts,
                                    const struct forge_placement *placement,
                                    struct forge_arena *arena, struct forge_template *template,
                                    bool *possible)
{
    enum forge_status status = FORGE_OK;
    *possible = true;
    for (uint32_t i = 0; status == FORGE_OK && *possible && i < placement->tile_bounds.count; i++)
        status = limit_tiles(facts, &facts->space->comparisons[placement->tile_bounds.first + i],
                             arena, template, possible);
    return status;
}

/* --- tensors that stay --- */

static bool holds(const struct forge_node *node, uint32_t tensor)
{
    return node->kind == FORGE_NODE_HOLD && node->tensor == tensor;
}

/* Removes the loops from START up to END that would move TENSOR again. */
static void remove_movers(struct limiting *l, uint32_t tensor, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++) {
        const struct forge_node *node = &l->sketch->nodes[i];
        if (node->kind == FORGE_NODE_TEMPORAL &&
            (l->facts->relevant[tensor] >> node->variable & 1) == 0)
            l->removed[node->number] = true;
    }
}

static uint32_t next_holder(const struct forge_sketch *sketch, uint32_t tensor, uint32_t level,
                            uint32_t start)
{
    uint32_t i = start;
    while (i < sketch->count && !(holds(&sketch->nodes[i], tensor) &&
                                  (level == FORGE_NONE || sketch->nodes[i].level == level)))
        i++;
    return i;
}

static bool keeps(const struct limiting *l, uint32_t level, uint32_t tensor)
{
    for (uint32_t i = 0; i < l->placement->keepers.count; i++) {
        const struct forge_keeper *keeper =
            &l->facts->space->keepers[l->placement->keepers.first + i];
        if (keeper->level == level && keeper->tensor == tensor)
            return true;
    }
    return false;
}

static void limit_movement(struct limiting *l, const struct forge_resident *resident)
{
    const struct forge_space *space = l->facts->space;
    const struct forge_sketch *sketch = l->sketch;
    if (first_holder(sketch->nodes, sketch->count, resident->level) == FORGE_NONE)
        return;
    for (uint32_t t = 0; t < l->facts->tensor_count; t++) {
        if ((space->sets[resident->fetched] >> t & 1) != 0 && keeps(l, resident->level, t)) {
            uint32_t start = next_holder(sketch, t, FORGE_NONE, 0);
            uint32_t end = next_holder(sketch, t, resident->level, start + 1);
            if (end < sketch->count)
                remove_movers(l, t, start, end);
        }
        if ((space->sets[resident->sent] >> t & 1) != 0) {
            uint32_t start = next_holder(sketch, t, resident->level, 0);
            if (start < sketch->count)
                remove_movers(l, t, start, next_holder(sketch, t, FORGE_NONE, start + 1));
        }
    }
}

/* --- fan-outs --- */

/* The spatial loops of a dimension over VARIABLES. */
static enum forge_status limit_loops(struct limiting *l, const struct forge_comparison *comparison,
                                     uint64_t variables, uint32_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->sketch->count; i++) {
        const struct forge_node *node = &l->sketch->nodes[i];
        if (node->kind == FORGE_NODE_SPATIAL && node->level == comparison->level &&
            node->dimension == comparison->dimension && (variables >> node->variable & 1) != 0)
            numbers[count++] = node->number;
    }
    return add_limit(l, comparison, numbers, count);
}

static enum forge_status limit_dimension(struct limiting *l,
                                         const struct forge_comparison *comparison,
                                         uint32_t *numbers)
{
    uint64_t variables = l->facts->space->sets[comparison->variables];
    if (comparison->product)
        return limit_loops(l, comparison, variables, numbers);
    for (uint32_t v = 0; v < l->facts->variable_count; v++) {
        enum forge_status status = FORGE_OK;
        if ((variables >> v & 1) != 0)
            status = limit_loops(l, comparison, UINT64_C(1) << v, numbers);
        if (status != FORGE_OK)
            return status;
    }
    return FORGE_OK;
}

/* --- all limits --- */

static enum forge_status collect(struct limiting *l)
{
    const struct forge_space *space = l->facts->space;
    const struct forge_placement *placement = l->placement;
    uint32_t *numbers = forge_arena_take(l->arena, l->sketch->count, sizeof(uint32_t));
    if (numbers == NULL)
        return FORGE_OUT_OF_MEMORY;

    enum forge_status status = FORGE_OK;
    for (uint32_t i = 0; i < placement->residents.count; i++)
        limit_movement(l, &space->residents[placement->residents.first + i]);
    for (uint32_t i = 0; status == FORGE_OK && i < placement->loop_bounds.count; i++)
        status = limit_dimension(l, &space->comparisons[placement->loop_bounds.first + i], numbers);
    return status;
}

static void remove_loops(struct limiting *l)
{
    for (uint32_t i = l->sketch->count; i-- > 0;) {
        const struct forge_node *node = &l->sketch->nodes[i];
        if (is_loop(node) && l->removed[node->number])
            forge_sketch_remove(l->sketch, i);
    }
}

enum forge_status forge_make_limits(const struct forge_facts *facts,
                                    const struct forge_placement *placement,
                                    struct forge_sketch *sketch, struct forge_arena *arena,
                                    struct forge_draft_limits *limits)
{
    size_t room = (size_t)placement->loop_bounds.count * (facts->variable_count + 1);
    if (room > FORGE_MAX_STEPS)
        return FORGE_TOO_LARGE;
    struct limiting l = {
        .facts = facts,
        .placement = placement,
        .sketch = sketch,
        .arena = arena,
        .limits = limits,
        .room = (uint32_t)room,
        .removed = forge_arena_take(arena, sketch->next_number, sizeof(bool)),
    };
    limits->count = 0;
    limits->list = forge_arena_take(arena, room, sizeof *limits->list);
    if (l.removed == NULL || limits->list == NULL)
        return FORGE_OUT_OF_MEMORY;

    enum forge_status status = collect(&l);
    if (status == FORGE_OK)
        remove_loops(&l);
    return status;
}
