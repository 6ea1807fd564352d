/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/plan.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/model/placement.h"
#include "accelforge/model/relevance.h"

/* State while a plan is made. */
struct builder {
    struct forge_plan *plan;
    const struct forge_problem *problem;
    const struct forge_einsum *einsum;
    const struct forge_step *steps;
    struct forge_item *items;
    uint32_t item_count;
    uint32_t *scratch; /* room for a number per item */
    struct forge_fault *fault;
};

static void *zeroed(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

static const struct forge_level *level_of(const struct builder *b, uint32_t level)
{
    return &b->problem->levels[b->einsum->levels.first + level];
}

/* --- loops --- */

static void add_loop(struct builder *b, const struct forge_step *step)
{
    struct forge_plan *plan = b->plan;
    struct forge_loop *loop = &plan->loops[plan->loop_count];

    loop->variable = step->variable;
    loop->tile = step->tile;
    loop->node = step->node;
    loop->spatial = step->kind == FORGE_SPATIAL;
    loop->level = step->level;
    loop->dimension = step->dimension;
    loop->outer = FORGE_NONE;
    for (uint32_t l = 0; l < plan->loop_count; l++)
        if (plan->loops[l].variable == step->variable)
            loop->outer = l;
    loop->rounds_up = forge_variable_is_simple(b->problem, b->einsum, step->variable);
    plan->loop_count++;
}

/* --- holders --- */

static uint32_t find_holding(const struct builder *b, uint32_t level, uint32_t tensor)
{
    struct forge_span holdings = level_of(b, level)->holdings;
    for (uint32_t i = 0; i < holdings.count; i++)
        if (b->problem->holdings[holdings.first + i].tensor == tensor)
            return holdings.first + i;
    return FORGE_NONE;
}

static bool is_held(const struct builder *b, uint32_t level, uint32_t tensor)
{
    for (uint32_t h = 0; h < b->plan->holder_count; h++)
        if (b->plan->holders[h].level == level && b->plan->holders[h].tensor == tensor)
            return true;
    return false;
}

static enum forge_status add_holder(struct builder *b, const struct forge_step *step,
                                    uint32_t tensor)
{
    b->fault->level = step->level;
    b->fault->tensor = tensor;
    if (is_held(b, step->level, tensor))
        return FORGE_HELD_TWICE;
    uint32_t holding = find_holding(b, step->level, tensor);
    if (holding == FORGE_NONE)
        return FORGE_NO_COSTS;

    const struct forge_level *level = level_of(b, step->level);
    struct forge_holder *holder = &b->plan->holders[b->plan->holder_count++];
    holder->tensor = tensor;
    holder->level = step->level;
    holder->holding = holding;
    holder->toll = level->kind == FORGE_TOLL;
    holder->persistent = step->persistent != 0;
    holder->up = !holder->toll || b->problem->holdings[holding].up;
    holder->down = !holder->toll || b->problem->holdings[holding].down;
    holder->skip_initial = (holder->toll || level->skip_initial) && !b->plan->copy;
    return FORGE_OK;
}

/* --- items --- */

static uint32_t count_items(const struct builder *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->einsum->steps.count; i++) {
        uint32_t more = b->steps[i].kind == FORGE_HOLD ? b->steps[i].tensors.count : 1;
        if (more > FORGE_MAX_STEPS || count + more > FORGE_MAX_STEPS)
            return FORGE_NONE;
        count += more;
    }
    return count;
}

static void add_item(struct builder *b, enum forge_item_kind kind, uint32_t index)
{
    b->items[b->item_count].kind = kind;
    b->items[b->item_count].index = index;
    b->items[b->item_count].gap = FORGE_NONE;
    b->item_count++;
}

static bool is_used_elsewhere(const struct builder *b, uint32_t tensor)
{
    uint32_t id = b->problem->tensors[b->einsum->tensors.first + tensor].id;
    for (size_t e = 0; e < b->problem->einsum_count; e++) {
        const struct forge_einsum *other = &b->problem->einsums[e];
        for (uint32_t t = 0; other != b->einsum && t < other->tensors.count; t++)
            if (b->problem->tensors[other->tensors.first + t].id == id)
                return true;
    }
    return false;
}

