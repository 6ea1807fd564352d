/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/generation.h"

#include <stdlib.h>

#include "accl/base/fork.h"

struct generation {
    struct generation *next;
    uint64_t job;
    uint32_t rank, used;
};

static struct generation *generations;

static struct generation *find(uint64_t job, uint32_t rank)
{
    struct generation *g = generations;
    while (g != NULL && (g->job != job || g->rank != rank))
        g = g->next;
    return g;
}

uint32_t acclib_generation_of(uint64_t job, uint32_t rank)
{
    acclib_fork_lock();
    const struct generation *g = find(job, rank);
    uint32_t used = g != NULL ? g->used : 0;
    acclib_fork_unlock();
    return used;
}

void acclib_generation_used(uint64_t job, uint32_t rank)
{
    acclib_fork_lock();
    struct generation *g = find(job, rank);
    if (g == NULL && (g = calloc(1, sizeof *g)) != NULL) {
        g->job = job;
        g->rank = rank;
        g->next = generations;
        generations = g;
    }

    if (g != NULL)
        g->used++;
    acclib_fork_unlock();
}
