/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/front.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/search/pareto.h"

/* Part by which a number that is less is so whatever the rounding. */
#define CLEARLY 1e-9

void forge_fronts_start(struct forge_fronts *fronts, uint32_t width)
{
    memset(fronts, 0, sizeof *fronts);
    pthread_mutex_init(&fronts->lock, NULL);
    fronts->width = width;
    atomic_init(&fronts->version, 1);
}

void forge_fronts_clear(struct forge_fronts *fronts)
{
    while (fronts->first != NULL) {
        struct forge_front *front = fronts->first;
        fronts->first = front->next;
        free(front->points);
        free(front);
    }
    pthread_mutex_destroy(&fronts->lock);
}

static struct forge_front *find(struct forge_fronts *fronts, uint64_t structure)
{
    for (struct forge_front *front = fronts->first; front != NULL; front = front->next)
        if (front->structure == structure)
            return front;
    return NULL;
}

static bool dominates(const double *a, const double *b, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (!(a[i] <= b[i]))
            return false;
    return true;
}

static void add_point(struct forge_front *front, const double *point, uint32_t width)
{
    uint32_t kept = 0;
    for (uint32_t p = 0; p < front->count; p++)
        if (dominates(&front->points[(size_t)p * width], point, width))
            return;
    for (uint32_t p = 0; p < front->count; p++) {
        if (dominates(point, &front->points[(size_t)p * width], width))
            continue;
        memmove(&front->points[(size_t)kept * width], &front->points[(size_t)p * width],
                width * sizeof(double));
        kept++;
    }
    front->count = kept;

    if (front->count == front->room) {
        uint32_t room = 2 * front->room + 16;
        double *points = realloc(front->points, (size_t)room * width * sizeof(double));
        if (points == NULL)
            return;
        front->points = points;
        front->room = room;
    }
    memcpy(&front->points[(size_t)front->count * width], point, width * sizeof(double));
    front->count++;
}

void forge_fronts_add(struct forge_fronts *fronts, uint64_t structure, const double *points,
                      uint32_t count)
{
    if (fronts->width == 0 || count == 0)
        return;
    pthread_mutex_lock(&fronts->lock);
    struct forge_front *front = find(fronts, structure);
    if (front == NULL) {
        front = calloc(1, sizeof *front);
        if (front != NULL) {
            front->structure = structure;
            front->next = fronts->first;
            fronts->first = front;
        }
    }
    for (uint32_t p = 0; front != NULL && p < count; p++)
        add_point(front, &points[(size_t)p * fronts->width], fronts->width);
    atomic_fetch_add(&fronts->version, 1);
    pthread_mutex_unlock(&fronts->lock);
}

void forge_front_refresh(struct forge_fronts *fronts, uint64_t structure,
                         struct forge_front_copy *copy)
{
    uint64_t version = atomic_load(&fronts->version);
    if (copy->version == version && copy->structure == structure)
        return;
    pthread_mutex_lock(&fronts->lock);
    const struct forge_front *front = find(fronts, structure);
    copy->count = 0;
    copy->version = version;
    copy->structure = structure;
    if (front != NULL && front->count > copy->room) {
        double *points =
            realloc(copy->points, (size_t)front->count * fronts->width * sizeof(double));
        if (points != NULL) {
            copy->points = points;
            copy->room = front->count;
        }
    }
    if (front != NULL && front->count <= copy->room && front->count > 0) {
        memcpy(copy->points, front->points, (size_t)front->count * fronts->width * sizeof(double));
        copy->count = front->count;
    }
    pthread_mutex_unlock(&fronts->lock);
}

bool forge_front_beats(const struct forge_front_copy *copy, uint32_t width, const double *low)
{
    for (uint32_t p = 0; p < copy->count; p++) {
        const double *point = &copy->points[(size_t)p * width];
        bool better = false;
        bool worse = false;
        for (uint32_t i = 0; i < width && !worse; i++) {
            worse = point[i] > low[i];
            better = better || point[i] < low[i] - CLEARLY * (low[i] < 0 ? -low[i] : low[i]);
        }
        if (better && !worse)
            return true;
    }
    return false;
}
