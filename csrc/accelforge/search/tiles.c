/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/factors.h"
#include "accelforge/search/pareto.h"
#include "accelforge/search/results.h"
#include "accelforge/search/sorting.h"

/* Between two looks at *stop. */
#define ROWS_BETWEEN_LOOKS 4096

/* The tiles of a loop, by the tile inside. */
struct known_choices {
    uint32_t inner;
    struct forge_choices choices;
    struct known_choices *next;
};

/* Rows that may have to be kept, with equal keys. */
struct block {
    uint32_t *parents;
    double *values;
    double *criteria;
    uint32_t *kept;
    uint32_t *scratch;
    uint32_t count;
    uint32_t room;
};

struct searching {
    const struct forge_tile_search *search;
    const struct forge_goals *goals;
    const struct forge_stages *stages;
    const struct forge_space *space;
    struct forge_arena *arena;
    struct known_choices *known[FORGE_MAX_SYMBOLS];
    struct forge_choice_table now;
    struct forge_choice_table next;
    struct forge_sorting sorting;
    struct block block;
    uint64_t structure;
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count;
    double *low; /* a point of the front */
    double instances;
    bool bounded; /* the front says what is of no use */
    bool beaten;  /* it did */
    bool fused;   /* a fused loop has more than one iteration */
    bool late;
    struct forge_rows *rows;
    bool truncated;
    size_t memory;
    uint64_t evaluated;
    uint64_t valid;
};

static bool is_stopped(const struct searching *s)
{
    return s->search->stop != NULL && atomic_load_explicit(s->search->stop, memory_order_relaxed);
}

/* ------------------------------------------------------------------ bounds */

/* A tile is the outermost that is known of its variable, or 1. */
static double evaluate_unknown(const struct forge_stages *stages, const struct forge_stage *stage,
                               const struct forge_unknown *unknown, const uint32_t *tiles)
{
    double product = unknown->constant;
    for (uint32_t i = 0; i < unknown->factors.count; i++) {
        const struct forge_bound_factor *factor = &stages->factors[unknown->factors.first + i];
        uint32_t last = stage->last[factor->variable];
        double tile = last == FORGE_NONE ? 1 : tiles[last];
        for (int32_t power = factor->power; power > 0; power--)
            product *= tile;
        for (int32_t power = factor->power; power < 0; power++)
            product /= tile;
    }
    return product;
}

/* What a goal is at least, or at most, whatever the unknown tiles. */
static double bound_goal(const struct searching *s, const struct forge_stage *stage, uint32_t g,
                         const double *values, const uint32_t *tiles, bool largest)
{
    const struct forge_stage_goal *goal = &stage->goals[g];
    bool grows = s->goals->list[g].grows;
    double sum = 0;
    for (uint32_t i = goal->groups.first; i < goal->groups.first + goal->groups.count; i++) {
        bool upper = !grows && (largest ? values[i] > 0 : values[i] < 0);
        const struct forge_group *group = &stage->groups[i];
        sum += values[i] *
               evaluate_unknown(s->stages, stage, upper ? &group->most : &group->least, tiles);
    }
    return sum;
}

/* Whether limits may still hold. */
static bool may_be_valid(const struct searching *s, const struct forge_stage *stage,
                         const double *values, const uint32_t *tiles)
{
    for (uint32_t g = 0; g < s->goals->count; g++) {
        const struct forge_goal *goal = &s->goals->list[g];
        if (!stage->goals[g].touched ||
            (goal->purpose != FORGE_FOR_FANOUT && goal->purpose != FORGE_FOR_MEMORY))
            continue;
        if (!isinf(goal->most)) {
            double low = bound_goal(s, stage, g, values, tiles, false);
            if (!forge_at_most(low, goal->most, 0) ||
                (goal->strict && forge_at_most(goal->most, low, 0)))
                return false;
        }
        if (!isinf(goal->least) && !goal->grows) {
            double high = bound_goal(s, stage, g, values, tiles, true);
            if (!forge_at_most(goal->least, high, 0) ||
                (goal->strict && forge_at_most(high, goal->least, 0)))
                return false;
        }
    }
    return true;
}

