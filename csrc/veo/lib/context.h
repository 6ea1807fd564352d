/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.h: contexts as their process makes and ends them.
 */
#ifndef VEOLIB_CONTEXT_H
#define VEOLIB_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/lib/context_handle.h"

/*
 * A context with an empty queue, which the worker does not know of yet: a handle that was closed,
 * or a new one. NULL (error set) without memory. Any thread.
 */
struct veo_thr_ctxt *veolib_context_new(struct veo_proc_handle *proc, bool main);

/* Has the worker run the queue empty and end the context's thread. Blocks; false at the deadline,
 * or if the worker could not be told, for want of memory. */
bool veolib_context_end(struct veo_thr_ctxt *ctx, int64_t deadline);

/* Frees a context that the worker has left or never knew, once no thread waits in it. Blocks until
 * then. The handle stays. One thread per context. */
void veolib_context_delete(struct veo_thr_ctxt *ctx);

#endif
