/* SPDX-License-Identifier: BSD-3-Clause */
/* What tagged addresses belong to, and copies between them. */
#include <errno.h>
#include <string.h>

#include "common/copy.h"
#include "common/hmem_tag.h"
#include "veo/lib/host.h"

VEO_EXPORT struct veo_proc_handle *veo_get_proc_handle_from_hmem(const void *addr)
{
    return veolib_proc_by_identifier(hmem_identifier(addr));
}

VEO_EXPORT pid_t veo_get_pid_from_hmem(const void *addr)
{
    const struct veo_proc_handle *proc = veolib_proc_by_identifier(hmem_identifier(addr));
    return proc ? proc->pid : -1;
}

VEO_EXPORT int veo_get_venum_from_hmem(const void *addr)
{
    const struct veo_proc_handle *proc = veolib_proc_by_identifier(hmem_identifier(addr));
    return proc ? proc->node : -1;
}

static int transfer(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                    bool write)
{
    if (!veolib_proc_enter(proc))
        return -1;
    int error = veolib_proc_sync_transfer(proc) ? veolib_transfer_now(proc, host, addr, size, write)
                                                : ESRCH;
    veolib_proc_leave(proc);
    return error ? -1 : 0;
}

/* Both in the VE memory of one process. The heap is mapped here as well. */
static int copy_inside(struct veo_proc_handle *proc, uint64_t dst, uint64_t src, size_t size)
{
    int rc = -1;
    if (!veolib_proc_enter(proc))
        return -1;
    if (!veolib_proc_sync_transfer(proc)) {
        rc = -1;
    } else if (veolib_heap_contains(proc, dst, size)) {
        rc = veolib_transfer_now(proc, (void *)(uintptr_t)dst, src, size, false) ? -1 : 0;
    } else if (veolib_heap_contains(proc, src, size)) {
        rc = veolib_transfer_now(proc, (void *)(uintptr_t)src, dst, size, true) ? -1 : 0;
    } else {
        char piece[4096];
        rc = 0;
        for (size_t done = 0; done < size && rc == 0;) {
            size_t n = size - done < sizeof piece ? size - done : sizeof piece;
            if (veolib_transfer_now(proc, piece, src + done, n, false) ||
                veolib_transfer_now(proc, piece, dst + done, n, true))
                rc = -1;
            done += n;
        }
    }
    veolib_proc_leave(proc);
    return rc;
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
    if (!proc) {
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
