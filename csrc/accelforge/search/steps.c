/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/bounds.h"
#include "accelforge/search/loop_counts.h"
#include "accelforge/search/pareto.h"

/* Between two looks at *stop. */
#define ROWS_BETWEEN_LOOKS 4096

struct stepping {
    struct forge_searching *s;
    const struct forge_plan *plan;
    const struct forge_stage *before;
    const struct forge_stage *stage;
    uint32_t symbol;
    uint32_t width; /* criteria, and what limits of loops need */
    int most;       /* of the powers that the groups have of the symbol */
    double powers[2 * FORGE_MOST_POWER + 1];
    double rounded[2 * FORGE_MOST_POWER + 1];
};

/* --- the tiles of a loop --- */

static const struct forge_choices *choices_of(struct forge_searching *s, uint32_t symbol,
                                              uint32_t inner)
{
    for (struct forge_known_choices *known = s->known[symbol]; known != NULL; known = known->next)
        if (known->inner == inner)
            return &known->choices;

    const struct forge_symbol *record = &s->goals->symbols[symbol];
    struct forge_known_choices *known = forge_arena_take(s->arena, 1, sizeof *known);
    if (known == NULL ||
        !forge_find_choices(s->arena, (uint32_t)record->bound, inner, record->ragged,
                            s->space->settings.tiling_coarseness, &known->choices))
        return NULL;
    known->inner = inner;
    known->next = s->known[symbol];
    s->known[symbol] = known;
    return &known->choices;
}

/* The place of the first that is at least TILE. */
static uint32_t place_of(const struct forge_choices *choices, uint32_t tile)
{
    uint32_t low = 0;
    uint32_t high = choices->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (choices->tiles[middle] < tile)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool allows(const struct forge_choices *choices, uint32_t tile)
{
    uint32_t place = place_of(choices, tile);
    return place < choices->count && choices->tiles[place] == tile;
}

/* --- choices --- */

static bool grow_block(struct forge_block *block, uint32_t groups, uint32_t width)
{
    if (block->count < block->room)
        return true;
    uint32_t room = 2 * block->room + 64;
    uint32_t *parents = realloc(block->parents, room * sizeof *parents);
    block->parents = parents != NULL ? parents : block->parents;
    double *values = realloc(block->values, (size_t)room * (groups + 1) * sizeof *values);
    block->values = values != NULL ? values : block->values;
    double *criteria = realloc(block->criteria, (size_t)room * (width + 1) * sizeof *criteria);
    block->criteria = criteria != NULL ? criteria : block->criteria;
    uint32_t *kept = realloc(block->kept, room * sizeof *kept);
    block->kept = kept != NULL ? kept : block->kept;
    uint32_t *scratch = realloc(block->scratch, room * sizeof *scratch);
    block->scratch = scratch != NULL ? scratch : block->scratch;
    if (parents == NULL || values == NULL || criteria == NULL || kept == NULL || scratch == NULL)
        return false;
    block->room = room;
    return true;
}

static int most_power(const struct forge_stage *stage)
{
    int most = 0;
    for (uint32_t i = 0; i < stage->group_count; i++) {
        int power = abs(stage->groups[i].power);
        int rounded = abs(stage->groups[i].rounded);
        most = power > most ? power : most;
        most = rounded > most ? rounded : most;
    }
    return most;
}

static void set_powers(double *powers, double x, int most)
{
    powers[FORGE_MOST_POWER] = 1;
    for (int i = 1; i <= most; i++) {
        powers[FORGE_MOST_POWER + i] = powers[FORGE_MOST_POWER + i - 1] * x;
        powers[FORGE_MOST_POWER - i] = 1 / powers[FORGE_MOST_POWER + i];
    }
}

static void advance_values(const struct stepping *step, const double *values, double *next)
{
    memset(next, 0, step->stage->group_count * sizeof *next);
    for (uint32_t i = 0; i < step->before->group_count; i++) {
        const struct forge_group *group = &step->before->groups[i];
        next[group->next] += values[i] * step->powers[FORGE_MOST_POWER + group->power] *
                             step->rounded[FORGE_MOST_POWER + group->rounded];
    }
}

static double largest_latency(const struct forge_searching *s, const struct forge_stage *stage,
                              const double *values)
{
    double largest = 0;
    for (uint32_t g = 0; g < s->goals->count; g++)
        if (s->goals->list[g].purpose == FORGE_FOR_LATENCY && stage->goals[g].complete &&
            stage->goals[g].groups.count > 0)
            largest = fmax(largest, values[stage->goals[g].groups.first]);
    return largest;
}

static void set_criteria(const struct stepping *step, const double *values, const uint32_t *tiles,
                         double *criteria)
{
    const struct forge_searching *s = step->s;
    const struct forge_stage *stage = step->stage;
    for (uint32_t c = 0; c < stage->criterion_count; c++) {
        const struct forge_criterion *criterion = &stage->criteria[c];
        uint32_t g = stage->groups[criterion->group].goal;
        const struct forge_goal *goal = &s->goals->list[g];
        double value = values[criterion->group];
        if (goal->purpose == FORGE_FOR_USAGE && stage->goals[g].complete)
            value = fmin(value, goal->least);
        criteria[c] = criterion->negative ? -value : value;
    }
    uint32_t width = stage->criterion_count;
    if (stage->latency)
        criteria[width++] = largest_latency(s, stage, values);
    if (forge_loop_counts_compare(s))
        for (uint32_t l = 0; l < step->plan->loop_count; l++)
            criteria[width++] =
                forge_loop_counts_repeats(s, step->plan, l, step->symbol + 1, tiles) ? 1 : 0;
}

/* Adds what becomes of a choice with another tile, if it may be valid. */
static bool add_to_block(struct stepping *step, uint32_t parent, uint32_t tile)
{
    struct forge_searching *s = step->s;
    struct forge_block *block = &s->block;
    if (!grow_block(block, step->stage->group_count, step->width))
        return false;
    uint32_t *tiles = forge_tiles_of(&s->now, parent);
    double *values = &block->values[(size_t)block->count * step->stage->group_count];
    tiles[step->symbol] = tile;
    advance_values(step, forge_values_of(&s->now, parent), values);
    s->evaluated++;
    if (!forge_loop_counts_must(s, step->symbol, tiles) ||
        !forge_bounds_may_hold(s, step->stage, values, tiles) ||
        (forge_loop_counts_limit(s) &&
         !forge_loop_counts_hold(s, step->plan, step->symbol + 1, tiles)))
        return true;

    s->valid++;
    block->parents[block->count] = parent;
    set_criteria(step, values, tiles, &block->criteria[(size_t)block->count * step->width]);
    block->count++;
    return true;
}

/* Keeps the best of a block. */
static bool finish_block(struct stepping *step, uint32_t tile)
{
    struct forge_searching *s = step->s;
    struct forge_block *block = &s->block;
    uint32_t kept =
        forge_pareto(block->criteria, block->count, step->width, NULL, block->kept, block->scratch);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t row = block->kept[i];
        const double *values = &block->values[(size_t)row * step->stage->group_count];
        uint32_t *tiles = forge_tiles_of(&s->now, block->parents[row]);
        tiles[step->symbol] = tile;
        if (forge_bounds_exclude(s, step->stage, values, tiles))
            continue;
        if (!forge_choice_table_grow(&s->next))
            return false;
        memcpy(forge_tiles_of(&s->next, s->next.count), tiles, s->next.symbols * sizeof(uint32_t));
        if (s->next.groups > 0)
            memcpy(forge_values_of(&s->next, s->next.count), values,
                   s->next.groups * sizeof(double));
        s->next.count++;
    }
    block->count = 0;
    return true;
}

