/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/sync.h"

#include <errno.h>

#include "common/clock.h"
#include "veo/lib/error.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"

bool veolib_sync_main(struct veo_proc_handle *proc)
{
    if (veolib_queue_is_empty(proc->main) && !veolib_worker_is_dead(&proc->worker))
        return true;
    if (veolib_queue_drain(proc->main, CLOCK_NEVER) == 0)
        return true;
    veolib_fail(ESRCH, "the VE process is gone");
    return false;
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
