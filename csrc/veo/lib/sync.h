/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.h: what synchronous functions wait for before they act.
 *
 * They act in the order of the main context's queue, so they wait until it is empty: without limit,
 * after a while with a line on stderr that says what for; or as long as veosoft_set_wait_limit()
 * allowed the calling thread. All functions block until then, between veolib_proc_enter() and
 * veolib_proc_leave(), and return false (error set) if the process is dead (ESRCH) or at the limit
 * (ETIMEDOUT). Any thread may call them.
 */
#ifndef VEOLIB_SYNC_H
#define VEOLIB_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct draft;
struct veo_proc_handle;
struct veo_thr_ctxt;

/* Waits for the main context's queue. */
bool veolib_sync_main(struct veo_proc_handle *proc);

/* Same, before a transfer: does not wait if the process was created with unordered transfers. */
bool veolib_sync_transfer(struct veo_proc_handle *proc);

/* Same, before a request that the worker executes in the main context: begins its draft, as
 * veolib_queue_begin() does, while nothing is queued. */
bool veolib_sync_begin(struct veo_proc_handle *proc, struct draft *draft);

/* Waits for the requests of the main context below END, which were submitted. */
bool veolib_sync_below(struct veo_proc_handle *proc, uint64_t end);

/* Waits for request ID of the main context, as long: its state and result, as veolib_queue_wait().
 */
int veolib_sync_result(struct veo_thr_ctxt *main, uint64_t id, uint64_t *result);

#endif
