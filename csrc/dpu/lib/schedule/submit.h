/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * submit.h: from a call about a set to an operation in the queues of its ranks, and waiting for it.
 *
 * Without the lock. A synchronous call blocks until all that was queued for its ranks before, and
 * then its own operation, is over; an asynchronous one blocks only while a queue is full
 * (nrJobsPerRank of the profile). From within a blocking callback of a rank, a synchronous call on
 * that rank runs at once.
 */
#ifndef OFFCHIP_DPU_LIB_SUBMIT_H
#define OFFCHIP_DPU_LIB_SUBMIT_H

#include "dpu/lib/schedule/operation.h"

/*
 * Does what SPEC says for every enabled DPU of a set. Synchronously, the result is that of the
 * first DPU that failed; it is done for the others all the same. Asynchronously, it is DPU_OK if
 * the operation was queued, and dpu_sync() has the result. SPEC is copied; what its argument owns
 * is released whatever happens. A call takes the lock once to check, resolve and queue, and once
 * more for each rank job that its thread performs.
 */
dpu_error_t dpulib_submit(struct dpu_set_t set, const struct dpulib_spec *spec, bool async);
/* The same for one rank or one DPU, synchronously. */
dpu_error_t dpulib_run_on_rank(struct dpu_rank_t *rank, const struct dpulib_spec *spec);
dpu_error_t dpulib_run_on_dpu(struct dpu_t *dpu, const struct dpulib_spec *spec);

/* Waits until all that was queued for the ranks of a set when this was called is over. False after
 * the deadline (clock.h). */
bool dpulib_drain(struct dpu_set_t set, int64_t deadline);
/* Waits until the queue of each rank of a set has room for an operation. False after the deadline.
 */
bool dpulib_await_room(struct dpu_set_t set, int64_t deadline);

#endif
