/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/level.h"

#include <stdlib.h>
#include <string.h>

bool fuse_level_start(struct fuse_level *level, const struct fuse_pieces *pieces)
{
    memset(level, 0, sizeof *level);
    if (!fuse_shapes_start(&level->shapes))
        return false;

    level->cells = calloc(1, sizeof *level->cells);
    level->laps = calloc(1, sizeof *level->laps);
    level->values = calloc(fuse_row_width(pieces, &level->shapes.shapes[0]), sizeof(double));
    level->parents = calloc(1, sizeof *level->parents);
    level->ordinals = calloc(1, sizeof *level->ordinals);
    if (level->cells == NULL || level->laps == NULL || level->values == NULL ||
        level->parents == NULL || level->ordinals == NULL)
        return false;
    level->cells[0].rows = 1;
    level->cell_count = 1;
    level->row_count = 1;
    return true;
}

void fuse_level_drop(struct fuse_level *level)
{
    fuse_shapes_clear(&level->shapes);
    free(level->lives);
    free(level->cells);
    free(level->laps);
    free(level->values);
    level->lives = NULL;
    level->cells = NULL;
    level->laps = NULL;
    level->values = NULL;
    level->cell_count = 0;
}

void fuse_level_clear(struct fuse_level *level)
{
    fuse_level_drop(level);
    free(level->parents);
    free(level->ordinals);
    memset(level, 0, sizeof *level);
}
