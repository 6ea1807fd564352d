/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/goal.h"

#include <stdlib.h>
#include <string.h>

/* Sums in another order differ by less than the first; what is worse by the second is worse. */
#define ALIKE 1e-12
#define WORSE 1e-9

uint32_t fuse_measure(const struct fuse_goal *goal, const struct fuse_pieces *pieces,
                      const double *objectives, const double *peaks, size_t stride,
                      double *measures)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pieces->tables->objective_count; i++)
        if (goal->wanted >> i & 1)
            measures[count++] = objectives[i];
    if (goal->product)
        measures[count++] = objectives[goal->energy] * objectives[goal->latency];
    for (uint32_t m = 0; goal->usage && m < pieces->tracked_count; m++)
        measures[count++] = peaks[m * stride];
    return count;
}

bool fuse_know(struct fuse_known *known, const double *measures, uint32_t count)
{
    known->width = count;
    if (!fuse_reserve(&known->measures, &known->room, (known->count + 1) * count, sizeof(double)))
        return false;
    memcpy(known->measures + known->count * count, measures, count * sizeof(double));
    known->count++;
    return true;
}

bool fuse_is_beaten(const struct fuse_known *known, const double *measures)
{
    for (size_t k = 0; k < known->count; k++) {
        const double *result = known->measures + k * known->width;
        bool worse = false;
        uint32_t i = 0;
        while (i < known->width && measures[i] >= result[i] * (1 - ALIKE)) {
            worse = worse || measures[i] > result[i] * (1 + WORSE);
            i++;
        }
        if (i == known->width && worse)
            return true;
    }
    return false;
}

void fuse_known_clear(struct fuse_known *known)
{
    free(known->measures);
    memset(known, 0, sizeof *known);
}
