/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accelforge/model/scratch.h"
#include "accelforge/search/pareto.h"

/* --- the problem of a template --- */

static struct forge_step step_of(const struct forge_node *node, uint32_t first_index,
                                 uint32_t *tile)
{
    struct forge_step step = {.initial = FORGE_NONE};
    step.level = node->level;
    step.variable = node->variable;
    step.dimension = node->dimension;
    switch ((enum forge_node_kind)node->kind) {
    case FORGE_NODE_HOLD:
        step.kind = FORGE_HOLD;
        step.variable = 0;
        step.dimension = 0;
        step.persistent = node->persistent;
        step.tensors = (struct forge_span){first_index + node->tensor, 1};
        break;
    case FORGE_NODE_TEMPORAL:
        step.kind = FORGE_TEMPORAL;
        step.level = 0;
        step.dimension = 0;
        step.tile = (*tile)++;
        break;
    case FORGE_NODE_SPATIAL:
        step.kind = FORGE_SPATIAL;
        step.tile = (*tile)++;
        break;
    }
    return step;
}

static void *copy(struct forge_arena *arena, const void *source, size_t count, size_t more,
                  size_t size)
{
    void *place = forge_arena_take(arena, count + more, size);
    if (place != NULL && count > 0)
        memcpy(place, source, count * size);
    return place;
}

enum forge_status forge_template_problem(const struct forge_templates *templates,
                                         const struct forge_template *template,
                                         struct forge_arena *arena, struct forge_problem *problem)
{
    const struct forge_space *space = templates->facts.space;
    const struct forge_problem *base = &space->problem;
    *problem = *base;
    uint32_t tensors = templates->facts.tensor_count;
    struct forge_einsum *einsum = copy(arena, base->einsums, 1, 0, sizeof *einsum);
    double *values =
        copy(arena, base->values, base->value_count, template->loop_count, sizeof *values);
    uint8_t *numbers =
        copy(arena, base->numbers, base->value_count, template->loop_count, sizeof *numbers);
    uint32_t *indices = copy(arena, base->indices, base->index_count, tensors, sizeof *indices);
    struct forge_step *steps =
        forge_arena_take(arena, (size_t)template->node_count + 1, sizeof *steps);
    if (einsum == NULL || values == NULL || numbers == NULL || indices == NULL || steps == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t t = 0; t < tensors; t++)
        indices[base->index_count + t] = t;
    for (uint32_t l = 0; l < template->loop_count; l++) {
        values[base->value_count + l] = 1;
        numbers[base->value_count + l] = FORGE_POSITIVE;
    }
    uint32_t tile = (uint32_t)base->value_count;
    for (uint32_t n = 0; n < template->node_count; n++) {
        steps[n] = step_of(&template->nodes[n], (uint32_t)base->index_count, &tile);
        steps[n].node = n;
    }
    steps[template->node_count] = base->steps[einsum->steps.first];
    steps[template->node_count].node = template->node_count;

    einsum->steps = (struct forge_span){0, template->node_count + 1};
    problem->einsums = einsum;
    problem->values = values;
    problem->numbers = numbers;
    problem->value_count = base->value_count + template->loop_count;
    problem->indices = indices;
    problem->index_count = base->index_count + tensors;
    problem->steps = steps;
    problem->step_count = (size_t)template->node_count + 1;
    return FORGE_OK;
}

uint32_t forge_tracked_levels(const struct forge_space *space, uint32_t *levels)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < forge_space_einsum(space)->levels.count; l++) {
        const struct forge_level *level = forge_space_level(space, l);
        if (level->kind != FORGE_MEMORY || isinf(space->problem.values[level->size]) ||
            !(space->usage || space->tracked[l]))
            continue;
        if (levels != NULL)
            levels[count] = l;
        count++;
    }
    return count;
}

/* --- notes --- */

static bool make_notes(const struct forge_plan *plan, struct forge_rows *rows)
{
    uint32_t loops = plan->loop_count;
    rows->holder_count = plan->holder_count;
    rows->loop_count = loops;
    rows->notes = calloc((size_t)plan->holder_count + 1, sizeof *rows->notes);
    rows->above = calloc((size_t)plan->holder_count * loops + 1, sizeof *rows->above);
    if (rows->notes == NULL || rows->above == NULL)
        return false;

    for (uint32_t h = 0; h < plan->holder_count; h++) {
        const struct forge_holder *holder = &plan->holders[h];
        const struct forge_path *path = &plan->paths[holder->tensor];
        struct forge_note *note = &rows->notes[h];
        note->level = holder->level;
        note->tensor = holder->tensor;
        note->backing = path->holders.first == h;
        note->persistent = holder->persistent;
        note->toll = holder->toll;
        for (uint32_t i = 0; i < holder->reserved_above && !holder->persistent; i++)
            rows->above[(size_t)h * loops + plan->hops[path->hops + i].loop] = true;
    }
    for (uint32_t i = 0; i < plan->shown_count; i++)
        rows->notes[plan->shown[i]].shown = !plan->holders[plan->shown[i]].toll;
    return true;
}

