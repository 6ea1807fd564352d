/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * holding.h: the ranks that callbacks of this thread hold.
 *
 * While a blocking callback runs, nothing else runs on its ranks, so a synchronous call that it
 * makes on one of them must run at once instead of queueing behind the callback. Callbacks nest;
 * the record is per thread and needs no lock.
 */
#ifndef OFFCHIP_DPU_LIB_HOLDING_H
#define OFFCHIP_DPU_LIB_HOLDING_H

#include "dpu/lib/schedule/operation.h"

/* On the stack of the thread that calls the user's function. */
struct dpulib_holding {
    const struct dpulib_rank_job *jobs;
    uint32_t count;
    bool blocking;
    struct dpulib_holding *outer;
};

void dpulib_hold(struct dpulib_holding *holding);
void dpulib_let_go(const struct dpulib_holding *holding);
/* True if a blocking callback that this thread is in holds the rank. */
bool dpulib_is_held(const struct dpu_rank_t *rank);
/* True if this thread is in a callback. */
bool dpulib_is_in_callback(void);

#endif
