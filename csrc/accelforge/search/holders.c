/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "accelforge/search/template.h"

/* The search for orders: PLACED holders stand, the others are to come. */
struct ordering {
    struct forge_step_maker *maker;
    const struct forge_facts *facts;
    struct forge_node *order;  /* holders that are memories */
    struct forge_node *others; /* the ones to come, by name */
    struct forge_node *tolls;
    struct forge_node *whole; /* room for an order with tolls */
    uint32_t placed;
    uint32_t left;
    uint32_t toll_count;
};

/* --- names --- */

static int compare_names(const struct forge_space *space, const struct forge_node *a,
                         const struct forge_node *b)
{
    uint32_t x = space->tensor_ranks[a->tensor];
    uint32_t y = space->tensor_ranks[b->tensor];
    if (x == y) {
        x = space->level_ranks[a->level];
        y = space->level_ranks[b->level];
    }
    return (x > y) - (x < y);
}

/* --- rules for two holders --- */

static bool is_outermost(const struct ordering *o, const struct forge_node *holder)
{
    return holder->persistent || holder->level == o->facts->first_memory;
}

static bool is_forced(const struct ordering *o, const struct forge_node *a,
                      const struct forge_node *b)
{
    const struct forge_space *space = o->facts->space;
    if (a->backing && (space->shared >> a->tensor & 1) != 0)
        return true;
    return space->settings.force_memory_hierarchy_order > 0 && !a->persistent && !b->persistent &&
           !space->unforced[a->level] && !space->unforced[b->level];
}

/* The first set of ORDER that has TENSOR, or FORGE_NONE. */
static uint32_t place_in(const struct forge_space *space, const struct forge_order *order,
                         uint32_t tensor)
{
    for (uint32_t s = 0; s < order->sets.count; s++)
        if ((space->sets[order->sets.first + s] >> tensor & 1) != 0)
            return s;
    return FORGE_NONE;
}

static bool order_allows(const struct forge_space *space, const struct forge_order *order,
                         const struct forge_node *a, const struct forge_node *b)
{
    uint32_t first = place_in(space, order, a->tensor);
    uint32_t second = place_in(space, order, b->tensor);
    return first == FORGE_NONE || second == FORGE_NONE || first <= second;
}

/* True if A may stand above B; ADJACENT: with nothing between. */
static bool may_precede(const struct ordering *o, const struct forge_node *a,
                        const struct forge_node *b, bool adjacent)
{
    const struct forge_facts *facts = o->facts;
    if (is_forced(o, a, b) && b->level < a->level)
        return false;
    if (is_outermost(o, b) && !is_outermost(o, a))
        return false;
    /* Nothing comes between holders of the first memory: one order is enough. */
    if (a->level == facts->first_memory && b->level == facts->first_memory)
        return facts->space->tensor_ranks[a->tensor] >= facts->space->tensor_ranks[b->tensor];
    if (a->tensor != b->tensor)
        return true;
    if (b->level < a->level)
        return false;

    /* The outer of two holders without anything between changes nothing. */
    bool same_fanout = !(facts->fanouts[a->level] < facts->fanouts[b->level]) &&
                       !(facts->fanouts[a->level] > facts->fanouts[b->level]);
    return !(same_fanout && adjacent && a->level < b->level && !a->must_keep);
}

/* --- rules for an order --- */

/* True if all holders of the first memory are left out of the options: their order is fixed. */
static bool has_options(const struct ordering *o, uint32_t level)
{
    return level != o->facts->first_memory;
}

static const struct forge_node *after(const struct ordering *o, uint32_t i)
{
    return i < o->placed ? &o->order[i] : &o->others[i - o->placed];
}

static bool option_allows(const struct ordering *o, const struct forge_order *option)
{
    for (uint32_t i = 0; i < o->placed; i++)
        for (uint32_t j = i + 1; j < o->placed + o->left; j++) {
            const struct forge_node *a = &o->order[i];
            const struct forge_node *b = after(o, j);
            if (a->level == option->level && b->level == option->level &&
                !order_allows(o->facts->space, option, a, b))
                return false;
        }
    return true;
}

/* Each component with options must be in one of them. */
static bool options_allow(const struct ordering *o)
{
    const struct forge_space *space = o->facts->space;
    struct forge_span orders = o->maker->placement->orders;
    for (uint32_t i = 0; i < orders.count; i++) {
        const struct forge_order *option = &space->orders[orders.first + i];
        if (!has_options(o, option->level))
            continue;
        bool allowed = false;
        for (uint32_t k = 0; k < orders.count && !allowed; k++)
            allowed = space->orders[orders.first + k].level == option->level &&
                      option_allows(o, &space->orders[orders.first + k]);
        if (!allowed)
            return false;
    }
    return true;
}

/* Checks the holder that was placed last against all others. */
static bool is_valid(const struct ordering *o)
{
    uint32_t last = o->placed - 1;
    for (uint32_t i = 0; i < last; i++)
        if (!may_precede(o, &o->order[i], &o->order[last], i + 1 == last))
            return false;
    for (uint32_t i = 0; i < o->left; i++)
        if (!may_precede(o, &o->order[last], &o->others[i], false))
            return false;
    return options_allow(o);
}