void forge_results_repeats(const struct forge_templates *templates,
                           const struct forge_template *template, const uint32_t *tiles,
                           bool *repeats)
{
    const struct forge_space *space = templates->facts.space;
    uint32_t extents[FORGE_MAX_MEMBERS];
    for (uint32_t v = 0; v < templates->facts.variable_count; v++)
        extents[v] =
            (uint32_t)space->problem.values
                [space->problem.variables[forge_space_einsum(space)->variables.first + v].bound];
    uint32_t loop = 0;
    for (uint32_t n = 0; n < template->node_count; n++) {
        const struct forge_node *node = &template->nodes[n];
        if (node->kind == FORGE_NODE_HOLD)
            continue;
        repeats[loop] = tiles[loop] != extents[node->variable];
        extents[node->variable] = tiles[loop];
        loop++;
    }
}

uint32_t forge_results_depths(const struct forge_template *template, const struct forge_rows *rows,
                              const bool *repeats, uint32_t *depths)
{
    uint32_t fused = 0;
    for (uint32_t l = 0; l < template->fused_count; l++)
        fused += repeats[l];
    for (uint32_t h = 0; h < rows->holder_count; h++) {
        uint32_t depth = 0;
        for (uint32_t l = 0; l < rows->loop_count; l++)
            depth += rows->above[(size_t)h * rows->loop_count + l] && repeats[l];
        depths[h] = depth < fused ? depth : fused;
    }
    return fused;
}

static uint32_t take_objectives(const struct forge_space *space, const struct forge_rows *rows,
                                uint32_t r, double *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        if (space->wanted[i])
            numbers[count++] = rows->objectives[FORGE_OBJECTIVES * (size_t)r + i];
    return count;
}

void forge_results_point(const struct forge_space *space, const struct forge_rows *rows, uint32_t r,
                         const uint32_t *tracked, uint32_t tracked_count, double *point)
{
    uint32_t count = take_objectives(space, rows, r, point);
    for (uint32_t i = 0; i < tracked_count; i++) {
        double share = 0;
        for (uint32_t h = 0; h < rows->holder_count; h++)
            if (rows->notes[h].shown && rows->notes[h].level == tracked[i])
                share += rows->shares[(size_t)r * rows->holder_count + h];
        point[count++] = share;
    }
}

/* --- evaluation --- */

struct evaluating {
    const struct forge_result_request *request;
    struct forge_scratch *scratch;
    double *columns;
    struct forge_rows *rows;
    uint32_t *choice_of_row;
    double *usage; /* per row, of one goal */
};

static bool grow_rows(struct forge_rows *rows)
{
    if (rows->count < rows->room)
        return true;
    uint32_t room = 2 * rows->room + 16;
    uint32_t *tiles = realloc(rows->tiles, ((size_t)room * rows->loop_count + 1) * sizeof *tiles);
    rows->tiles = tiles != NULL ? tiles : rows->tiles;
    double *objectives =
        realloc(rows->objectives, FORGE_OBJECTIVES * (size_t)room * sizeof *objectives);
    rows->objectives = objectives != NULL ? objectives : rows->objectives;
    double *shares =
        realloc(rows->shares, ((size_t)room * rows->holder_count + 1) * sizeof *shares);
    rows->shares = shares != NULL ? shares : rows->shares;
    if (tiles == NULL || objectives == NULL || shares == NULL)
        return false;
    rows->room = room;
    return true;
}

