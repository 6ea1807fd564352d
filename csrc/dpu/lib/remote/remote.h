/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h: DPUs that other processes run, of the machines that this one has.
 *
 * DPU_SOFT_SERVERS names the sockets of servers (run/serve.h). Ranks are dealt out to this process
 * and to them, one after the other. All calls work on the machines here; a launch sends what was
 * changed of a machine, and its end brings its state back. Pages of memory come when they are read.
 * So programs, results, errors and modelled times are what they are without servers.
 *
 * Threads. As for machines: at most one thread works on a DPU at a time. Whoever waits for a server
 * receives for all. A server that ends, or says nothing for DPU_SOFT_SERVER_SECONDS while something
 * is expected of it, is lost, and so are its DPUs.
 */
#ifndef OFFCHIP_DPU_LIB_REMOTE_H
#define OFFCHIP_DPU_LIB_REMOTE_H

#include "dpu/lib/ranks/rank.h"

/* Gives a new rank to a server, if it is the turn of one; that it cannot be reached is an error.
 * dpulib_rank_destroy() takes the rank from it. Without the lock; blocks. */
dpu_error_t dpulib_remote_assign(struct dpu_rank_t *rank);

/* Error of a DPU whose server is lost; DPU_OK for others. */
dpu_error_t dpulib_remote_check(const struct dpu_t *dpu);

/* After an operation: much that it has changed goes to the server at once. */
void dpulib_remote_flush(struct dpu_t *dpu);

/* Has a server run what the machine is about to run. False if it is to run here. */
bool dpulib_remote_launch(struct dpu_t *dpu);
/* True from then on, until the end has been waited for, or it has been recalled. These four with
 * the turn of the DPU. */
bool dpulib_remote_is_away(const struct dpu_t *dpu);
/* Waits for the end for at most LIMIT ns. DPU_RUN_STEPPED if it is still away. */
enum dpu_run_status dpulib_remote_wait(struct dpu_t *dpu, int64_t limit);
/* Has it stop, and waits for that; then the launch may go on here. */
enum dpu_run_status dpulib_remote_recall(struct dpu_t *dpu);
/* True if translated code was used in the last launch, elsewhere. */
bool dpulib_remote_was_translated(const struct dpu_t *dpu);

/* Until the end of this thread's work on COUNT DPUs, of which some may be disabled: pages that one
 * needs are brought for all. NULL: it is over. */
void dpulib_remote_together(struct dpu_t *dpus, uint32_t count);

#endif
