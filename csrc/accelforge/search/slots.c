/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "accelforge/search/template.h"

/* The temporal loops directly below a group of holders. */
struct slot {
    uint32_t first; /* holders */
    uint32_t count;
    uint64_t variables;
    uint64_t leaders; /* each of them is first in one of the orders; none: there is one order */
    uint64_t chosen;  /* the leader, as a bit */
};

/* State above a slot. */
struct above {
    uint64_t seen; /* tensors */
    bool fused;    /* a shared tensor is still to come */
    bool lowers;   /* a holder can be lowered */
};

struct slotting {
    const struct forge_facts *facts;
    struct forge_node *holders; /* sorted into groups */
    struct slot *slots;
    uint32_t slot_count;
};

static uint64_t bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

/* --- groups --- */

/* Within a group holders are sorted by level. */
static void sort_group(struct forge_node *holders, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct forge_node node = holders[i];
        uint32_t j = i;
        for (; j > 0 && holders[j - 1].level > node.level; j--)
            holders[j] = holders[j - 1];
        holders[j] = node;
    }
}

/* The first group are holders with no loop above them; each other one is a group. A copy has all
 * that follow one another in a component in one group. */
static void make_groups(struct slotting *s, const struct forge_node *holders, uint32_t count)
{
    const struct forge_facts *facts = s->facts;
    uint32_t placed = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            bool top = !holders[i].persistent && holders[i].level == facts->first_memory;
            if (pass == 0 ? holders[i].persistent : top)
                s->holders[placed++] = holders[i];
        }
    s->slots[0] = (struct slot){.first = 0, .count = placed};
    sort_group(s->holders, placed);
    s->slot_count = 1;

    uint32_t previous = FORGE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (holders[i].persistent || holders[i].level == facts->first_memory)
            continue;
        s->holders[placed] = holders[i];
        if (facts->copy && holders[i].level == previous)
            s->slots[s->slot_count - 1].count++;
        else
            s->slots[s->slot_count++] = (struct slot){.first = placed, .count = 1};
        previous = holders[i].level;
        placed++;
    }
}

/* --- the variables of a slot --- */

static const struct forge_node *holders_of(const struct slotting *s, uint32_t slot)
{
    return &s->holders[s->slots[slot].first];
}

/* The next group, of memories if TOLLS is false; slot_count if there is none. */
static uint32_t next_group(const struct slotting *s, uint32_t slot, bool tolls)
{
    uint32_t next = slot + 1;
    while (next < s->slot_count && !tolls && holders_of(s, next)[0].toll)
        next++;
    return next;
}

static double largest_fanout(const struct slotting *s, uint32_t slot, double none)
{
    if (slot >= s->slot_count || s->slots[slot].count == 0)
        return none;
    double largest = 0;
    for (uint32_t h = 0; h < s->slots[slot].count; h++)
        largest = fmax(largest, s->facts->fanouts[holders_of(s, slot)[h].level]);
    return largest;
}

/* True if spatial loops of a holder further up may come to stand in this slot. */
static bool takes_spatial_loops(const struct slotting *s, uint32_t slot)
{
    double before = -INFINITY;
    for (uint32_t i = 0; i < slot; i++)
        before = fmax(before, largest_fanout(s, i, -INFINITY));
    if (isinf(before))
        before = INFINITY;
    double here = largest_fanout(s, slot, 1);
    return largest_fanout(s, next_group(s, slot, true), INFINITY) < here && before < here;
}

/* Between two holders of one component a copy has no loops: they are the same data. */
static bool divides_a_copy(const struct slotting *s, uint32_t slot)
{
    for (uint32_t h = 0; s->facts->copy && h < s->slots[slot].count; h++)
        for (uint32_t i = s->slots[slot].first + s->slots[slot].count;
             i < s->slots[s->slot_count - 1].first + s->slots[s->slot_count - 1].count; i++)
            if (s->holders[i].level == holders_of(s, slot)[h].level)
                return true;
    return false;
}

static bool has_persistent(const struct slotting *s, uint32_t slot)
{
    for (uint32_t h = 0; slot < s->slot_count && h < s->slots[slot].count; h++)
        if (holders_of(s, slot)[h].persistent)
            return true;
    return false;
}

/* Loops that can be left out because another template is as good. */
static uint64_t needless(const struct slotting *s, uint32_t slot, bool fused)
{
    const struct forge_facts *facts = s->facts;
    const struct forge_node *holders = holders_of(s, slot);
    uint32_t count = s->slots[slot].count;
    uint64_t variables = 0;

    /* A toll keeps nothing. */
    if (count > 0 && holders[0].toll)
        return facts->all;

    /* A holder sinks through relevant loops at no cost. */
    uint64_t partial = 0;
    for (uint32_t h = 0; h < count; h++) {
        if (!holders[h].backing)
            variables |= facts->direct[holders[h].tensor];
        partial |= facts->partial[holders[h].tensor];
    }

    /* The next holder rises through irrelevant loops at no cost, if they are not fused. */
    uint32_t next = next_group(s, slot, false);
    for (uint32_t h = 0; !fused && next < s->slot_count && h < s->slots[next].count; h++) {
        uint32_t tensor = holders_of(s, next)[h].tensor;
        variables |= facts->all & ~(facts->direct[tensor] | facts->partial[tensor]) & ~partial;
    }
    return variables;
}