/* Objectives that no choice of the unknown tiles is below. */
static void bound_objectives(const struct searching *s, const struct forge_stage *stage,
                             const double *values, const uint32_t *tiles, double *low)
{
    double energy = 0;
    double latency = 0;
    for (uint32_t g = 0; g < s->goals->count; g++) {
        enum forge_purpose purpose = s->goals->list[g].purpose;
        if (purpose != FORGE_FOR_ENERGY && purpose != FORGE_FOR_LATENCY)
            continue;
        double bound = bound_goal(s, stage, g, values, tiles, false);
        if (purpose == FORGE_FOR_ENERGY)
            energy = fmax(energy, bound);
        else
            latency = fmax(latency, bound);
    }
    low[FORGE_TOTAL_LATENCY] = latency * s->instances;
    low[FORGE_TOTAL_DYNAMIC_ENERGY] = energy;
    low[FORGE_TOTAL_LEAK_ENERGY] = s->goals->leak * latency * s->instances;
    low[FORGE_TOTAL_ENERGY] = energy + low[FORGE_TOTAL_LEAK_ENERGY];
}

/* The same as a point of the front. */
static void bound_point(const struct searching *s, const struct forge_stage *stage,
                        const double *values, const uint32_t *tiles)
{
    double objectives[FORGE_OBJECTIVES];
    uint32_t count = 0;
    bound_objectives(s, stage, values, tiles, objectives);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        if (s->space->wanted[i])
            s->low[count++] = objectives[i];
    for (uint32_t i = 0; i < s->tracked_count; i++) {
        double share = 0;
        for (uint32_t g = 0; g < s->goals->count; g++)
            if (s->goals->list[g].purpose == FORGE_FOR_MEMORY &&
                s->goals->list[g].level == s->tracked[i])
                share = bound_goal(s, stage, g, values, tiles, false) / s->goals->list[g].most;
        s->low[count++] = share * (1 - FORGE_ROUNDING);
    }
}

static bool is_of_no_use(struct searching *s, const struct forge_stage *stage, const double *values,
                         const uint32_t *tiles)
{
    if (!s->bounded || s->search->front->count == 0)
        return false;
    bound_point(s, stage, values, tiles);
    bool beaten = forge_front_beats(s->search->front, s->search->fronts->width, s->low);
    s->beaten = s->beaten || beaten;
    return beaten;
}

/* ------------------------------------------------------------------ the tiles of a loop */

static const struct forge_choices *choices_of(struct searching *s, uint32_t symbol, uint32_t inner)
{
    for (struct known_choices *known = s->known[symbol]; known != NULL; known = known->next)
        if (known->inner == inner)
            return &known->choices;

    const struct forge_symbol *record = &s->goals->symbols[symbol];
    struct known_choices *known = forge_arena_take(s->arena, 1, sizeof(*known));
    if (known == NULL ||
        !forge_find_choices(s->arena, (uint32_t)record->bound, inner, record->ragged,
                            s->space->knobs.tiling_coarseness, &known->choices))
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

/* ------------------------------------------------------------------ limits of loops */

/* Loops of more than one iteration among known ones, of GROUP's kind. */
enum counted { COUNT_FUSED, COUNT_FUSED_VARIABLE, COUNT_DIMENSION, COUNT_ALL };

static bool counts(const struct searching *s, enum counted kind, const struct forge_loop *loop,
                   const struct forge_loop *other, bool fused)
{
    switch (kind) {
    case COUNT_FUSED: return fused;
    case COUNT_FUSED_VARIABLE: return fused && loop->variable == other->variable;
    case COUNT_DIMENSION:
        return loop->spatial && other->spatial && loop->level == other->level &&
               loop->dimension == other->dimension;
    default: (void)s; return true;
    }
}

/* The iterations of the loop of SYMBOL are known if the tile around it is. */
static bool repeats(const struct searching *s, uint32_t symbol, uint32_t known,
                    const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (symbol >= known || (record->outer != FORGE_NONE && record->outer >= known))
        return false;
    uint32_t outer = record->outer == FORGE_NONE ? (uint32_t)record->bound : tiles[record->outer];
    return tiles[symbol] != outer;
}

static bool keeps_count(const struct searching *s, const struct forge_plan *plan, enum counted kind,
                        double most, uint32_t last, uint32_t known, const uint32_t *tiles)
{
    if (isinf(most))
        return true;
    const struct forge_loop *loop = &plan->loops[s->goals->symbols[last].loop];
    uint32_t count = 0;
    for (uint32_t i = 0; i < known; i++) {
        const struct forge_symbol *record = &s->goals->symbols[i];
        if (counts(s, kind, &plan->loops[record->loop], loop, record->fused) &&
            repeats(s, i, known, tiles))
            count++;
    }
    return count <= most;
}

/* Loops whose tile must be 1 have no symbol, and are not counted. */
static bool keeps_counts(const struct searching *s, const struct forge_plan *plan, uint32_t known,
                         const uint32_t *tiles)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    uint32_t last = known - 1;
    double ranks = s->search->templates->facts.variable_count;
    double all = fmin(knobs->max_loops, knobs->max_loops_minus_ranks + ranks);
    if (!keeps_count(s, plan, COUNT_ALL, all, last, known, tiles) ||
        !keeps_count(s, plan, COUNT_DIMENSION, knobs->max_loops_per_spatial_dimension, last, known,
                     tiles))
        return false;
    if (s->search->template->fused_count == 0)
        return true;
    return keeps_count(s, plan, COUNT_FUSED, knobs->max_fused_loops, last, known, tiles) &&
           keeps_count(s, plan, COUNT_FUSED_VARIABLE, knobs->max_fused_loops_per_rank_variable,
                       last, known, tiles);
}

