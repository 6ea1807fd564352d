/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/pruning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/bounds.h"
#include "accelforge/search/pareto.h"

/* --- fan-outs that must be used --- */

bool forge_pruning_is_speculative(const struct forge_searching *s, const struct forge_stage *stage)
{
    for (uint32_t g = 0; g < s->goals->count; g++)
        if (s->goals->list[g].purpose == FORGE_FOR_USAGE &&
            (!stage->goals[g].complete || !s->goals->list[g].passes))
            return true;
    return false;
}

/* Keeps choices that use enough of a fan-out; if none does, those that use most of it. */
static void keep_used(struct forge_searching *s, const struct forge_stage *stage, uint32_t g)
{
    struct forge_choice_table *table = &s->next;
    uint32_t group = stage->goals[g].groups.first;
    double best = 0;
    for (uint32_t i = 0; i < table->count; i++)
        best = fmax(best, forge_values_of(table, i)[group]);

    uint32_t kept = 0;
    double wanted = fmin(best, s->goals->list[g].least);
    bool enough = wanted >= s->goals->list[g].least;
    s->rows->enough = s->rows->enough && enough;
    s->misled = s->misled || (s->speculated && table->count > 0 && !enough);
    if (s->rows->usage_count < FORGE_MAX_USAGES)
        s->rows->usages[s->rows->usage_count++] = wanted;
    for (uint32_t i = 0; i < table->count; i++) {
        if (!forge_at_most(wanted, forge_values_of(table, i)[group], 0))
            continue;
        memmove(forge_tiles_of(table, kept), forge_tiles_of(table, i),
                table->symbols * sizeof(uint32_t));
        memmove(forge_values_of(table, kept), forge_values_of(table, i),
                table->groups * sizeof(double));
        kept++;
    }
    table->count = kept;
}

void forge_keep_used(struct forge_searching *s, uint32_t k)
{
    for (uint32_t g = 0; g < s->goals->count; g++) {
        const struct forge_goal *goal = &s->goals->list[g];
        const struct forge_stage *stage = &s->stages->list[k + 1];
        if (goal->purpose == FORGE_FOR_USAGE && goal->passes && stage->goals[g].complete &&
            !s->stages->list[k].goals[g].complete)
            keep_used(s, stage, g);
    }
}

/* --- the best few --- */

struct score {
    double value;
    uint32_t choice;
};

static int compare_scores(const void *a, const void *b)
{
    const struct score *x = a;
    const struct score *y = b;
    if (x->value < y->value)
        return -1;
    if (x->value > y->value)
        return 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

static int compare_choices(const void *a, const void *b)
{
    const struct score *x = a;
    const struct score *y = b;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

bool forge_keep_few(struct forge_searching *s, const struct forge_stage *stage)
{
    uint32_t width = s->search->width;
    if (width == 0 || s->next.count <= width)
        return true;
    struct score *scores = malloc(s->next.count * sizeof *scores);
    if (scores == NULL)
        return false;
    for (uint32_t i = 0; i < s->next.count; i++) {
        double low[FORGE_OBJECTIVES];
        forge_bounds_objectives(s, stage, forge_values_of(&s->next, i), forge_tiles_of(&s->next, i),
                                low);
        scores[i].value = 1;
        for (uint32_t o = 0; o < FORGE_OBJECTIVES; o++)
            if (s->space->wanted[o])
                scores[i].value *= low[o];
        scores[i].choice = i;
    }
    qsort(scores, s->next.count, sizeof *scores, compare_scores);
    qsort(scores, width, sizeof *scores, compare_choices);
    for (uint32_t i = width; i < s->next.count; i++)
        forge_bounds_remove(s, stage, forge_values_of(&s->next, scores[i].choice),
                            forge_tiles_of(&s->next, scores[i].choice));
    for (uint32_t i = 0; i < width; i++) {
        uint32_t from = scores[i].choice;
        memmove(forge_tiles_of(&s->next, i), forge_tiles_of(&s->next, from),
                s->next.symbols * sizeof(uint32_t));
        memmove(forge_values_of(&s->next, i), forge_values_of(&s->next, from),
                s->next.groups * sizeof(double));
    }
    free(scores);
    s->next.count = width;
    s->truncated = true;
    return true;
}