static uint64_t variables_of(const struct slotting *s, uint32_t slot, const struct above *above,
                             bool foreign)
{
    const struct forge_facts *facts = s->facts;
    const struct forge_space *space = facts->space;
    if (has_persistent(s, next_group(s, slot, false)) || divides_a_copy(s, slot))
        return 0;
    if (space->settings.max_fused_loops <= 0 && (space->shared & ~above->seen) != 0)
        return 0;

    /* Nothing is computed twice: a loop above the outermost holder of a tensor is over parts. */
    uint64_t variables = facts->all;
    for (uint32_t t = 0; t < facts->tensor_count; t++)
        if ((above->seen >> t & 1) == 0)
            variables &= facts->direct[t];
    return foreign ? variables : variables & ~needless(s, slot, above->fused);
}

/* --- orders within a slot --- */

/* Only which partially relevant loop comes first matters: a holder sinks through one. */
static void choose_leaders(const struct slotting *s, uint32_t i, struct above *above, bool foreign)
{
    struct slot *slot = &s->slots[i];
    uint64_t leaders = 0;
    for (uint32_t h = 0; h < slot->count; h++) {
        const struct forge_node *holder = &holders_of(s, i)[h];
        uint64_t partial = s->facts->partial[holder->tensor] & slot->variables;
        if (holder->persistent || foreign || holder->toll)
            continue;
        if (!holder->backing || (holder->level != s->facts->first_memory && partial != 0)) {
            leaders |= partial;
            above->lowers = true;
        }
    }
    slot->leaders = above->lowers ? leaders : 0;
}

static void fill_in(struct slotting *s)
{
    struct above above = {.fused = true};
    for (uint32_t i = 0; i < s->slot_count; i++) {
        for (uint32_t h = 0; h < s->slots[i].count; h++)
            above.seen |= bit(holders_of(s, i)[h].tensor);
        above.fused = above.fused && (s->facts->space->shared & ~above.seen) != 0;

        bool foreign = takes_spatial_loops(s, i);
        s->slots[i].variables = variables_of(s, i, &above, foreign);
        choose_leaders(s, i, &above, foreign);
    }
}

/* --- all combinations --- */

/* The next of SET after CHOSEN in the order of names, as a bit; 0 if there is none. */
static uint64_t next_leader(const struct forge_facts *facts, uint64_t set, uint64_t chosen)
{
    bool passed = chosen == 0;
    for (uint32_t i = 0; i < facts->variable_count; i++) {
        uint64_t candidate = bit(facts->sorted[i]);
        if (passed && (set & candidate) != 0)
            return candidate;
        passed = passed || candidate == chosen;
    }
    return 0;
}

/* Moves on to the next combination of leaders; false after the last. */
static bool advance(struct slotting *s)
{
    if (!(s->facts->space->settings.explore_loop_orders > 0))
        return false;
    for (uint32_t i = s->slot_count; i-- > 0;) {
        struct slot *slot = &s->slots[i];
        if (slot->leaders == 0)
            continue;
        slot->chosen = next_leader(s->facts, slot->leaders, slot->chosen);
        if (slot->chosen != 0)
            return true;
        slot->chosen = next_leader(s->facts, slot->leaders, 0);
    }
    return false;
}

static void append_loops(const struct forge_facts *facts, struct forge_sketch *sketch, uint64_t set)
{
    for (uint32_t i = 0; i < facts->variable_count; i++) {
        if ((set & bit(facts->sorted[i])) == 0)
            continue;
        struct forge_node loop = {
            .kind = FORGE_NODE_TEMPORAL,
            .variable = facts->sorted[i],
            .number = sketch->next_number++,
        };
        sketch->nodes[sketch->count++] = loop;
    }
}

static void write_sketch(const struct slotting *s, struct forge_sketch *sketch)
{
    sketch->count = 0;
    sketch->next_number = 0;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        const struct slot *slot = &s->slots[i];
        for (uint32_t h = 0; h < slot->count; h++)
            sketch->nodes[sketch->count++] = holders_of(s, i)[h];
        append_loops(s->facts, sketch, slot->chosen);
        append_loops(s->facts, sketch, slot->leaders & ~slot->chosen);
        append_loops(s->facts, sketch, slot->variables & ~slot->leaders);
    }
}

/* Spatial loops: each variable in each dimension. */
static size_t most_nodes(const struct forge_facts *facts, uint32_t holders)
{
    size_t loops = (size_t)(holders + 2) * facts->variable_count;
    for (uint32_t l = 0; l < facts->level_count; l++)
        loops +=
            (size_t)forge_space_level(facts->space, l)->dimensions.count * facts->variable_count;
    return holders + loops;
}

enum forge_status forge_fill_slots(struct forge_step_maker *maker, const struct forge_node *holders,
                                   uint32_t count)
{
    size_t room = most_nodes(maker->facts, count);
    if (room > FORGE_MAX_STEPS)
        return FORGE_TOO_LARGE;
    struct forge_arena arena = {NULL};
    struct slotting s = {
        .facts = maker->facts,
        .holders = forge_arena_take(&arena, count, sizeof *s.holders),
        .slots = forge_arena_take(&arena, (size_t)count + 1, sizeof *s.slots),
    };
    struct forge_sketch sketch = {
        .nodes = forge_arena_take(&arena, room, sizeof *sketch.nodes),
        .room = (uint32_t)room,
    };

    enum forge_status status = FORGE_OUT_OF_MEMORY;
    if (s.holders != NULL && s.slots != NULL && sketch.nodes != NULL) {
        make_groups(&s, holders, count);
        fill_in(&s);
        for (uint32_t i = 0; i < s.slot_count; i++)
            s.slots[i].chosen = next_leader(s.facts, s.slots[i].leaders, 0);
        do {
            write_sketch(&s, &sketch);
            status = maker->on_loops(maker, &sketch);
        } while (status == FORGE_OK && !forge_maker_stopped(maker) && advance(&s));
    }
    forge_arena_clear(&arena);
    return status;
}
