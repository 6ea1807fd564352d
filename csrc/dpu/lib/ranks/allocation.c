/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/ranks/allocation.h"

#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/rank.h"

#include <stdlib.h>
#include <string.h>

struct list dpulib_allocations;

static struct list spare;

static struct dpulib_allocation *take_spare(uint32_t count)
{
    for (struct list_node *at = spare.first; at != NULL; at = at->next)
        if (dpulib_allocation_at(at)->room >= count) {
            list_remove(&spare, at);
            return dpulib_allocation_at(at);
        }
    return NULL;
}

struct dpulib_allocation *dpulib_allocation_take(uint32_t count)
{
    dpulib_lock();
    struct dpulib_allocation *allocation = take_spare(count);
    dpulib_unlock();

    if (allocation == NULL) {
        allocation = calloc(1, sizeof *allocation + count * sizeof allocation->ranks[0]);
        if (allocation == NULL)
            return NULL;
        allocation->room = count;
    }

    allocation->count = count;
    return allocation;
}

void dpulib_allocation_give_back(struct dpulib_allocation *allocation)
{
    dpulib_lock();
    memset(allocation->ranks, 0, allocation->room * sizeof allocation->ranks[0]);
    list_prepend(&spare, &allocation->node);
    dpulib_unlock();
}

static const struct dpulib_allocation *find_array(const struct list *list,
                                                  struct dpu_rank_t *const *ranks)
{
    for (struct list_node *at = list->first; at != NULL; at = at->next) {
        const struct dpulib_allocation *allocation = dpulib_allocation_at(at);
        if (ranks >= allocation->ranks && ranks < allocation->ranks + allocation->room)
            return allocation;
    }
    return NULL;
}

/* Arrays of callers' own may name each rank once. */
bool dpulib_may_have_ranks(struct dpu_rank_t *const *ranks, uint32_t count)
{
    const struct dpulib_allocation *allocation = find_array(&dpulib_allocations, ranks);
    if (allocation == NULL)
        allocation = find_array(&spare, ranks);
    if (allocation != NULL)
        return count <= (size_t)(allocation->ranks + allocation->room - ranks);

    uint32_t alive = 0;
    for (const struct list_node *at = dpulib_ranks.first; at != NULL; at = at->next)
        alive++;
    return count <= alive;
}
