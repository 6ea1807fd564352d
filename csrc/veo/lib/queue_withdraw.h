/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue_withdraw.h: taking back calls that have not begun.
 *
 * Threads: as in queue.h. Does not block.
 */
#ifndef VEOLIB_QUEUE_WITHDRAW_H
#define VEOLIB_QUEUE_WITHDRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/lib/context_handle.h"

/*
 * Takes call ID out of the queue. False if it is no call or may have begun: then it is executed, or
 * was. True: it is not executed, its stack arguments are not written back, and its result is not
 * kept; its slot remains until the worker comes to it.
 */
bool veolib_queue_withdraw(struct veo_thr_ctxt *ctx, uint64_t id);

#endif
