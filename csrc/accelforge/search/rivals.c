/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/rivals.h"

#include "accelforge/model/model.h"

/* Part by which a number that is less is so whatever the rounding. */
#define CLEARLY 1e-9

static double product_of(const double *objectives)
{
    return objectives[FORGE_TOTAL_ENERGY] * objectives[FORGE_TOTAL_LATENCY];
}

/* Adds what one number says to whether a rival is better or worse. */
static void compare(double rival, double low, bool *better, bool *worse)
{
    *worse = *worse || !(rival <= low);
    *better = *better || rival < low - CLEARLY * low;
}

bool forge_rivals_beat(const struct forge_rivals *rivals, const double *low)
{
    if (rivals->count == 0)
        return false;
    double all[FORGE_OBJECTIVES];
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        all[i] = low[i] + rivals->rest[i];

    for (size_t r = 0; r < rivals->count; r++) {
        const double *point = &rivals->points[r * FORGE_OBJECTIVES];
        bool better = false;
        bool worse = false;
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            if (rivals->compared[i])
                compare(point[i], all[i], &better, &worse);
        if (rivals->product)
            compare(product_of(point), product_of(all), &better, &worse);
        if (better && !worse)
            return true;
    }
    return false;
}

bool forge_rivals_beat_template(const struct forge_rivals *rivals, size_t t, size_t count)
{
    return rivals->low != NULL && rivals->low_count == count &&
           forge_rivals_beat(rivals, &rivals->low[t * FORGE_OBJECTIVES]);
}
