/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/holding.h"

#include "dpu/lib/core/lock.h"

static _Thread_local struct dpulib_holding *innermost;

static void reset(void)
{
    innermost = NULL;
}

__attribute__((constructor)) static void set_up(void)
{
    dpulib_on_fork(reset);
}

void dpulib_hold(struct dpulib_holding *holding)
{
    holding->outer = innermost;
    innermost = holding;
}

void dpulib_let_go(const struct dpulib_holding *holding)
{
    innermost = holding->outer;
}

bool dpulib_is_held(const struct dpu_rank_t *rank)
{
    for (const struct dpulib_holding *at = innermost; at != NULL; at = at->outer)
        for (uint32_t i = 0; at->blocking && i < at->count; i++)
            if (at->jobs[i].rank == rank)
                return true;
    return false;
}

bool dpulib_is_in_callback(void)
{
    return innermost != NULL;
}