/* Fused loops that must have more than one iteration do. */
static bool repeats_as_it_must(const struct searching *s, uint32_t symbol, const uint32_t *tiles)
{
    const struct forge_symbol *record = &s->goals->symbols[symbol];
    if (record->repeats && record->outer == FORGE_NONE && tiles[symbol] >= record->bound)
        return false;
    return record->inner == FORGE_NONE || !s->goals->symbols[record->inner].repeats ||
           tiles[record->inner] != tiles[symbol];
}

/* ------------------------------------------------------------------ one loop */

struct stepping {
    struct searching *s;
    const struct forge_plan *plan;
    const struct forge_stage *before;
    const struct forge_stage *stage;
    uint32_t symbol;
    uint32_t width; /* criteria, and what limits of loops need */
    double powers[2 * FORGE_MOST_POWER + 1];
    double rounded[2 * FORGE_MOST_POWER + 1];
};

static bool grow_block(struct block *block, uint32_t groups, uint32_t width)
{
    if (block->count < block->room)
        return true;
    uint32_t room = 2 * block->room + 64;
    uint32_t *parents = realloc(block->parents, room * sizeof(*parents));
    block->parents = parents != NULL ? parents : block->parents;
    double *values = realloc(block->values, (size_t)room * (groups + 1) * sizeof(*values));
    block->values = values != NULL ? values : block->values;
    double *criteria = realloc(block->criteria, (size_t)room * (width + 1) * sizeof(*criteria));
    block->criteria = criteria != NULL ? criteria : block->criteria;
    uint32_t *kept = realloc(block->kept, room * sizeof(*kept));
    block->kept = kept != NULL ? kept : block->kept;
    uint32_t *scratch = realloc(block->scratch, room * sizeof(*scratch));
    block->scratch = scratch != NULL ? scratch : block->scratch;
    if (parents == NULL || values == NULL || criteria == NULL || kept == NULL || scratch == NULL)
        return false;
    block->room = room;
    return true;
}

static void set_powers(double *powers, double x)
{
    powers[FORGE_MOST_POWER] = 1;
    for (int i = 1; i <= FORGE_MOST_POWER; i++) {
        powers[FORGE_MOST_POWER + i] = powers[FORGE_MOST_POWER + i - 1] * x;
        powers[FORGE_MOST_POWER - i] = 1 / powers[FORGE_MOST_POWER + i];
    }
}

static void advance_values(const struct stepping *step, const double *values, double *next)
{
    memset(next, 0, step->stage->group_count * sizeof(*next));
    for (uint32_t i = 0; i < step->before->group_count; i++) {
        const struct forge_group *group = &step->before->groups[i];
        next[group->next] += values[i] * step->powers[FORGE_MOST_POWER + group->power] *
                             step->rounded[FORGE_MOST_POWER + group->rounded];
    }
}

static double largest_latency(const struct searching *s, const struct forge_stage *stage,
                              const double *values)
{
    double largest = 0;
    for (uint32_t g = 0; g < s->goals->count; g++)
        if (s->goals->list[g].purpose == FORGE_FOR_LATENCY && stage->goals[g].complete &&
            stage->goals[g].groups.count > 0)
            largest = fmax(largest, values[stage->goals[g].groups.first]);
    return largest;
}