static bool step_holds(const struct builder *b, const struct forge_step *step, uint32_t tensor)
{
    for (uint32_t t = 0; step->kind == FORGE_HOLD && t < step->tensors.count; t++)
        if (b->problem->indices[step->tensors.first + t] == tensor)
            return true;
    return false;
}

/* An initial tile is for sliding windows: a loop over a variable in a sum, above the outermost
 * holder of a tensor that other Einsums use. Elsewhere it is ignored. */
static bool initial_tile_matters(const struct builder *b, uint32_t loop)
{
    if (forge_variable_is_simple(b->problem, b->einsum, b->steps[loop].variable))
        return false;

    for (uint32_t t = 0; t < b->einsum->tensors.count; t++) {
        uint32_t first = 0;
        while (first < b->einsum->steps.count && !step_holds(b, &b->steps[first], t))
            first++;
        if (first > loop && first < b->einsum->steps.count && is_used_elsewhere(b, t))
            return true;
    }
    return false;
}

static enum forge_status split_steps(struct builder *b)
{
    for (uint32_t i = 0; i < b->einsum->steps.count; i++) {
        const struct forge_step *step = &b->steps[i];
        switch ((enum forge_step_kind)step->kind) {
        case FORGE_HOLD:
            for (uint32_t t = 0; t < step->tensors.count; t++) {
                uint32_t tensor = b->problem->indices[step->tensors.first + t];
                enum forge_status status = add_holder(b, step, tensor);
                if (status != FORGE_OK)
                    return status;
                add_item(b, FORGE_ITEM_HOLDER, b->plan->holder_count - 1);
            }
            break;
        case FORGE_TEMPORAL:
        case FORGE_SPATIAL:
            if (step->initial != FORGE_NONE && initial_tile_matters(b, i))
                return FORGE_INITIAL_TILE;
            add_loop(b, step);
            add_item(b, FORGE_ITEM_LOOP, b->plan->loop_count - 1);
            break;
        case FORGE_LEAF: add_item(b, FORGE_ITEM_LEAF, 0); break;
        }
    }
    return FORGE_OK;
}

/* A copy moves data between the outermost holders of its tensors; those further in do nothing. */
static void drop_inner_holders(struct builder *b)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < b->item_count; i++) {
        bool first = b->items[i].kind == FORGE_ITEM_HOLDER;
        for (uint32_t j = 0; first && j < i; j++)
            first = b->items[j].kind != FORGE_ITEM_HOLDER ||
                    b->plan->holders[b->items[j].index].tensor !=
                        b->plan->holders[b->items[i].index].tensor;
        if (first)
            last = i;
    }

    uint32_t kept = 0;
    uint32_t holders = 0;
    for (uint32_t i = 0; i < b->item_count; i++) {
        if (b->items[i].kind == FORGE_ITEM_HOLDER && i > last)
            continue;
        holders += b->items[i].kind == FORGE_ITEM_HOLDER;
        b->items[kept++] = b->items[i];
    }
    b->item_count = kept;
    b->plan->holder_count = holders; /* holders were numbered in the order of the items */
}

/* --- tiles --- */

/* The innermost of the first ABOVE loops of tensor T's path that is over VARIABLE. */
static uint32_t tile_loop(const struct forge_plan *plan, uint32_t t, uint32_t above,
                          uint32_t variable)
{
    for (uint32_t i = above; i-- > 0;) {
        uint32_t loop = plan->hops[plan->paths[t].hops + i].loop;
        if (plan->loops[loop].variable == variable)
            return loop;
    }
    return FORGE_NONE;
}

