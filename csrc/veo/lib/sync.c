/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/sync.h"

#include <errno.h>

#include "common/clock.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/oldest.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/silence.h"
#include "veosoft.h"

static _Thread_local int64_t wait_limit = -1;

VEO_EXPORT int64_t veosoft_set_wait_limit(int64_t timeout_ns)
{
    int64_t before = wait_limit;
    wait_limit = timeout_ns < 0 ? -1 : timeout_ns;
    return before;
}

static void say_what_is_waited_for(struct veo_thr_ctxt *main)
{
    char text[OLDEST_TEXT_SIZE];
    if (!veolib_is_quiet() && veolib_oldest_describe(main, text, sizeof text) > 0)
        veolib_log("waiting for the main context, which still has %s", text);
}

/* As veolib_queue_drain_until(). */
static int drain(struct veo_thr_ctxt *main, uint64_t end, int64_t deadline)
{
    if (deadline != CLOCK_NEVER)
        return veolib_queue_drain_until(main, end, deadline);

    int rc = veolib_queue_drain_until(main, end, clock_deadline(VEO_SILENCE_NS));
    if (rc != 1)
        return rc;
    say_what_is_waited_for(main);
    return veolib_queue_drain_until(main, end, CLOCK_NEVER);
}

/* Until the requests below END have ended. */
static bool wait_until(struct veo_proc_handle *proc, uint64_t end, int64_t deadline)
{
    char text[OLDEST_TEXT_SIZE];
    int rc = drain(proc->main, end, deadline);
    if (rc == 1) {
        veolib_oldest_describe(proc->main, text, sizeof text);
        veolib_fail(ETIMEDOUT, "the main context still has %s", text);
    } else if (rc != 0) {
        veolib_fail(ESRCH, "the VE process is gone");
    }
    return rc == 0;
}

/* Until the main context's queue is empty. */
static bool wait_until_empty(struct veo_proc_handle *proc, int64_t deadline)
{
    if (veolib_queue_is_empty(proc->main) && !veolib_worker_is_dead(&proc->worker))
        return true;
    return wait_until(proc, atomic_load_explicit(&proc->main->next_id, memory_order_acquire),
                      deadline);
}

bool veolib_sync_main(struct veo_proc_handle *proc)
{
    return wait_until_empty(proc, clock_deadline(wait_limit));
}

bool veolib_sync_below(struct veo_proc_handle *proc, uint64_t end)
{
    if (atomic_load_explicit(&proc->main->harvested, memory_order_acquire) >= end)
        return true;
    return wait_until(proc, end, clock_deadline(wait_limit));
}

bool veolib_sync_transfer(struct veo_proc_handle *proc)
{
    if (!proc->unordered)
        return veolib_sync_main(proc);
    if (!veolib_worker_is_dead(&proc->worker))
        return true;
    veolib_fail(ESRCH, "the VE process is gone");
    return false;
}

bool veolib_sync_begin(struct veo_proc_handle *proc, struct draft *draft)
{
    int64_t deadline = clock_deadline(wait_limit);
    while (wait_until_empty(proc, deadline) && veolib_queue_begin(proc->main, draft)) {
        /* Another thread may have queued something meanwhile. */
        if (veolib_queue_is_idle(proc->main))
            return true;
        veolib_queue_abandon(proc->main);
    }
    return false;
}

int veolib_sync_result(struct veo_thr_ctxt *main, uint64_t id, uint64_t *result)
{
    if (wait_limit >= 0)
        return veolib_queue_wait(main, id, result, clock_deadline(wait_limit));

    int state = veolib_queue_wait(main, id, result, clock_deadline(VEO_SILENCE_NS));
    if (state != VEO_COMMAND_UNFINISHED)
        return state;
    say_what_is_waited_for(main);
    return veolib_queue_wait(main, id, result, CLOCK_NEVER);
}