/* Limits of the number of loops make the loops so far something to compare by. */
static bool counts_loops(const struct searching *s)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    bool fused = s->search->template->fused_count > 0;
    return !isinf(knobs->max_loops) || !isinf(knobs->max_loops_minus_ranks) ||
           !isinf(knobs->max_loops_per_spatial_dimension) ||
           (fused &&
            (!isinf(knobs->max_fused_loops) || !isinf(knobs->max_fused_loops_per_rank_variable)));
}

/* Whether fused loops are all that is counted: they are keys, nothing is to be compared. */
static bool counts_unfused(const struct searching *s)
{
    const struct forge_knobs *knobs = &s->space->knobs;
    return !isinf(knobs->max_loops) || !isinf(knobs->max_loops_minus_ranks) ||
           !isinf(knobs->max_loops_per_spatial_dimension);
}

static void set_criteria(const struct stepping *step, const double *values, const uint32_t *tiles,
                         double *criteria)
{
    const struct searching *s = step->s;
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
    if (counts_unfused(s))
        for (uint32_t i = 0; i <= step->symbol; i++)
            criteria[width++] = repeats(s, i, step->symbol + 1, tiles) ? 1 : 0;
}

/* Adds what becomes of a choice with another tile, if it may be valid. */
static bool add_to_block(struct stepping *step, uint32_t parent, uint32_t tile)
{
    struct searching *s = step->s;
    struct block *block = &s->block;
    if (!grow_block(block, step->stage->group_count, step->width))
        return false;
    uint32_t *tiles = forge_tiles_of(&s->now, parent);
    double *values = &block->values[(size_t)block->count * step->stage->group_count];
    tiles[step->symbol] = tile;
    advance_values(step, forge_values_of(&s->now, parent), values);
    s->evaluated++;
    if (!repeats_as_it_must(s, step->symbol, tiles) ||
        !may_be_valid(s, step->stage, values, tiles) ||
        (counts_loops(s) && !keeps_counts(s, step->plan, step->symbol + 1, tiles)))
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
    struct searching *s = step->s;
    struct block *block = &s->block;
    uint32_t kept =
        forge_pareto(block->criteria, block->count, step->width, NULL, block->kept, block->scratch);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t row = block->kept[i];
        const double *values = &block->values[(size_t)row * step->stage->group_count];
        uint32_t *tiles = forge_tiles_of(&s->now, block->parents[row]);
        tiles[step->symbol] = tile;
        if (is_of_no_use(s, step->stage, values, tiles))
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

/* The smallest tile above TILE that a choice of the class allows; 0 if there is none. */
static bool next_tile(struct stepping *step, uint32_t first, uint32_t end, uint32_t tile,
                      uint32_t *found)
{
    struct searching *s = step->s;
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
    struct searching *s = step->s;
    const struct forge_symbol *symbol = &s->goals->symbols[step->symbol];
    set_powers(step->powers, tile);
    set_powers(step->rounded, ceil(symbol->bound / tile));

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

/* ------------------------------------------------------------------ fan-outs that must be used */

/* Whether the use of a fan-out is not known yet: until then no choice is of no use. */
static bool usage_is_open(const struct searching *s, const struct forge_stage *stage)
{
    for (uint32_t g = 0; g < s->goals->count; g++)
        if (s->goals->list[g].purpose == FORGE_FOR_USAGE &&
            (!stage->goals[g].complete || !s->goals->list[g].passes))
            return true;
    return false;
}

/* Keeps choices that use enough of a fan-out; if none does, those that use most of it. */
static void keep_used(struct searching *s, const struct forge_stage *stage, uint32_t g)
{
    struct forge_choice_table *table = &s->next;
    uint32_t group = stage->goals[g].groups.first;
    double best = 0;
    for (uint32_t i = 0; i < table->count; i++)
        best = fmax(best, forge_values_of(table, i)[group]);

    uint32_t kept = 0;
    double wanted = fmin(best, s->goals->list[g].least);
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

static void keep_all_used(struct searching *s, uint32_t k)
{
    for (uint32_t g = 0; g < s->goals->count; g++) {
        const struct forge_goal *goal = &s->goals->list[g];
        const struct forge_stage *stage = &s->stages->list[k + 1];
        if (goal->purpose == FORGE_FOR_USAGE && goal->passes && stage->goals[g].complete &&
            !s->stages->list[k].goals[g].complete)
            keep_used(s, stage, g);
    }
}

/* ------------------------------------------------------------------ the best few */

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

/* Keeps the choices that promise most, if there are more than the search may have. */
static bool keep_few(struct searching *s, const struct forge_stage *stage)
{
    uint32_t width = s->search->width;
    if (width == 0 || s->next.count <= width)
        return true;
    struct score *scores = malloc(s->next.count * sizeof(*scores));
    if (scores == NULL)
        return false;
    for (uint32_t i = 0; i < s->next.count; i++) {
        double low[FORGE_OBJECTIVES];
        bound_objectives(s, stage, forge_values_of(&s->next, i), forge_tiles_of(&s->next, i), low);
        scores[i].value = 1;
        for (uint32_t o = 0; o < FORGE_OBJECTIVES; o++)
            if (s->space->wanted[o])
                scores[i].value *= low[o];
        scores[i].choice = i;
    }
    qsort(scores, s->next.count, sizeof(*scores), compare_scores);
    qsort(scores, width, sizeof(*scores), compare_choices);
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

/* ------------------------------------------------------------------ all loops */

/* Counts the bytes of both tables; false if all searches together use too many. */
static bool count_memory(struct searching *s)
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

static bool step_class(struct stepping *step, uint32_t c)
{
    struct searching *s = step->s;
    uint32_t first = s->sorting.starts[c];
    uint32_t end = s->sorting.starts[c + 1];
    uint32_t tile = 0;
    for (;;) {
        if (!next_tile(step, first, end, tile, &tile))
            return false;
        if (tile == 0 || is_stopped(s))
            return true;
        if (!step_tile(step, first, end, tile))
            return false;
    }
}

static enum forge_status step_loop(struct searching *s, const struct forge_plan *plan, uint32_t k)
{
    struct stepping step = {
        .s = s,
        .plan = plan,
        .before = &s->stages->list[k],
        .stage = &s->stages->list[k + 1],
        .symbol = k,
    };
    step.width = step.stage->criterion_count + (step.stage->latency ? 1 : 0) +
                 (counts_unfused(s) ? k + 1 : 0);
    s->next.count = 0;
    s->next.symbols = s->goals->symbol_count;
    s->next.groups = step.stage->group_count;
    s->next.room = 0;
    s->block.room = 0;

    /* The front may have grown. */
    s->bounded = s->search->fronts != NULL && !s->fused && !usage_is_open(s, step.before);
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
        if (is_stopped(s))
            return FORGE_OK;
        if (!count_memory(s))
            return FORGE_OUT_OF_MEMORY;
    }
    keep_all_used(s, k);
    if (!keep_few(s, step.stage))
        return FORGE_OUT_OF_MEMORY;

    struct forge_choice_table swapped = s->now;
    s->now = s->next;
    s->next = swapped;
    return FORGE_OK;
}

static bool start(struct searching *s)
{
    const struct forge_stage *stage = &s->stages->list[0];
    s->now.symbols = s->goals->symbol_count;
    s->now.groups = stage->group_count;
    if (!forge_choice_table_grow(&s->now))
        return false;
    if (s->now.symbols > 0)
        memset(s->now.tiles, 0, s->now.symbols * sizeof(uint32_t));
    if (s->now.groups > 0)
        memcpy(s->now.values, s->stages->first, s->now.groups * sizeof(double));
    s->now.count = may_be_valid(s, stage, s->now.values, s->now.tiles) ? 1 : 0;
    return true;
}

static enum forge_status run(struct searching *s, const struct forge_model *model,
                             struct forge_rows *rows)
{
    if (!start(s))
        return FORGE_OUT_OF_MEMORY;
    bound_objectives(s, &s->stages->list[0], s->now.values, s->now.tiles, rows->low);

    enum forge_status status = FORGE_OK;
    for (uint32_t k = 0; k < s->goals->symbol_count; k++) {
        status = step_loop(s, &model->plans[0], k);
        if (status != FORGE_OK || is_stopped(s))
            return status;
    }
    struct forge_result_request request = {
        .templates = s->search->templates,
        .template = s->search->template,
        .model = model,
        .goals = s->goals,
        .stage = &s->stages->list[s->goals->symbol_count],
        .choices = &s->now,
        .sorting = &s->sorting,
        .late = s->late,
    };
    status = forge_results_make(&request, rows);
    rows->complete = status == FORGE_OK && !s->truncated;
    rows->truncated = s->truncated;
    rows->beaten = s->beaten;
    return status;
}

/* ------------------------------------------------------------------ a template */

/* LATE: what uses a fan-out best is only chosen among valid results. */
static void decide_usages(struct forge_goals *goals, bool late)
{
    for (uint32_t g = 0; g < goals->count; g++)
        if (goals->list[g].purpose == FORGE_FOR_USAGE)
            goals->list[g].passes = !late;
}

/* Outermost holders of shared tensors, in any order. */
static uint64_t structure_of(const struct forge_space *space, const struct forge_template *template)
{
    uint64_t structure = 0;
    for (uint32_t i = 0; i < template->node_count; i++) {
        const struct forge_node *node = &template->nodes[i];
        if (node->kind != FORGE_NODE_HOLD || !node->backing ||
            (space->shared >> node->tensor & 1) == 0)
            continue;
        uint64_t hash = ((uint64_t)node->level << 32 | node->tensor) + 1;
        hash *= UINT64_C(0x9e3779b97f4a7c15);
        structure += hash ^ hash >> 29;
    }
    return structure;
}

static void share_results(const struct forge_tile_search *search, const struct forge_rows *rows)
{
    const struct forge_space *space = search->templates->facts.space;
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count = forge_tracked_levels(space, tracked);
    uint32_t width = search->fronts->width;
    double *points = malloc(((size_t)rows->count * width + 1) * sizeof(*points));
    if (points == NULL)
        return;
    for (uint32_t r = 0; r < rows->count; r++)
        forge_results_point(space, rows, r, tracked, tracked_count, &points[(size_t)r * width]);
    forge_fronts_add(search->fronts, structure_of(space, search->template), points, rows->count);
    free(points);
}

static void release(struct searching *s)
{
    forge_choice_table_clear(&s->now);
    forge_choice_table_clear(&s->next);
    forge_sorting_clear(&s->sorting);
    free(s->block.parents);
    free(s->block.values);
    free(s->block.criteria);
    free(s->block.kept);
    free(s->block.scratch);
    if (s->search->memory != NULL)
        atomic_fetch_sub(s->search->memory, s->memory);
    if (s->search->counts != NULL) {
        atomic_fetch_add(&s->search->counts->evaluated, s->evaluated);
        atomic_fetch_add(&s->search->counts->valid, s->valid);
    }
}

static bool has_fused(const struct forge_goals *goals)
{
    for (uint32_t i = 0; i < goals->symbol_count; i++)
        if (goals->symbols[i].fused)
            return true;
    return false;
}

/* REPEATS as in forge_goals_make(). */
static enum forge_status search_model(const struct forge_tile_search *search,
                                      const struct forge_model *model, const bool *repeats,
                                      bool late, struct forge_rows *rows)
{
    memset(rows, 0, sizeof(*rows));
    const struct forge_space *space = search->templates->facts.space;
    struct forge_arena arena = {NULL};
    struct forge_goals *goals = forge_arena_take(&arena, 1, sizeof(*goals));
    struct forge_stages *stages = forge_arena_take(&arena, 1, sizeof(*stages));
    struct searching s = {
        .search = search,
        .goals = goals,
        .stages = stages,
        .space = space,
        .arena = &arena,
        .structure = structure_of(space, search->template),
        .instances = space->problem.values[space->problem.n_instances] *
                     space->problem.values[forge_space_einsum(space)->n_instances],
        .late = late,
        .rows = rows,
    };
    s.tracked_count = forge_tracked_levels(space, s.tracked);
    s.low = forge_arena_take(&arena, (size_t)s.tracked_count + FORGE_OBJECTIVES, sizeof(*s.low));

    enum forge_status status = FORGE_OUT_OF_MEMORY;
    if (goals != NULL && stages != NULL && s.low != NULL)
        status =
            forge_goals_make(goals, &arena, search->templates, search->template, model, repeats);
    if (status == FORGE_OK) {
        decide_usages(goals, late);
        s.fused = has_fused(goals);
        status = forge_stages_make(stages, &arena, goals, search->templates->facts.variable_count);
    }
    if (status == FORGE_OK)
        status = run(&s, model, rows);
    release(&s);
    forge_arena_clear(&arena);
    return status;
}

/* ------------------------------------------------------------------ variants */

/*
 * If few fused loops may have more than one iteration, each set of them is searched apart: where
 * the tiles of the other fused loops are those around them, there is less to be kept equal.
 */
struct variants {
    bool *repeats; /* by variant and loop */
    struct forge_rows *rows;
    uint32_t count; /* 0: there are none, all are searched together */
    uint32_t loop_count;
};

/* No template has more variants. */
#define MAX_VARIANTS 128

static bool is_allowed(const struct forge_tile_search *search, const struct forge_plan *plan,
                       const bool *repeats)
{
    const struct forge_knobs *knobs = &search->templates->facts.space->knobs;
    uint32_t all = 0;
    for (uint32_t l = 0; l < search->template->fused_count; l++) {
        uint32_t alike = 0;
        for (uint32_t k = 0; k < search->template->fused_count; k++)
            alike += repeats[k] && plan->loops[k].variable == plan->loops[l].variable;
        if (alike > knobs->max_fused_loops_per_rank_variable)
            return false;
        all += repeats[l];
    }
    return all <= knobs->max_fused_loops;
}

/* Adds the sets that have SET and some of the loops from FIRST on. */
static bool add_variants(struct variants *variants, const struct forge_tile_search *search,
                         const struct forge_plan *plan, bool *set, uint32_t first)
{
    if (!is_allowed(search, plan, set))
        return true;
    if (variants->count == MAX_VARIANTS)
        return false;
    memcpy(&variants->repeats[(size_t)variants->count * variants->loop_count], set,
           variants->loop_count * sizeof(*set));
    variants->count++;
    for (uint32_t l = first; l < search->template->fused_count; l++) {
        if (!forge_goals_is_free(search->templates->facts.space, plan, l))
            continue;
        set[l] = true;
        bool added = add_variants(variants, search, plan, set, l + 1);
        set[l] = false;
        if (!added)
            return false;
    }
    return true;
}

static enum forge_status list_variants(struct variants *variants, struct forge_arena *arena,
                                       const struct forge_tile_search *search,
                                       const struct forge_plan *plan)
{
    uint32_t free_count = 0;
    for (uint32_t l = 0; l < search->template->fused_count; l++)
        free_count += forge_goals_is_free(search->templates->facts.space, plan, l);
    variants->loop_count = plan->loop_count;
    variants->repeats =
        forge_arena_take(arena, (size_t)MAX_VARIANTS * plan->loop_count, sizeof(bool));
    variants->rows = forge_arena_take(arena, MAX_VARIANTS, sizeof(*variants->rows));
    bool *set = forge_arena_take(arena, plan->loop_count, sizeof(*set));
    if (variants->repeats == NULL || variants->rows == NULL || set == NULL)
        return FORGE_OUT_OF_MEMORY;

    if (search->templates->facts.space->knobs.max_fused_loops >= free_count ||
        !add_variants(variants, search, plan, set, 0))
        variants->count = 0;
    return FORGE_OK;
}

/* Whether A uses fan-outs less than B. */
static bool uses_less(const struct forge_rows *a, const struct forge_rows *b)
{
    for (uint32_t i = 0; i < a->usage_count && i < b->usage_count; i++) {
        if (!forge_at_most(b->usages[i], a->usages[i], 0))
            return true;
        if (!forge_at_most(a->usages[i], b->usages[i], 0))
            return false;
    }
    return false;
}

static bool append(struct forge_rows *all, struct forge_rows *rows)
{
    if (all->notes == NULL) {
        struct forge_rows kept = *all;
        *all = *rows;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            all->low[i] = kept.low[i];
        all->complete = kept.complete;
        all->truncated = kept.truncated;
        memset(rows, 0, sizeof(*rows));
        return true;
    }
    size_t count = (size_t)all->count + rows->count;
    uint32_t *tiles = realloc(all->tiles, (count * all->loop_count + 1) * sizeof(*tiles));
    all->tiles = tiles != NULL ? tiles : all->tiles;
    double *objectives =
        realloc(all->objectives, (FORGE_OBJECTIVES * count + 1) * sizeof(*objectives));
    all->objectives = objectives != NULL ? objectives : all->objectives;
    double *shares = realloc(all->shares, (count * all->holder_count + 1) * sizeof(*shares));
    all->shares = shares != NULL ? shares : all->shares;
    if (tiles == NULL || objectives == NULL || shares == NULL)
        return false;
    if (rows->count > 0) {
        memcpy(&tiles[(size_t)all->count * all->loop_count], rows->tiles,
               (size_t)rows->count * all->loop_count * sizeof(*tiles));
        memcpy(&objectives[FORGE_OBJECTIVES * (size_t)all->count], rows->objectives,
               FORGE_OBJECTIVES * (size_t)rows->count * sizeof(*objectives));
        memcpy(&shares[(size_t)all->count * all->holder_count], rows->shares,
               (size_t)rows->count * all->holder_count * sizeof(*shares));
    }
    all->count = (uint32_t)count;
    all->room = (uint32_t)count;
    return true;
}

/* Puts the rows of variants together, but for those that another one uses fan-outs better than. */
static bool merge(const struct variants *variants, struct forge_rows *all)
{
    const struct forge_rows *most = NULL;
    all->complete = true;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        all->low[i] = INFINITY;
    for (uint32_t v = 0; v < variants->count; v++) {
        const struct forge_rows *rows = &variants->rows[v];
        all->complete = all->complete && rows->complete;
        all->truncated = all->truncated || rows->truncated;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            all->low[i] = fmin(all->low[i], rows->low[i]);
        if ((rows->count > 0 || rows->beaten) && (most == NULL || uses_less(most, rows)))
            most = rows;
    }

    /* MOST is copied, as its rows may move. */
    struct forge_rows best;
    memset(&best, 0, sizeof(best));
    if (most != NULL)
        best = *most;
    for (uint32_t v = 0; v < variants->count; v++)
        if (variants->rows[v].count > 0 && !uses_less(&variants->rows[v], &best) &&
            !append(all, &variants->rows[v]))
            return false;
    return true;
}

static enum forge_status search_variants(const struct forge_tile_search *search,
                                         const struct forge_model *model, struct variants *variants,
                                         bool late, struct forge_rows *rows)
{
    enum forge_status status = FORGE_OK;
    memset(rows, 0, sizeof(*rows));
    memset(variants->rows, 0, variants->count * sizeof(*variants->rows));
    for (uint32_t v = 0; status == FORGE_OK && v < variants->count; v++)
        status = search_model(search, model, &variants->repeats[(size_t)v * variants->loop_count],
                              late, &variants->rows[v]);

    /* The first variant has no fused loop that repeats. */
    if (status == FORGE_OK && search->fronts != NULL && variants->rows[0].usage_count == 0)
        share_results(search, &variants->rows[0]);
    if (status == FORGE_OK && !merge(variants, rows))
        status = FORGE_OUT_OF_MEMORY;
    for (uint32_t v = 0; v < variants->count; v++)
        forge_rows_clear(&variants->rows[v]);
    return status;
}

/* ------------------------------------------------------------------ all tiles */

static enum forge_status search_once(const struct forge_tile_search *search,
                                     const struct forge_model *model, struct variants *variants,
                                     bool late, struct forge_rows *rows)
{
    if (variants->count > 0)
        return search_variants(search, model, variants, late, rows);
    enum forge_status status = search_model(search, model, NULL, late, rows);
    if (status == FORGE_OK && search->fronts != NULL && search->template->fused_count == 0)
        share_results(search, rows);
    return status;
}

/* If what uses a fan-out best is not valid, something else does. */
static enum forge_status search_all(const struct forge_tile_search *search,
                                    const struct forge_model *model, struct forge_arena *arena,
                                    struct forge_rows *rows)
{
    struct variants variants;
    memset(&variants, 0, sizeof(variants));
    enum forge_status status = list_variants(&variants, arena, search, &model->plans[0]);
    if (status == FORGE_OK)
        status = search_once(search, model, &variants, false, rows);
    if (status == FORGE_OK && search->template->usages.count > 0 && rows->complete &&
        !rows->beaten && rows->count == 0) {
        forge_rows_clear(rows);
        status = search_once(search, model, &variants, true, rows);
    }
    return status;
}

enum forge_status forge_tiles_search(const struct forge_tile_search *search,
                                     struct forge_rows *rows, struct forge_fault *fault)
{
    memset(rows, 0, sizeof(*rows));
    struct forge_arena arena = {NULL};
    struct forge_problem problem;
    struct forge_model *model = NULL;
    enum forge_status status =
        forge_template_problem(search->templates, search->template, &arena, &problem);
    if (status == FORGE_OK)
        status = forge_model_create(&model, &problem, fault);

    /* A template that the model refuses has no tiles. */
    if (status == FORGE_LOOPS_CROSS) {
        rows->complete = true;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            rows->low[i] = INFINITY;
        status = FORGE_OK;
    } else if (status == FORGE_OK) {
        status = search_all(search, model, &arena, rows);
    }
    forge_model_destroy(model);
    forge_arena_clear(&arena);
    fault->status = status;
    return status;
}