static struct forge_span add_tile(struct builder *b, uint32_t t, uint32_t above)
{
    struct forge_plan *plan = b->plan;
    const struct forge_tensor *tensor = &b->problem->tensors[b->einsum->tensors.first + t];
    struct forge_span tile = {plan->factor_count, tensor->ranks.count};

    for (uint32_t r = 0; r < tensor->ranks.count; r++) {
        const struct forge_rank *rank = &b->problem->ranks[tensor->ranks.first + r];
        struct forge_factor *factor = &plan->factors[plan->factor_count++];
        factor->extents.first = plan->extent_count;
        factor->extents.count = rank->terms.count;
        factor->base = 1 + (rank->constant == FORGE_NONE ? 0 : b->problem->values[rank->constant]);

        for (uint32_t i = 0; i < rank->terms.count; i++) {
            const struct forge_term *term = &b->problem->terms[rank->terms.first + i];
            struct forge_extent *extent = &plan->extents[plan->extent_count++];
            extent->loop = tile_loop(plan, t, above, term->variable);
            extent->variable = term->variable;
            extent->coefficient = b->problem->values[term->coefficient];
        }
    }
    return tile;
}

/* Room for two tiles per holder. */
static enum forge_status allocate_tiles(struct builder *b)
{
    size_t factors = 0;
    size_t extents = 0;
    for (uint32_t h = 0; h < b->plan->holder_count; h++) {
        uint32_t t = b->plan->holders[h].tensor;
        const struct forge_tensor *tensor = &b->problem->tensors[b->einsum->tensors.first + t];
        factors += 2 * (size_t)tensor->ranks.count;
        for (uint32_t r = 0; r < tensor->ranks.count; r++)
            extents += 2 * (size_t)b->problem->ranks[tensor->ranks.first + r].terms.count;
        if (factors > FORGE_MAX_RECORDS || extents > FORGE_MAX_RECORDS)
            return FORGE_TOO_LARGE;
    }

    b->plan->factors = zeroed(factors, sizeof *b->plan->factors);
    b->plan->extents = zeroed(extents, sizeof *b->plan->extents);
    return b->plan->factors == NULL || b->plan->extents == NULL ? FORGE_OUT_OF_MEMORY : FORGE_OK;
}

static enum forge_status add_tiles(struct builder *b)
{
    enum forge_status status = allocate_tiles(b);
    if (status != FORGE_OK)
        return status;

    for (uint32_t h = 0; h < b->plan->holder_count; h++) {
        struct forge_holder *holder = &b->plan->holders[h];
        holder->tile = add_tile(b, holder->tensor, holder->above);
        holder->reserved = add_tile(b, holder->tensor, holder->reserved_above);
    }
    return FORGE_OK;
}

/* --- paths --- */

/* Sorts the holders by tensor; within one they stay outermost first. */
static enum forge_status group_holders(struct builder *b)
{
    struct forge_plan *plan = b->plan;
    struct forge_holder *sorted = zeroed(plan->holder_count, sizeof *sorted);
    if (sorted == NULL)
        return FORGE_OUT_OF_MEMORY;

    uint32_t count = 0;
    for (uint32_t t = 0; t < plan->path_count; t++) {
        plan->paths[t].holders.first = count;
        for (uint32_t h = 0; h < plan->holder_count; h++)
            if (plan->holders[h].tensor == t)
                sorted[count++] = plan->holders[h];
        plan->paths[t].holders.count = count - plan->paths[t].holders.first;
    }
    if (count > 0)
        memcpy(plan->holders, sorted, count * sizeof *sorted);
    free(sorted);
    return FORGE_OK;
}

static enum forge_status add_paths(struct builder *b)
{
    struct forge_plan *plan = b->plan;
    plan->path_count = b->einsum->tensors.count;
    plan->paths = zeroed(plan->path_count, sizeof *plan->paths);
    plan->hops = zeroed((size_t)plan->path_count * plan->loop_count, sizeof *plan->hops);
    if (plan->paths == NULL || plan->hops == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t t = 0; t < plan->path_count; t++) {
        plan->paths[t].hops = t * plan->loop_count;
        plan->paths[t].output = b->problem->tensors[b->einsum->tensors.first + t].output != 0;
        enum forge_status status =
            forge_place_path(plan, b->problem, b->einsum, t, b->items, b->item_count,
                             b->einsum->levels.count - 1, b->scratch);
        if (status != FORGE_OK) {
            b->fault->tensor = t;
            return status;
        }
    }
    return FORGE_OK;
}

