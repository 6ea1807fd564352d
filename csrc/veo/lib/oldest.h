/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oldest.h: what the oldest request of a queue is, for messages about waits.
 *
 * Any thread may call it, between veolib_ctx_enter() and veolib_ctx_leave() or while the context
 * cannot go away. It takes the queue lock and does not block beyond that.
 */
#ifndef VEOLIB_OLDEST_H
#define VEOLIB_OLDEST_H

#include <stddef.h>

#include "veo/lib/context_handle.h"

enum { OLDEST_TEXT_SIZE = 512 };

/* Writes, for example, "request 7, a call of sum(), submitted 4.2 s ago; 3 more are queued behind
 * it". Returns the length, 0 if nothing is queued. */
size_t veolib_oldest_describe(struct veo_thr_ctxt *ctx, char *text, size_t size);

#endif