/* --- the next choices --- */

/* The smallest tile above TILE that a choice of the class allows; 0 if there is none. */
static bool next_tile(struct stepping *step, uint32_t first, uint32_t end, uint32_t tile,
                      uint32_t *found)
{
    struct forge_searching *s = step->s;
    uint32_t inner = s->goals->symbols[step->symbol].inner;
    uint32_t previous = 0;
    *found = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t *tiles = forge_tiles_of(&s->now, s->sorting.order[i]);
        uint32_t extent = inner == FORGE_NONE ? 1 : tiles[inner];
        if (extent == previous)
            continue;
        previous = extent;
        const struct forge_choices *choices = choices_of(s, step->symbol, extent);
        if (choices == NULL)
            return false;
        uint32_t c = place_of(choices, tile + 1);
        if (c < choices->count && (*found == 0 || choices->tiles[c] < *found))
            *found = choices->tiles[c];
    }
    return true;
}

static bool step_tile(struct stepping *step, uint32_t first, uint32_t end, uint32_t tile)
{
    struct forge_searching *s = step->s;
    const struct forge_symbol *symbol = &s->goals->symbols[step->symbol];
    set_powers(step->powers, tile, step->most);
    set_powers(step->rounded, ceil(symbol->bound / tile), step->most);

    uint32_t previous = 0;
    bool allowed = false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t parent = s->sorting.order[i];
        uint32_t extent =
            symbol->inner == FORGE_NONE ? 1 : forge_tiles_of(&s->now, parent)[symbol->inner];
        if (extent != previous) {
            const struct forge_choices *choices = choices_of(s, step->symbol, extent);
            if (choices == NULL)
                return false;
            allowed = allows(choices, tile);
            previous = extent;
        }
        if (allowed && !add_to_block(step, parent, tile))
            return false;
    }
    return finish_block(step, tile);
}

