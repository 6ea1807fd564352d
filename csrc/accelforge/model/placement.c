/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/placement.h"

#include "accelforge/model/relevance.h"

/* --- reservations --- */

/* Effects of an item on a reservation that sinks towards it. */
enum fate { FATE_SINKS, FATE_ABOVE, FATE_BELOW };

static enum fate fate_at(const struct forge_item *item, const struct forge_holder *holder,
                         const struct forge_plan *plan, const struct forge_problem *problem,
                         const struct forge_einsum *einsum)
{
    if (item->kind != FORGE_ITEM_LOOP)
        return FATE_ABOVE;

    const struct forge_loop *loop = &plan->loops[item->index];
    if (loop->spatial)
        return loop->level == holder->level ? FATE_SINKS : FATE_ABOVE;

    const struct forge_tensor *tensor = &problem->tensors[einsum->tensors.first + holder->tensor];
    switch (forge_relevance_of(problem, tensor, loop->variable)) {
    case FORGE_RELEVANT: return FATE_SINKS;
    case FORGE_PARTLY_RELEVANT: return FATE_BELOW;
    default: return FATE_ABOVE;
    }
}

static bool is_outermost(const struct forge_item *items, uint32_t i, const struct forge_plan *plan)
{
    uint32_t tensor = plan->holders[items[i].index].tensor;
    for (uint32_t j = 0; j < i; j++)
        if (items[j].kind == FORGE_ITEM_HOLDER && plan->holders[items[j].index].tensor == tensor)
            return false;
    return true;
}

void forge_place_reservations(struct forge_item *items, uint32_t count,
                              const struct forge_plan *plan, const struct forge_problem *problem,
                              const struct forge_einsum *einsum, bool lowered, uint32_t *sinking)
{
    uint32_t sinking_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t kept = 0;
        for (uint32_t s = 0; s < sinking_count; s++) {
            struct forge_item *sinker = &items[sinking[s]];
            enum fate fate =
                fate_at(&items[i], &plan->holders[sinker->index], plan, problem, einsum);
            if (fate == FATE_SINKS)
                sinking[kept++] = sinking[s];
            else
                sinker->gap = fate == FATE_BELOW ? i + 1 : i;
        }
        sinking_count = kept;

        if (items[i].kind != FORGE_ITEM_HOLDER)
            continue;
        if (!lowered || is_outermost(items, i, plan))
            items[i].gap = i + 1;
        else
            sinking[sinking_count++] = i;
    }
}

/* --- paths --- */

/* The path of one tensor while it is laid out. */
struct layout {
    const struct forge_plan *plan;
    uint32_t *order; /* loops so far */
    uint32_t placed;
    uint32_t block; /* where the run of loops that was begun last starts */
};

/* Ends a run of loops: within it they are in the mapping's order. */
static void end_block(struct layout *layout)
{
    for (uint32_t i = layout->block + 1; i < layout->placed; i++) {
        uint32_t loop = layout->order[i];
        uint32_t j = i;
        for (; j > layout->block && layout->order[j - 1] > loop; j--)
            layout->order[j] = layout->order[j - 1];
        layout->order[j] = loop;
    }
    layout->block = layout->placed;
}

static bool is_placed(const struct layout *layout, uint32_t loop)
{
    for (uint32_t i = 0; i < layout->placed; i++)
        if (layout->order[i] == loop)
            return true;
    return false;
}

/* Places the spatial loops whose fan-out is at LEVEL or above it. */
static void place_spatial(struct layout *layout, uint32_t level)
{
    for (uint32_t l = 0; l < layout->plan->loop_count; l++) {
        const struct forge_loop *loop = &layout->plan->loops[l];
        if (loop->spatial && loop->level <= level && !is_placed(layout, l))
            layout->order[layout->placed++] = l;
    }
}

static uint32_t loops_before(const struct forge_item *items, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < end; i++)
        n += items[i].kind == FORGE_ITEM_LOOP;
    return n;
}

