/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue_wait.h: waiting for the requests of a queue.
 *
 * A waiting thread spins on the slot's state word and then sleeps on a futex, for 20 ms at a time,
 * so that the death of the worker is noticed whatever a kernel does to shared memory. Any thread
 * may wait, several at once in one queue; no lock is held over a wait. Deadlines are times of
 * clock_now(); CLOCK_NEVER stands for none.
 */
#ifndef VEOLIB_QUEUE_WAIT_H
#define VEOLIB_QUEUE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/lib/context_handle.h"

/* Waits until request ID has ended. Returns as veolib_queue_peek(): VEO_COMMAND_UNFINISHED at the
 * deadline, VEO_COMMAND_ERROR if the process is being destroyed. */
int veolib_queue_wait(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result, int64_t deadline);

/* Waits until everything submitted so far is harvested. 0; 1 at the deadline; -1 if the process is
 * dead or being destroyed. */
int veolib_queue_drain(struct veo_thr_ctxt *ctx, int64_t deadline);

/* Same, for the requests below END, which were submitted. */
int veolib_queue_drain_until(struct veo_thr_ctxt *ctx, uint64_t end, int64_t deadline);

/* Waits until the worker stops at request ID in SLOT, which the host is to execute. False if it
 * never will, or if the request is out of the queue. */
bool veolib_queue_wait_turn(struct veo_thr_ctxt *ctx, const struct wire_slot *slot, uint64_t id);

/* Waits until no thread waits any more. For a queue that is empty and gets no more requests. */
void veolib_queue_wait_for_waiters(struct veo_thr_ctxt *ctx);

#endif