static bool step_class(struct stepping *step, uint32_t c)
{
    struct forge_searching *s = step->s;
    uint32_t first = s->sorting.starts[c];
    uint32_t end = s->sorting.starts[c + 1];
    uint32_t tile = 0;
    for (;;) {
        if (!next_tile(step, first, end, tile, &tile))
            return false;
        if (tile == 0 || forge_is_stopped(s))
            return true;
        if (!step_tile(step, first, end, tile))
            return false;
    }
}

/* Counts the bytes of both tables; false if all searches together use too many. */
static bool count_memory(struct forge_searching *s)
{
    size_t bytes =
        (size_t)s->now.room * (s->now.symbols * sizeof(uint32_t) + s->now.groups * sizeof(double)) +
        (size_t)s->next.room *
            (s->next.symbols * sizeof(uint32_t) + s->next.groups * sizeof(double));
    if (s->search->memory == NULL)
        return true;
    size_t before = s->memory;
    s->memory = bytes;
    size_t all = atomic_fetch_add(s->search->memory, bytes - before) + bytes - before;
    return all <= s->search->memory_limit;
}

/* --- pruning: fan-outs that must be used --- */

/* True if the use of a fan-out is not known yet: until then no choice can be pruned. */
static bool is_speculative(const struct forge_searching *s, const struct forge_stage *stage)
{
    for (uint32_t g = 0; g < s->goals->count; g++)
        if (s->goals->list[g].purpose == FORGE_FOR_USAGE &&
            (!stage->goals[g].complete || !s->goals->list[g].passes))
            return true;
    return false;
}

/* Keeps choices that use enough of a fan-out; if none does, those that use most of it. */
static void keep_users_of(struct forge_searching *s, const struct forge_stage *stage, uint32_t g)
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

/* Keeps choices that use enough of the fan-outs whose last loop is that of symbol K. */
static void keep_used(struct forge_searching *s, uint32_t k)
{
    for (uint32_t g = 0; g < s->goals->count; g++) {
        const struct forge_goal *goal = &s->goals->list[g];
        const struct forge_stage *stage = &s->stages->list[k + 1];
        if (goal->purpose == FORGE_FOR_USAGE && goal->passes && stage->goals[g].complete &&
            !s->stages->list[k].goals[g].complete)
            keep_users_of(s, stage, g);
    }
}

/* --- pruning: the best few --- */

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

/* Keeps the choices that promise most, if there are more than the search may have; false if out of
 * memory. */
static bool keep_few(struct forge_searching *s, const struct forge_stage *stage)
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

/* --- one loop --- */

enum forge_status forge_step_loop(struct forge_searching *s, const struct forge_plan *plan,
                                  uint32_t k)
{
    struct stepping step = {
        .s = s,
        .plan = plan,
        .before = &s->stages->list[k],
        .stage = &s->stages->list[k + 1],
        .symbol = k,
        .most = most_power(&s->stages->list[k]),
    };
    step.width = step.stage->criterion_count + (step.stage->latency ? 1 : 0) +
                 (forge_loop_counts_compare(s) ? plan->loop_count : 0);
    s->next.count = 0;
    s->next.symbols = s->goals->symbol_count;
    s->next.groups = step.stage->group_count;
    s->next.room = 0;
    s->block.room = 0;

    /* The front may have grown. */
    s->bounded = s->search->fronts != NULL && !s->fused;
    s->speculative = is_speculative(s, step.before);
    if (s->bounded)
        forge_front_refresh(s->search->fronts, s->structure, s->search->front);
    if (!forge_sort_choices(&s->sorting, &s->now, step.stage->keys & ~(UINT64_C(1) << k)))
        return FORGE_OUT_OF_MEMORY;
    uint64_t looked = s->evaluated;
    for (uint32_t c = 0; c < s->sorting.class_count; c++) {
        if (!step_class(&step, c))
            return FORGE_OUT_OF_MEMORY;
        if (s->evaluated - looked < ROWS_BETWEEN_LOOKS)
            continue;
        looked = s->evaluated;
        if (forge_is_stopped(s))
            return FORGE_OK;
        if (!count_memory(s))
            return FORGE_OUT_OF_MEMORY;
    }
    if (forge_is_stopped(s))
        return FORGE_OK;
    keep_used(s, k);
    if (!keep_few(s, step.stage))
        return FORGE_OUT_OF_MEMORY;

    struct forge_choice_table swapped = s->now;
    s->now = s->next;
    s->next = swapped;
    s->stage = k + 1;
    return FORGE_OK;
}
