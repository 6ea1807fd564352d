/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/generation.h"

#include <stdlib.h>

#include "accl/base/fork.h"
#include "common/list.h"

struct generation {
    struct list_node in_process;
    uint64_t job;
    uint32_t rank, used;
};

static struct list generations;

static struct generation *find(uint64_t job, uint32_t rank)
{
    for (struct list_node *at = generations.first; at != NULL; at = at->next) {
        struct generation *g = LIST_ENTRY(at, struct generation, in_process);
        if (g->job == job && g->rank == rank)
            return g;
    }

    return NULL;
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
        list_prepend(&generations, &g->in_process);
    }

    if (g != NULL)
        g->used++;
    acclib_fork_unlock();
}