/* Two loops may change places if one is temporal, and if their tiles have nothing in common. */
static bool order_is_consistent(const struct layout *layout, const struct forge_problem *problem,
                                const struct forge_tensor *tensor)
{
    for (uint32_t i = 0; i < layout->placed; i++) {
        const struct forge_loop *a = &layout->plan->loops[layout->order[i]];
        for (uint32_t j = i + 1; j < layout->placed; j++) {
            const struct forge_loop *b = &layout->plan->loops[layout->order[j]];
            if (layout->order[i] < layout->order[j])
                continue;
            if (a->spatial && b->spatial)
                return false;
            if (a->variable == b->variable &&
                forge_rank_of(problem, tensor, a->variable) != FORGE_NONE)
                return false;
        }
    }
    return true;
}

static bool is_reused(const struct forge_problem *problem, const struct forge_einsum *einsum,
                      const struct forge_loop *loop, uint32_t t)
{
    const struct forge_level *level = &problem->levels[einsum->levels.first + loop->level];
    struct forge_span reuse = problem->dimensions[level->dimensions.first + loop->dimension].reuse;
    for (uint32_t i = 0; i < reuse.count; i++)
        if (problem->indices[reuse.first + i] == t)
            return true;
    return false;
}

static void fill_hops(struct forge_plan *plan, const struct forge_problem *problem,
                      const struct forge_einsum *einsum, uint32_t t, const uint32_t *order)
{
    const struct forge_tensor *tensor = &problem->tensors[einsum->tensors.first + t];
    for (uint32_t i = 0; i < plan->loop_count; i++) {
        const struct forge_loop *loop = &plan->loops[order[i]];
        enum forge_relevance relevance = forge_relevance_of(problem, tensor, loop->variable);

        struct forge_hop *hop = &plan->hops[plan->paths[t].hops + i];
        hop->loop = order[i];
        hop->relevance = (uint8_t)relevance;
        hop->spatial = loop->spatial;
        hop->reused =
            loop->spatial && relevance == FORGE_IRRELEVANT && is_reused(problem, einsum, loop, t);
    }
}

/* Notes the reservations of tensor T that stand directly above item I. */
static void note_reservations(struct forge_plan *plan, struct layout *layout, uint32_t t,
                              const struct forge_item *items, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (items[j].kind != FORGE_ITEM_HOLDER || items[j].gap != i)
            continue;
        struct forge_holder *holder = &plan->holders[items[j].index];
        if (holder->tensor != t)
            continue;

        end_block(layout);
        holder->reserved_above = layout->placed;
        holder->fused_above = loops_before(items, i);
    }
}

enum forge_status forge_place_path(struct forge_plan *plan, const struct forge_problem *problem,
                                   const struct forge_einsum *einsum, uint32_t t,
                                   const struct forge_item *items, uint32_t count,
                                   uint32_t leaf_level, uint32_t *order)
{
    struct layout layout = {.plan = plan, .order = order, .placed = 0, .block = 0};

    for (uint32_t i = 0; i < count; i++) {
        note_reservations(plan, &layout, t, items, i);

        switch (items[i].kind) {
        case FORGE_ITEM_LOOP:
            if (!plan->loops[items[i].index].spatial)
                order[layout.placed++] = items[i].index;
            break;
        case FORGE_ITEM_HOLDER: {
            struct forge_holder *holder = &plan->holders[items[i].index];
            if (holder->tensor != t)
                break;
            place_spatial(&layout, holder->level);
            end_block(&layout);
            holder->above = layout.placed;
            break;
        }
        case FORGE_ITEM_LEAF: place_spatial(&layout, leaf_level); break;
        }
    }
    end_block(&layout);

    const struct forge_tensor *tensor = &problem->tensors[einsum->tensors.first + t];
    if (layout.placed != plan->loop_count || !order_is_consistent(&layout, problem, tensor))
        return FORGE_LOOPS_CROSS;
    fill_hops(plan, problem, einsum, t, order);
    return FORGE_OK;
}
