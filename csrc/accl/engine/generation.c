/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of its devices in a job a rank has open: the first, the second, ...
 *
 * The counts are kept until the process ends, 24 bytes for each name of a job and rank: other ranks
 * compare numbers, and may open their next device of that name at any time. A number that was
 * forgotten would be given again, and its device would be refused, or taken for an earlier one.
 */
#include <stdlib.h>

#include "accl/engine/engine.h"

struct generation {
    struct generation *next;
    uint64_t job;
    uint32_t rank, used;
};

static struct generation *generations;

static struct generation *find(uint64_t job, uint32_t rank)
{
    struct generation *g = generations;
    while (g && (g->job != job || g->rank != rank))
        g = g->next;
    return g;
}

uint32_t generation_of(uint64_t job, uint32_t rank)
{
    device_registry_lock();
    const struct generation *g = find(job, rank);
    uint32_t used = g ? g->used : 0;
    device_registry_unlock();
    return used;
}

void generation_used(uint64_t job, uint32_t rank)
{
    device_registry_lock();
    struct generation *g = find(job, rank);
    if (!g && (g = calloc(1, sizeof *g))) {
        g->job = job;
        g->rank = rank;
        g->next = generations;
        generations = g;
    }
    if (g)
        g->used++;
    device_registry_unlock();
}