/* Adds a choice as a row, if it is valid. */
static bool evaluate(struct evaluating *e, uint32_t choice)
{
    const struct forge_result_request *request = e->request;
    const struct forge_model *model = request->model;
    const struct forge_plan *plan = &model->plans[0];
    struct forge_rows *rows = e->rows;
    if (!grow_rows(rows))
        return false;

    uint32_t *tiles = &rows->tiles[(size_t)rows->count * rows->loop_count];
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        uint32_t symbol = request->goals->symbol_of_loop[l];
        tiles[l] = symbol == FORGE_NONE ? request->goals->fixed[l]
                                        : forge_tiles_of(request->choices, choice)[symbol];
        e->scratch->values[plan->loops[l].tile] = tiles[l];
    }
    struct forge_fault fault;
    if (forge_model_evaluate(model, e->scratch, e->scratch->values, e->columns, &fault) != FORGE_OK)
        return true;

    memcpy(&rows->objectives[FORGE_OBJECTIVES * (size_t)rows->count], e->columns,
           FORGE_OBJECTIVES * sizeof(double));
    double *shares = &rows->shares[(size_t)rows->count * rows->holder_count];
    for (uint32_t h = 0; h < rows->holder_count; h++)
        shares[h] = rows->notes[h].shown ? e->scratch->shares[h] : 0;
    e->choice_of_row[rows->count++] = choice;
    return true;
}

static void move_row(struct evaluating *e, uint32_t to, uint32_t from)
{
    struct forge_rows *rows = e->rows;
    if (to == from)
        return;
    memcpy(&rows->tiles[(size_t)to * rows->loop_count],
           &rows->tiles[(size_t)from * rows->loop_count], rows->loop_count * sizeof(uint32_t));
    memcpy(&rows->objectives[FORGE_OBJECTIVES * (size_t)to],
           &rows->objectives[FORGE_OBJECTIVES * (size_t)from], FORGE_OBJECTIVES * sizeof(double));
    memcpy(&rows->shares[(size_t)to * rows->holder_count],
           &rows->shares[(size_t)from * rows->holder_count], rows->holder_count * sizeof(double));
    e->choice_of_row[to] = e->choice_of_row[from];
}

/* Keeps rows that use enough of a fan-out; if none does, those that use most of it. */
static void filter_usage(struct evaluating *e, uint32_t g)
{
    const struct forge_result_request *request = e->request;
    double least = request->goals->list[g].least;
    struct forge_span groups = request->stage->goals[g].groups;
    double best = 0;
    for (uint32_t r = 0; r < e->rows->count; r++) {
        e->usage[r] = groups.count == 0
                          ? 0
                          : forge_values_of(request->choices, e->choice_of_row[r])[groups.first];
        best = fmax(best, e->usage[r]);
    }

    uint32_t kept = 0;
    double wanted = fmin(least, best);
    e->rows->enough = e->rows->enough && wanted >= least;
    if (request->late && e->rows->usage_count < FORGE_MAX_USAGES)
        e->rows->usages[e->rows->usage_count++] = wanted;
    for (uint32_t r = 0; r < e->rows->count; r++)
        if (forge_at_most(wanted, e->usage[r], 0))
            move_row(e, kept++, r);
    e->rows->count = kept;
}

/* --- the best rows --- */

/* Objectives, then what each tracked memory holds down to each depth. */
uint32_t forge_results_criteria(const struct forge_space *space, const struct forge_rows *rows,
                                uint32_t r, const uint32_t *depths, uint32_t fused,
                                const uint32_t *tracked, uint32_t tracked_count, double *criteria)
{
    uint32_t count = take_objectives(space, rows, r, criteria);
    for (uint32_t i = 0; i < tracked_count; i++) {
        double sum = 0;
        for (uint32_t depth = 0; depth <= fused; depth++) {
            for (uint32_t h = 0; h < rows->holder_count; h++)
                if (rows->notes[h].shown && rows->notes[h].level == tracked[i] &&
                    depths[h] == depth)
                    sum += rows->shares[(size_t)r * rows->holder_count + h];
            criteria[count++] = sum;
        }
    }
    return count;
}

void forge_results_tolerances(const struct forge_space *space, double *tolerances, uint32_t width)
{
    uint32_t objectives = forge_space_objectives(space);
    for (uint32_t i = 0; i < width; i++)
        tolerances[i] = i < objectives || space->usage ? space->settings.objective_tolerance
                                                       : space->settings.resource_usage_tolerance;
}

struct keeping {
    struct forge_arena arena;
    struct forge_choice_table keys; /* the tiles of fused loops */
    double *criteria;
    double *tolerances;
    uint32_t *kept;
    uint32_t *scratch;
    uint32_t *depths;
    bool *repeats;
    bool *good;
};

