/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer.h: copies between host memory and a VE process.
 */
#ifndef VEOLIB_TRANSFER_H
#define VEOLIB_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct veo_proc_handle;

/*
 * Copies SIZE bytes from HOST to VE address ADDR (WRITE), or to HOST from there, at once, whatever
 * is queued. 0, or an errno with the error set: EFAULT if not all of it is memory of the process,
 * ESRCH if that is gone. Blocks while it copies; any thread, between veolib_proc_enter() and
 * veolib_proc_leave(), without locks.
 */
int veolib_transfer_now(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                        bool write);

#endif
