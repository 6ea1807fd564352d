/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h: the rank jobs of a rank, one after the other.
 *
 * The first rank job of a queue runs; while it is a launch, those right after it that may run
 * beside a launch do too. A rank job leaves the queue when it is done, a nonblocking callback when
 * it starts. All functions need the lock, and none blocks.
 */
#ifndef OFFCHIP_DPU_LIB_QUEUE_H
#define OFFCHIP_DPU_LIB_QUEUE_H

#include "dpu/lib/schedule/operation.h"

/* Puts a rank job at the end of its rank's queue, and starts it if its turn has come. */
void dpulib_enqueue(struct dpulib_rank_job *job);
/* Starts a rank job whose rank is held by a callback of this thread, without the queue. */
void dpulib_start_held(struct dpulib_rank_job *job);
/* Notes that a rank job was performed, so that the next one starts. Of an operation that is
 * performed once for all ranks, any rank job stands for all. */
void dpulib_job_done(struct dpulib_rank_job *job);
/* True if the rank jobs up to NUMBER have left the queue. */
bool dpulib_is_past(const struct dpu_rank_t *rank, uint64_t number);

#endif
