/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/incumbents.h"

#include <string.h>

#include "accelforge/model/model.h"

/* Part by which a number that is less is so whatever the rounding. */
#define CLEARLY 1e-9

static double product_of(const double *objectives)
{
    return objectives[FORGE_TOTAL_ENERGY] * objectives[FORGE_TOTAL_LATENCY];
}

/* Adds what one number says to whether an incumbent is better or worse; LOW may be infinite. */
static void compare(double incumbent, double low, bool *better, bool *worse)
{
    *worse = *worse || !(incumbent <= low);
    *better = *better || incumbent < (1 - CLEARLY) * low;
}

bool forge_incumbents_beat(const struct forge_incumbents *incumbents, const double *low)
{
    if (incumbents->count == 0)
        return false;
    double all[FORGE_OBJECTIVES];
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        all[i] = low[i] + incumbents->rest[i];

    for (size_t r = 0; r < incumbents->count; r++) {
        const double *point = &incumbents->points[r * FORGE_OBJECTIVES];
        bool better = false;
        bool worse = false;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            if (incumbents->compared[i])
                compare(point[i], all[i], &better, &worse);
        if (incumbents->product)
            compare(product_of(point), product_of(all), &better, &worse);
        if (better && !worse)
            return true;
    }
    return false;
}

struct forge_incumbents forge_incumbents_of_template(const struct forge_incumbents *incumbents,
                                                     size_t t, size_t count)
{
    struct forge_incumbents own = *incumbents;
    if (incumbents->rests != NULL && incumbents->low_count == count)
        memcpy(own.rest, &incumbents->rests[t * FORGE_OBJECTIVES], sizeof own.rest);
    return own;
}

bool forge_incumbents_beat_template(const struct forge_incumbents *incumbents, size_t t,
                                    size_t count)
{
    return incumbents->low != NULL && incumbents->low_count == count &&
           forge_incumbents_beat(incumbents, &incumbents->low[t * FORGE_OBJECTIVES]);
}
