/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/scratch.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

/* Takes ROOM bytes of the block that is laid out: first to measure it, then to fill it. */
static void *take(char *block, size_t *used, size_t count, size_t size)
{
    void *place = block == NULL ? NULL : block + *used;
    size_t bytes = count * size + ALIGNMENT - 1;
    *used += bytes - bytes % ALIGNMENT;
    return place;
}

/* The counts are bounded by FORGE_MAX_RECORDS: the sum cannot overflow. */
static size_t lay_out(struct forge_scratch *s, const struct forge_model *model, char *block)
{
    size_t used = 0;
    s->paces = take(block, &used, model->loop_total, sizeof *s->paces);
    s->shares = take(block, &used, model->holder_total, sizeof(double));
    s->values = take(block, &used, model->problem.value_count, sizeof(double));
    s->traffic = take(block, &used, model->most_holders, sizeof *s->traffic);
    s->prefixes = take(block, &used, 3 * ((size_t)model->most_loops + 1), sizeof(double));
    s->unit_reads = take(block, &used, model->most_levels, sizeof(double));
    s->unit_writes = take(block, &used, model->most_levels, sizeof(double));
    s->reserved = take(block, &used, model->most_levels, sizeof(double));
    s->used = take(block, &used, model->most_dimensions, sizeof(double));
    s->calls = take(block, &used, model->most_actions, sizeof(double));
    s->dimension_bases = take(block, &used, model->most_levels, sizeof(uint32_t));
    s->unit_tile = take(block, &used, model->most_variables, sizeof(bool));
    s->busy = take(block, &used, model->most_levels, sizeof(bool));
    return used;
}

struct forge_scratch *forge_scratch_create(const struct forge_model *model)
{
    struct forge_scratch *scratch = calloc(1, sizeof *scratch);
    if (scratch == NULL)
        return NULL;

    size_t bytes = lay_out(scratch, model, NULL);
    scratch->block = calloc(1, bytes);
    if (scratch->block == NULL) {
        free(scratch);
        return NULL;
    }
    lay_out(scratch, model, scratch->block);
    scratch->model = model;
    if (model->problem.value_count > 0)
        memcpy(scratch->values, model->problem.values, model->problem.value_count * sizeof(double));
    return scratch;
}

void forge_scratch_destroy(struct forge_scratch *scratch)
{
    if (scratch == NULL)
        return;
    free(scratch->block);
    free(scratch);
}