static enum forge_status add_shown(struct builder *b)
{
    struct forge_plan *plan = b->plan;
    plan->shown = zeroed(plan->holder_count, sizeof *plan->shown);
    if (plan->shown == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t h = 0; h < plan->holder_count; h++) {
        bool first = true;
        for (uint32_t i = 0; plan->copy && i < plan->shown_count; i++)
            first = first && plan->holders[plan->shown[i]].level != plan->holders[h].level;
        if (first)
            plan->shown[plan->shown_count++] = h;
    }
    return FORGE_OK;
}

/* --- the plan --- */

static uint32_t first_input(const struct builder *b)
{
    for (uint32_t t = 0; t < b->einsum->tensors.count; t++)
        if (!b->problem->tensors[b->einsum->tensors.first + t].output)
            return t;
    return FORGE_NONE;
}

static enum forge_status allocate(struct builder *b)
{
    uint32_t count = count_items(b);
    if (count == FORGE_NONE)
        return FORGE_TOO_LARGE;

    b->items = zeroed(count, sizeof *b->items);
    b->scratch = zeroed(count, sizeof *b->scratch);
    b->plan->loops = zeroed(count, sizeof *b->plan->loops);
    b->plan->holders = zeroed(count, sizeof *b->plan->holders);
    return b->items == NULL || b->scratch == NULL || b->plan->loops == NULL ||
                   b->plan->holders == NULL
               ? FORGE_OUT_OF_MEMORY
               : FORGE_OK;
}

static enum forge_status build(struct builder *b)
{
    enum forge_status status = allocate(b);
    if (status != FORGE_OK)
        return status;

    if (b->plan->copy) {
        b->plan->source = first_input(b);
        if (b->plan->source == FORGE_NONE)
            return FORGE_BAD_STRUCTURE;
    }
    status = split_steps(b);
    if (status != FORGE_OK)
        return status;
    b->fault->level = FORGE_NONE;
    b->fault->tensor = FORGE_NONE;

    if (b->plan->copy)
        drop_inner_holders(b);
    forge_place_reservations(b->items, b->item_count, b->plan, b->problem, b->einsum,
                             !b->plan->copy, b->scratch);
    status = add_paths(b);
    if (status == FORGE_OK)
        status = group_holders(b);
    if (status == FORGE_OK)
        status = add_tiles(b);
    if (status == FORGE_OK)
        status = add_shown(b);
    return status;
}

enum forge_status forge_plan_build(struct forge_plan *plan, const struct forge_problem *problem,
                                   uint32_t e, struct forge_fault *fault)
{
    memset(plan, 0, sizeof *plan);
    const struct forge_einsum *einsum = &problem->einsums[e];
    struct builder b = {
        .plan = plan,
        .problem = problem,
        .einsum = einsum,
        .steps = &problem->steps[einsum->steps.first],
        .fault = fault,
    };
    plan->copy = einsum->copy != 0;
    plan->skip_initial =
        problem->levels[einsum->levels.first + einsum->levels.count - 1].skip_initial != 0 &&
        !plan->copy;

    enum forge_status status = build(&b);
    free(b.items);
    free(b.scratch);
    fault->einsum = e;
    fault->status = status;
    return status;
}

void forge_plan_clear(struct forge_plan *plan)
{
    free(plan->loops);
    free(plan->paths);
    free(plan->hops);
    free(plan->holders);
    free(plan->factors);
    free(plan->extents);
    free(plan->shown);
    memset(plan, 0, sizeof *plan);
}
