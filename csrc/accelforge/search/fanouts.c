/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "accelforge/search/template.h"

static bool insert(struct forge_sketch *sketch, uint32_t at, struct forge_node node)
{
    if (sketch->count >= sketch->room)
        return false;
    memmove(&sketch->nodes[at + 1], &sketch->nodes[at], (sketch->count - at) * sizeof(node));
    sketch->nodes[at] = node;
    sketch->count++;
    return true;
}

void forge_sketch_remove(struct forge_sketch *sketch, uint32_t at)
{
    sketch->count--;
    memmove(&sketch->nodes[at], &sketch->nodes[at + 1],
            (sketch->count - at) * sizeof *sketch->nodes);
}

/* --- spatial loops --- */

/* Below the lowest holder that is above the fan-out, and below the temporal loops there. */
static uint32_t place_of(const struct forge_sketch *sketch, uint32_t level)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->nodes[i].kind == FORGE_NODE_HOLD && sketch->nodes[i].level < level)
            place = i + 1;
    while (place < sketch->count && sketch->nodes[place].kind == FORGE_NODE_TEMPORAL)
        place++;
    return place;
}

/* Intermediate tensors that are held further in are only divided. */
static uint64_t variables_at(const struct forge_facts *facts, const struct forge_sketch *sketch,
                             uint32_t place)
{
    uint64_t unseen = facts->space->intermediate;
    for (uint32_t i = 0; i < place; i++)
        if (sketch->nodes[i].kind == FORGE_NODE_HOLD)
            unseen &= ~(UINT64_C(1) << sketch->nodes[i].tensor);

    uint64_t variables = facts->all;
    for (uint32_t t = 0; t < facts->tensor_count; t++)
        if ((unseen >> t & 1) != 0)
            variables &= facts->direct[t];
    return variables;
}

bool forge_insert_fanouts(const struct forge_facts *facts, struct forge_sketch *sketch)
{
    for (uint32_t level = 0; level < facts->level_count; level++) {
        if (!(facts->own_fanouts[level] > 1))
            continue;
        uint32_t place = place_of(sketch, level);
        uint64_t variables = variables_at(facts, sketch, place);
        uint32_t dimensions = forge_space_level(facts->space, level)->dimensions.count;

        for (uint32_t d = 0; d < dimensions; d++)
            for (uint32_t i = 0; i < facts->variable_count; i++) {
                uint32_t variable = facts->sorted[i];
                if ((variables >> variable & 1) == 0)
                    continue;
                struct forge_node loop = {
                    .kind = FORGE_NODE_SPATIAL,
                    .level = level,
                    .dimension = d,
                    .variable = variable,
                    .number = sketch->next_number++,
                };
                if (!insert(sketch, place, loop))
                    return false;
            }
    }
    return true;
}

/* --- missing loops --- */

/* Below the last outermost holder, and below fan-outs that stand above what they do not divide. */
static uint32_t place_for_missing(const struct forge_facts *facts,
                                  const struct forge_sketch *sketch)
{
    uint32_t place = 0;
    double largest = 1;
    for (uint32_t i = 0; i < sketch->count; i++) {
        const struct forge_node *node = &sketch->nodes[i];
        if (node->kind == FORGE_NODE_HOLD) {
            double fanout = facts->fanouts[node->level];
            if (node->backing || fanout < largest)
                place = i + 1;
            largest = fmax(largest, fanout);
        }
        if (node->kind == FORGE_NODE_TEMPORAL && place == i)
            place = i + 1;
    }
    return place;
}

bool forge_insert_missing(const struct forge_facts *facts, struct forge_sketch *sketch)
{
    uint64_t missing = facts->all;
    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->nodes[i].kind == FORGE_NODE_TEMPORAL)
            missing &= ~(UINT64_C(1) << sketch->nodes[i].variable);

    uint32_t place = place_for_missing(facts, sketch);
    bool at_end = place == sketch->count;
    for (uint32_t i = 0; i < facts->variable_count; i++) {
        uint32_t variable = facts->sorted[i];
        if ((missing >> variable & 1) == 0)
            continue;
        struct forge_node loop = {
            .kind = FORGE_NODE_TEMPORAL,
            .variable = variable,
            .number = sketch->next_number++,
        };
        if (!insert(sketch, at_end ? sketch->count : place, loop))
            return false;
    }
    return true;
}
