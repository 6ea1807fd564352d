/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged addresses: the processes that they belong to, and copies between them. */
#include <errno.h>
#include <string.h>

#include "common/copy.h"
#include "common/hmem_tag.h"
#include "ve_offload.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/sync.h"
#include "veo/lib/transfer.h"

VEO_EXPORT struct veo_proc_handle *veo_get_proc_handle_from_hmem(const void *addr)
{
    return veolib_proc_by_identifier(hmem_identifier(addr));
}

VEO_EXPORT pid_t veo_get_pid_from_hmem(const void *addr)
{
    const struct veo_proc_handle *proc = veolib_proc_by_identifier(hmem_identifier(addr));
    return proc != NULL ? proc->worker.pid : -1;
}

VEO_EXPORT int veo_get_venum_from_hmem(const void *addr)
{
    const struct veo_proc_handle *proc = veolib_proc_by_identifier(hmem_identifier(addr));
    return proc != NULL ? proc->node : -1;
}

static int transfer(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                    bool write)
{
    if (!veolib_proc_enter(proc))
        return -1;
    bool done =
        veolib_sync_transfer(proc) && veolib_transfer_now(proc, host, addr, size, write) == 0;
    veolib_proc_leave(proc);
    return done ? 0 : -1;
}

/* Neither side is in the heap, so the host cannot reach both at once. */
static bool copy_piecewise(struct veo_proc_handle *proc, uint64_t dst, uint64_t src, size_t size)
{
    char piece[4096];
    for (size_t done = 0; done < size; done += sizeof piece) {
        size_t n = size - done < sizeof piece ? size - done : sizeof piece;
        if (veolib_transfer_now(proc, piece, src + done, n, false) != 0 ||
            veolib_transfer_now(proc, piece, dst + done, n, true) != 0)
            return false;
    }
    return true;
}

/* Both sides are in the VE memory of one process. The heap is mapped in the host too. */
static int copy_inside(struct veo_proc_handle *proc, uint64_t dst, uint64_t src, size_t size)
{
    bool done;
    if (!veolib_proc_enter(proc))
        return -1;

    if (!veolib_sync_transfer(proc))
        done = false;
    else if (veolib_heap_contains(&proc->memory, dst, size))
        done = veolib_transfer_now(proc, (void *)(uintptr_t)dst, src, size, false) == 0;
    else if (veolib_heap_contains(&proc->memory, src, size))
        done = veolib_transfer_now(proc, (void *)(uintptr_t)src, dst, size, true) == 0;
    else
        done = copy_piecewise(proc, dst, src, size);
    veolib_proc_leave(proc);
    return done ? 0 : -1;
}

VEO_EXPORT int veo_hmemcpy(void *dst, const void *src, size_t size)
{
    int to = hmem_identifier(dst);
    int from = hmem_identifier(src);
    if (to < 0 && from < 0) {
        copy_memory(dst, src, size);
        return 0;
    }
    if (to >= 0 && from >= 0 && to != from) {
        veolib_fail(EXDEV, "cannot copy between the VE memories of processes %d and %d", from, to);
        return -1;
    }

    struct veo_proc_handle *proc = veolib_proc_by_identifier(to >= 0 ? to : from);
    if (proc == NULL) {
        veolib_fail(EINVAL, "the address is tagged with process %d, which does not exist",
                    to >= 0 ? to : from);
        return -1;
    }

    if (from < 0)
        return transfer(proc, (void *)(uintptr_t)src, hmem_address(dst), size, true);
    if (to < 0)
        return transfer(proc, dst, hmem_address(src), size, false);
    return copy_inside(proc, hmem_address(dst), hmem_address(src), size);
}