/* --- tolls --- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* As high as possible: below what its tensor passes first, above what it passes next. */
static uint32_t place_of(const struct ordering *o, const struct forge_node *toll, uint32_t count)
{
    const struct forge_facts *facts = o->facts;
    uint32_t low = 0;
    uint32_t high = count;
    for (uint32_t i = 0; i < count; i++)
        if (o->whole[i].tensor == toll->tensor && o->whole[i].level < toll->level)
            low = i + 1;
    for (uint32_t i = count; i-- > 0;)
        if (o->whole[i].tensor == toll->tensor && o->whole[i].level > toll->level)
            high = i;

    uint32_t end = smaller(high, count);
    for (uint32_t i = low; i < end; i++)
        if (facts->fanouts[o->whole[i].level] < facts->fanouts[toll->level])
            low = i + 1;
    for (uint32_t i = low; i < end; i++) {
        const struct forge_node *other = &o->whole[i];
        bool before = other->level < toll->level ||
                      (other->level == toll->level && facts->space->tensor_ranks[other->tensor] <
                                                          facts->space->tensor_ranks[toll->tensor]);
        if (before)
            low = i + 1;
    }
    return low;
}

static enum forge_status hand_on(struct ordering *o)
{
    uint32_t count = o->placed;
    memcpy(o->whole, o->order, count * sizeof *o->whole);
    for (uint32_t t = 0; t < o->toll_count; t++) {
        uint32_t at = place_of(o, &o->tolls[t], count);
        memmove(&o->whole[at + 1], &o->whole[at], (count - at) * sizeof *o->whole);
        o->whole[at] = o->tolls[t];
        count++;
    }
    return o->maker->on_holders(o->maker, o->whole, count);
}

/* --- orders --- */

static bool all_backed(const struct ordering *o)
{
    uint64_t backed = 0;
    for (uint32_t i = 0; i < o->placed; i++)
        if (o->order[i].backing)
            backed |= UINT64_C(1) << o->order[i].tensor;
    for (uint32_t t = 0; t < o->facts->tensor_count; t++)
        if ((backed >> t & 1) == 0)
            return false;
    return true;
}

/* The depth is at most the number of holders. */
static enum forge_status order_rest(struct ordering *o)
{
    if (o->left == 0 || (o->facts->copy && all_backed(o)))
        return hand_on(o);
    if (forge_maker_stopped(o->maker))
        return FORGE_OK;

    for (uint32_t i = 0; i < o->left; i++) {
        struct forge_node chosen = o->others[i];
        memmove(&o->others[i], &o->others[i + 1], (o->left - i - 1) * sizeof(chosen));
        o->left--;
        o->order[o->placed++] = chosen;

        enum forge_status status = is_valid(o) ? order_rest(o) : FORGE_OK;

        o->placed--;
        memmove(&o->others[i + 1], &o->others[i], (o->left - i) * sizeof(chosen));
        o->others[i] = chosen;
        o->left++;
        if (status != FORGE_OK)
            return status;
    }
    return FORGE_OK;
}

static struct forge_node node_of(const struct forge_space *space, const struct forge_keeper *keeper)
{
    struct forge_node node = {
        .kind = FORGE_NODE_HOLD,
        .toll = forge_space_level(space, keeper->level)->kind == FORGE_TOLL,
        .backing = keeper->backing != 0,
        .persistent = keeper->persistent != 0,
        .must_keep = keeper->must_keep != 0 || keeper->backing != 0,
        .level = keeper->level,
        .tensor = keeper->tensor,
    };
    return node;
}

/* Inserts a node into a sorted list. */
static void add_sorted(struct forge_node *list, uint32_t *count, struct forge_node node,
                       const struct forge_space *space, bool by_level)
{
    uint32_t i = *count;
    for (; i > 0; i--) {
        bool less = by_level && node.level != list[i - 1].level
                        ? node.level < list[i - 1].level
                        : compare_names(space, &node, &list[i - 1]) < 0;
        if (!less)
            break;
        list[i] = list[i - 1];
    }
    list[i] = node;
    (*count)++;
}

enum forge_status forge_order_holders(struct forge_step_maker *maker)
{
    const struct forge_space *space = maker->facts->space;
    struct forge_span keepers = maker->placement->keepers;
    struct forge_arena arena = {NULL};
    size_t room = (size_t)keepers.count + 1;
    struct ordering o = {
        .maker = maker,
        .facts = maker->facts,
        .order = forge_arena_take(&arena, room, sizeof(struct forge_node)),
        .others = forge_arena_take(&arena, room, sizeof(struct forge_node)),
        .tolls = forge_arena_take(&arena, room, sizeof(struct forge_node)),
        .whole = forge_arena_take(&arena, room, sizeof(struct forge_node)),
    };

    enum forge_status status = FORGE_OUT_OF_MEMORY;
    if (o.order != NULL && o.others != NULL && o.tolls != NULL && o.whole != NULL) {
        for (uint32_t i = 0; i < keepers.count; i++) {
            struct forge_node node = node_of(space, &space->keepers[keepers.first + i]);
            if (node.toll)
                add_sorted(o.tolls, &o.toll_count, node, space, true);
            else
                add_sorted(o.others, &o.left, node, space, false);
        }
        status = order_rest(&o);
    }
    forge_arena_clear(&arena);
    return status;
}
