/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/search/bounds.h"
#include "accelforge/search/loop_counts.h"
#include "accelforge/search/results.h"
#include "accelforge/search/steps.h"
#include "accelforge/search/variants.h"

/* --- all loops --- */

static bool start(struct forge_searching *s, const struct forge_plan *plan)
{
    const struct forge_stage *stage = &s->stages->list[0];
    s->stage = 0;
    s->now.symbols = s->goals->symbol_count;
    s->now.groups = stage->group_count;
    if (!forge_choice_table_grow(&s->now))
        return false;
    if (s->now.symbols > 0)
        memset(s->now.tiles, 0, s->now.symbols * sizeof(uint32_t));
    if (s->now.groups > 0)
        memcpy(s->now.values, s->stages->first, s->now.groups * sizeof(double));
    bool possible = forge_bounds_may_hold(s, stage, s->now.values, s->now.tiles) &&
                    forge_loop_counts_hold(s, plan, 0, s->now.tiles);
    s->now.count = possible ? 1 : 0;
    return true;
}

/* Leaves out what becomes of the choices so far. */
static void leave_out(struct forge_searching *s)
{
    for (uint32_t i = 0; i < s->now.count; i++)
        forge_bounds_remove(s, &s->stages->list[s->stage], forge_values_of(&s->now, i),
                            forge_tiles_of(&s->now, i));
}

/* Chooses the tiles of all loops; *ENDED is false if that was stopped. */
static enum forge_status step_all(struct forge_searching *s, const struct forge_plan *plan,
                                  bool *ended)
{
    *ended = false;
    for (uint32_t k = 0; k < s->goals->symbol_count && !s->misled; k++) {
        enum forge_status status = forge_step_loop(s, plan, k);
        if (status != FORGE_OK || forge_is_stopped(s)) {
            leave_out(s);
            return status;
        }
    }
    *ended = true;
    return FORGE_OK;
}

static enum forge_status run(struct forge_searching *s, const struct forge_model *model,
                             struct forge_rows *rows)
{
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        s->removed[i] = INFINITY;
    rows->enough = true;
    if (!start(s, &model->plans[0]))
        return FORGE_OUT_OF_MEMORY;
    bool ended;
    enum forge_status status = step_all(s, &model->plans[0], &ended);
    if (ended && !s->misled) {
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
        if (status != FORGE_OK)
            leave_out(s);
        rows->complete = status == FORGE_OK && !s->truncated;
    }
    rows->truncated = s->truncated;
    rows->beaten = s->beaten;
    rows->speculated = s->speculated;
    memcpy(rows->low, s->removed, sizeof(rows->low));
    return status;
}

/* --- a template --- */

/* LATE: what uses a fan-out best is only chosen among valid results. */
static void decide_usages(struct forge_goals *goals, bool late)
{
    for (uint32_t g = 0; g < goals->count; g++)
        if (goals->list[g].purpose == FORGE_FOR_USAGE)
            goals->list[g].passes = !late;
}

uint64_t forge_structure_of(const struct forge_space *space, const struct forge_template *template)
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
    /* Of what may use fan-outs too little, not all is allowed in the end. */
    if (search->fronts == NULL || !rows->enough)
        return;
    const struct forge_space *space = search->templates->facts.space;
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count = forge_tracked_levels(space, tracked);
    uint32_t width = search->fronts->width;
    double *points = malloc(((size_t)rows->count * width + 1) * sizeof *points);
    if (points == NULL)
        return;
    for (uint32_t r = 0; r < rows->count; r++)
        forge_results_point(space, rows, r, tracked, tracked_count, &points[(size_t)r * width]);
    forge_fronts_add(search->fronts, forge_structure_of(space, search->template), points,
                     rows->count);
    free(points);
}

static void release(struct forge_searching *s)
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

/* True if some fan-out must be used. What uses it best counts even if an incumbent is better. */
static bool has_usages(const struct forge_goals *goals)
{
    for (uint32_t g = 0; g < goals->count; g++)
        if (goals->list[g].purpose == FORGE_FOR_USAGE)
            return true;
    return false;
}

/* How a template is searched. */
struct attempt {
    const struct forge_model *model;
    const bool *repeats; /* as in forge_goals_make() */
    bool late;           /* what uses a fan-out best is only chosen among valid results */
    bool may_speculate;  /* choices are pruned before that is chosen, too */
};

