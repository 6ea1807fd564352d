/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.h: what synchronous functions wait for before they act.
 *
 * They run in the order of the main context's queue, so they wait until it is empty. Both functions
 * block until then, between veolib_proc_enter() and veolib_proc_leave(), and return false (error
 * set) if the process is dead. Any thread may call them.
 */
#ifndef VEOLIB_SYNC_H
#define VEOLIB_SYNC_H

#include <stdbool.h>

struct veo_proc_handle;

/* Waits for the main context's queue. */
bool veolib_sync_main(struct veo_proc_handle *proc);

/* Same, before a transfer: does not wait if the process was created with unordered transfers. */
bool veolib_sync_transfer(struct veo_proc_handle *proc);

#endif