static bool prepare(struct keeping *k, const struct forge_rows *rows, uint32_t width)
{
    size_t count = (size_t)rows->count + 1;
    k->criteria = forge_arena_take(&k->arena, count * width, sizeof *k->criteria);
    k->tolerances = forge_arena_take(&k->arena, width, sizeof *k->tolerances);
    k->kept = forge_arena_take(&k->arena, count, sizeof *k->kept);
    k->scratch = forge_arena_take(&k->arena, count, sizeof *k->scratch);
    k->depths = forge_arena_take(&k->arena, rows->holder_count, sizeof *k->depths);
    k->repeats = forge_arena_take(&k->arena, rows->loop_count, sizeof *k->repeats);
    k->good = forge_arena_take(&k->arena, count, sizeof *k->good);
    return k->criteria != NULL && k->tolerances != NULL && k->kept != NULL && k->scratch != NULL &&
           k->depths != NULL && k->repeats != NULL && k->good != NULL;
}

/* Rows with equal fused tiles are compared. The tiles of the final choices say which are equal. */
static bool keep_best(struct evaluating *e, struct keeping *k)
{
    const struct forge_result_request *request = e->request;
    const struct forge_template *template = request->template;
    const struct forge_space *space = request->templates->facts.space;
    struct forge_rows *rows = e->rows;
    uint32_t tracked[FORGE_MAX_LEVELS];
    uint32_t tracked_count = forge_tracked_levels(space, tracked);
    uint32_t width = FORGE_OBJECTIVES + tracked_count * (template->fused_count + 1);
    if (!prepare(k, rows, width))
        return false;
    forge_results_tolerances(space, k->tolerances, width);

    struct forge_choice_table table = *request->choices;
    table.count = rows->count;
    uint32_t *tiles =
        forge_arena_take(&k->arena, (size_t)rows->count * table.symbols + 1, sizeof *tiles);
    if (tiles == NULL)
        return false;
    for (uint32_t r = 0; r < rows->count; r++)
        memcpy(&tiles[(size_t)r * table.symbols],
               forge_tiles_of(request->choices, e->choice_of_row[r]),
               table.symbols * sizeof *tiles);
    table.tiles = tiles;
    if (!forge_sort_choices(request->sorting, &table, request->stage->keys))
        return false;

    const struct forge_sorting *sorting = request->sorting;
    for (uint32_t c = 0; c < sorting->class_count; c++) {
        uint32_t first = sorting->starts[c];
        uint32_t count = sorting->starts[c + 1] - first;
        uint32_t used = 0;
        uint32_t fused = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t r = sorting->order[first + i];
            forge_results_repeats(request->templates, template,
                                  &rows->tiles[(size_t)r * rows->loop_count], k->repeats);
            fused = forge_results_depths(template, rows, k->repeats, k->depths);
            used = forge_results_criteria(space, rows, r, k->depths, fused, tracked, tracked_count,
                                          &k->criteria[(size_t)i * used]);
        }
        uint32_t kept = forge_pareto(k->criteria, count, used, k->tolerances, k->kept, k->scratch);
        for (uint32_t i = 0; i < kept; i++)
            k->good[sorting->order[first + k->kept[i]]] = true;
    }

    uint32_t kept = 0;
    for (uint32_t r = 0; r < rows->count; r++)
        if (k->good[r])
            move_row(e, kept++, r);
    rows->count = kept;
    return true;
}

/* --- all results --- */

static bool make_rows(struct evaluating *e)
{
    const struct forge_result_request *request = e->request;
    for (uint32_t i = 0; i < request->choices->count; i++)
        if (!evaluate(e, i))
            return false;
    for (uint32_t g = 0; g < request->goals->count; g++)
        if (request->goals->list[g].purpose == FORGE_FOR_USAGE)
            filter_usage(e, g);

    struct keeping keeping = {.arena = {NULL}};
    bool done = keep_best(e, &keeping);
    forge_arena_clear(&keeping.arena);
    return done;
}

enum forge_status forge_results_make(const struct forge_result_request *request,
                                     struct forge_rows *rows)
{
    const struct forge_model *model = request->model;
    struct evaluating e = {.request = request, .rows = rows};
    if (!make_notes(&model->plans[0], rows))
        return FORGE_OUT_OF_MEMORY;
    e.scratch = forge_scratch_create(model);
    e.columns = calloc(model->column_count, sizeof *e.columns);
    e.choice_of_row = calloc((size_t)request->choices->count + 1, sizeof *e.choice_of_row);
    e.usage = calloc((size_t)request->choices->count + 1, sizeof *e.usage);

    bool done = e.scratch != NULL && e.columns != NULL && e.choice_of_row != NULL &&
                e.usage != NULL && make_rows(&e);
    forge_scratch_destroy(e.scratch);
    free(e.columns);
    free(e.choice_of_row);
    free(e.usage);
    return done ? FORGE_OK : FORGE_OUT_OF_MEMORY;
}