/* *MISLED: pruning that was speculative may have changed the result. */
static enum forge_status attempt(const struct forge_tile_search *search, const struct attempt *how,
                                 struct forge_rows *rows, bool *misled)
{
    memset(rows, 0, sizeof *rows);
    const struct forge_space *space = search->templates->facts.space;
    struct forge_arena arena = {NULL};
    struct forge_goals *goals = forge_arena_take(&arena, 1, sizeof *goals);
    struct forge_stages *stages = forge_arena_take(&arena, 1, sizeof *stages);
    struct forge_searching s = {
        .search = search,
        .goals = goals,
        .stages = stages,
        .space = space,
        .arena = &arena,
        .structure = forge_structure_of(space, search->template),
        .instances = space->problem.values[space->problem.n_instances] *
                     space->problem.values[forge_space_einsum(space)->n_instances],
        .late = how->late,
        .may_speculate = how->may_speculate && !how->late,
        .rows = rows,
    };
    s.tracked_count = forge_tracked_levels(space, s.tracked);
    s.low = forge_arena_take(&arena, (size_t)s.tracked_count + FORGE_OBJECTIVES, sizeof *s.low);

    enum forge_status status = FORGE_OUT_OF_MEMORY;
    if (goals != NULL && stages != NULL && s.low != NULL)
        status = forge_goals_make(goals, &arena, search->templates, search->template, how->model,
                                  how->repeats);
    if (status == FORGE_OK) {
        decide_usages(goals, how->late);
        s.fused = has_fused(goals);
        s.has_incumbents = search->incumbents != NULL && !has_usages(goals);
        status = forge_stages_make(stages, &arena, goals, search->templates->facts.variable_count);
    }
    if (status == FORGE_OK) {
        s.net = forge_arena_take(&arena, stages->most_groups, sizeof *s.net);
        status = s.net != NULL ? run(&s, how->model, rows) : FORGE_OUT_OF_MEMORY;
    }
    *misled = s.misled;
    release(&s);
    forge_arena_clear(&arena);
    return status;
}

static enum forge_status search_model(const struct forge_tile_search *search,
                                      const struct attempt *how, struct forge_rows *rows)
{
    bool misled;
    enum forge_status status = attempt(search, how, rows, &misled);
    if (status != FORGE_OK || !misled)
        return status;
    struct attempt careful = *how;
    careful.may_speculate = false;
    forge_rows_clear(rows);
    return attempt(search, &careful, rows, &misled);
}

/* If the memory does not suffice for one, it may for others. */
static enum forge_status search_each(const struct forge_tile_search *search,
                                     const struct attempt *how, struct forge_variants *variants)
{
    struct attempt own = *how;
    enum forge_status all = FORGE_OK;
    for (uint32_t v = 0; v < variants->count; v++) {
        own.repeats = &variants->repeats[(size_t)v * variants->loop_count];
        enum forge_status status = search_model(search, &own, &variants->rows[v]);
        if (status != FORGE_OK)
            all = status;
        if (status != FORGE_OK && status != FORGE_OUT_OF_MEMORY)
            break;
    }
    return all;
}

static void clear_variants(struct forge_variants *variants)
{
    for (uint32_t v = 0; v < variants->count; v++)
        forge_rows_clear(&variants->rows[v]);
}

static enum forge_status search_variants(const struct forge_tile_search *search,
                                         const struct attempt *how, struct forge_variants *variants,
                                         struct forge_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    memset(variants->rows, 0, variants->count * sizeof *variants->rows);
    enum forge_status status = search_each(search, how, variants);
    if (status == FORGE_OK && forge_variants_doubt(variants)) {
        struct attempt careful = *how;
        careful.may_speculate = false;
        clear_variants(variants);
        status = search_each(search, &careful, variants);
    }

    /* The first variant has no fused loop that repeats. */
    if (status == FORGE_OK)
        share_results(search, &variants->rows[0]);
    if (!forge_variants_merge(variants, rows) && status == FORGE_OK)
        status = FORGE_OUT_OF_MEMORY;
    clear_variants(variants);
    return status;
}

/* --- all tiles --- */

static enum forge_status search_once(const struct forge_tile_search *search,
                                     const struct attempt *how, struct forge_variants *variants,
                                     struct forge_rows *rows)
{
    if (variants->count > 0)
        return search_variants(search, how, variants, rows);
    enum forge_status status = search_model(search, how, rows);
    if (status == FORGE_OK && search->template->fused_count == 0)
        share_results(search, rows);
    return status;
}

/* If what uses a fan-out best is not valid, something else does. */
static enum forge_status search_all(const struct forge_tile_search *search,
                                    const struct forge_model *model, struct forge_arena *arena,
                                    struct forge_rows *rows)
{
    struct forge_variants variants;
    memset(&variants, 0, sizeof(variants));
    enum forge_status status = forge_variants_list(&variants, arena, search, &model->plans[0]);
    struct attempt how = {.model = model, .may_speculate = true};
    if (status == FORGE_OK)
        status = search_once(search, &how, &variants, rows);
    if (status == FORGE_OK && search->template->usages.count > 0 && rows->complete &&
        !rows->beaten && rows->count == 0) {
        forge_rows_clear(rows);
        how.late = true;
        status = search_once(search, &how, &variants, rows);
    }
    return status;
}

enum forge_status forge_tiles_search(const struct forge_tile_search *search,
                                     struct forge_rows *rows, struct forge_fault *fault)
{
    memset(rows, 0, sizeof *rows);
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
