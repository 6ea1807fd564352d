/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/rows.h"

#include <stdlib.h>
#include <string.h>

void forge_rows_clear(struct forge_rows *rows)
{
    free(rows->tiles);
    free(rows->objectives);
    free(rows->shares);
    free(rows->notes);
    free(rows->above);
    memset(rows, 0, sizeof *rows);
}

bool forge_rows_append(struct forge_rows *rows, struct forge_rows *more)
{
    if (rows->notes == NULL) {
        struct forge_rows kept = *rows;
        *rows = *more;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            rows->low[i] = kept.low[i];
        rows->complete = kept.complete;
        rows->truncated = kept.truncated;
        rows->beaten = kept.beaten;
        memset(more, 0, sizeof *more);
        return true;
    }
    size_t count = (size_t)rows->count + more->count;
    uint32_t *tiles = realloc(rows->tiles, (count * rows->loop_count + 1) * sizeof *tiles);
    rows->tiles = tiles != NULL ? tiles : rows->tiles;
    double *objectives =
        realloc(rows->objectives, (FORGE_OBJECTIVES * count + 1) * sizeof *objectives);
    rows->objectives = objectives != NULL ? objectives : rows->objectives;
    double *shares = realloc(rows->shares, (count * rows->holder_count + 1) * sizeof *shares);
    rows->shares = shares != NULL ? shares : rows->shares;
    if (tiles == NULL || objectives == NULL || shares == NULL)
        return false;
    if (more->count > 0) {
        memcpy(&tiles[(size_t)rows->count * rows->loop_count], more->tiles,
               (size_t)more->count * rows->loop_count * sizeof *tiles);
        memcpy(&objectives[FORGE_OBJECTIVES * (size_t)rows->count], more->objectives,
               FORGE_OBJECTIVES * (size_t)more->count * sizeof *objectives);
        memcpy(&shares[(size_t)rows->count * rows->holder_count], more->shares,
               (size_t)more->count * rows->holder_count * sizeof *shares);
    }
    rows->count = (uint32_t)count;
    rows->room = (uint32_t)count;
    return true;
}
