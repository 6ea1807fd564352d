/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/variants.h"

#include <math.h>
#include <string.h>

#include "accelforge/search/pareto.h"
#include "accelforge/search/symbols.h"

/* No template has more variants. */
#define MAX_VARIANTS 128

static bool is_allowed(const struct forge_tile_search *search, const struct forge_plan *plan,
                       const bool *repeats)
{
    const struct forge_settings *settings = &search->templates->facts.space->settings;
    uint32_t all = 0;
    for (uint32_t l = 0; l < search->template->fused_count; l++) {
        uint32_t alike = 0;
        for (uint32_t k = 0; k < search->template->fused_count; k++)
            alike += repeats[k] && plan->loops[k].variable == plan->loops[l].variable;
        if (alike > settings->max_fused_loops_per_rank_variable)
            return false;
        all += repeats[l];
    }
    return all <= settings->max_fused_loops;
}

/* Adds the sets that have SET and some of the loops from FIRST on. */
static bool add_variants(struct forge_variants *variants, const struct forge_tile_search *search,
                         const struct forge_plan *plan, bool *set, uint32_t first)
{
    if (!is_allowed(search, plan, set))
        return true;
    if (variants->count == MAX_VARIANTS)
        return false;
    memcpy(&variants->repeats[(size_t)variants->count * variants->loop_count], set,
           variants->loop_count * sizeof *set);
    variants->count++;
    for (uint32_t l = first; l < search->template->fused_count; l++) {
        if (!forge_symbols_is_free(search->templates->facts.space, plan, l))
            continue;
        set[l] = true;
        bool added = add_variants(variants, search, plan, set, l + 1);
        set[l] = false;
        if (!added)
            return false;
    }
    return true;
}

enum forge_status forge_variants_list(struct forge_variants *variants, struct forge_arena *arena,
                                      const struct forge_tile_search *search,
                                      const struct forge_plan *plan)
{
    uint32_t free_count = 0;
    for (uint32_t l = 0; l < search->template->fused_count; l++)
        free_count += forge_symbols_is_free(search->templates->facts.space, plan, l);
    variants->count = 0;
    if (search->templates->facts.space->settings.max_fused_loops >= free_count)
        return FORGE_OK;

    variants->loop_count = plan->loop_count;
    variants->repeats =
        forge_arena_take(arena, (size_t)MAX_VARIANTS * plan->loop_count, sizeof(bool));
    variants->rows = forge_arena_take(arena, MAX_VARIANTS, sizeof *variants->rows);
    bool *set = forge_arena_take(arena, plan->loop_count, sizeof *set);
    if (variants->repeats == NULL || variants->rows == NULL || set == NULL)
        return FORGE_OUT_OF_MEMORY;

    if (!add_variants(variants, search, plan, set, 0))
        variants->count = 0;
    return FORGE_OK;
}

/* True if A uses fan-outs less than B. */
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

/* The variant that uses fan-outs best; NULL if nothing is known of any. */
static const struct forge_rows *find_best(const struct forge_variants *variants)
{
    const struct forge_rows *best = NULL;
    for (uint32_t v = 0; v < variants->count; v++) {
        const struct forge_rows *rows = &variants->rows[v];
        bool known = rows->count > 0 || (rows->beaten && !rows->speculated);
        if (known && (best == NULL || uses_less(best, rows)))
            best = rows;
    }
    return best;
}

bool forge_variants_doubt(const struct forge_variants *variants)
{
    const struct forge_rows *best = find_best(variants);
    for (uint32_t v = 0; best != NULL && !best->enough && v < variants->count; v++)
        if (variants->rows[v].speculated && variants->rows[v].count == 0)
            return true;
    return false;
}

bool forge_variants_merge(const struct forge_variants *variants, struct forge_rows *all)
{
    const struct forge_rows *most = find_best(variants);
    all->complete = true;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        all->low[i] = INFINITY;
    for (uint32_t v = 0; v < variants->count; v++) {
        const struct forge_rows *rows = &variants->rows[v];
        all->complete = all->complete && rows->complete;
        all->truncated = all->truncated || rows->truncated;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            all->low[i] = fmin(all->low[i], rows->low[i]);
        all->beaten = all->beaten || rows->beaten;
    }

    /* MOST is copied, as its rows may move. */
    struct forge_rows best;
    memset(&best, 0, sizeof(best));
    if (most != NULL)
        best = *most;
    for (uint32_t v = 0; v < variants->count; v++)
        if (variants->rows[v].count > 0 && !uses_less(&variants->rows[v], &best) &&
            !forge_rows_append(all, &variants->rows[v]))
            return false;
    all->enough = most == NULL || best.enough;
    return true;
}
