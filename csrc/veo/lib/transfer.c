/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between host memory and the worker's. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/copy.h"
#include "veo/lib/host.h"
#include "veo/lib/kernel_copy.h"

/* An asynchronous transfer of at most this size is done by its caller if nothing is queued: that
 * is quicker than having a thread woken for it. */
#define AT_ONCE_MAX ((size_t)4 << 20)

/* Of a transfer that the worker copies for us. */
#define PIECE ((size_t)256 << 10)

/* Whether the kernel lets us reach into the worker; if not, the worker copies for us. */
static _Atomic bool process_vm_refused;

static bool use_process_vm(void)
{
    return !atomic_load_explicit(&process_vm_refused, memory_order_relaxed);
}

static uint64_t submit_small(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                             bool write)
{
    struct draft draft;
    struct request_extra *extra = veolib_extra_new(1);
    if (!extra || !(extra->block = veolib_wire_get(ctx->proc, size))) {
        free(extra);
        veolib_fail(ENOMEM, "no memory for a transfer of %zu bytes", size);
        return VEO_REQUEST_ID_INVALID;
    }
    void *block = (void *)(uintptr_t)extra->block;
    if (!veolib_queue_begin(ctx, &draft)) {
        veolib_wire_put(ctx->proc, extra->block);
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }
    if (write)
        copy_memory(block, host, size);
    else
        extra->copies[extra->ncopies++] =
            (struct copy_out){.to = host, .from = block, .size = size};
    draft.slot->op = write ? WIRE_WRITE : WIRE_READ;
    draft.slot->target = addr;
    draft.slot->size = size;
    draft.slot->block = block;
    return veolib_queue_publish(ctx, &draft, extra);
}

/* By way of the wire, piece by piece. Not in a context of the user's, which may be waiting for this
 * very transfer. */
static int copy_by_worker(struct veo_proc_handle *proc, char *host, uint64_t addr, size_t size,
                          bool write)
{
    while (size) {
        size_t n = size < PIECE ? size : PIECE;
        uint64_t result;
        uint64_t id = submit_small(proc->service, host, addr, n, write);
        if (id == VEO_REQUEST_ID_INVALID)
            return ESRCH;
        int state = veolib_queue_wait(proc->service, id, &result, CLOCK_NEVER);
        if (state != VEO_COMMAND_OK)
            return state == VEO_COMMAND_EXCEPTION ? EFAULT : ESRCH;
        host += n;
        addr += n;
        size -= n;
    }
    return 0;
}

int veolib_transfer_now(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                        bool write)
{
    if (size == 0)
        return 0;
    if (veolib_heap_contains(proc, addr, size)) {
        void *ve = (void *)(uintptr_t)addr;
        /* Both may be in the heap, and overlap, when hmem is copied inside it. */
        if (write)
            copy_memory(ve, host, size);
        else
            copy_memory(host, ve, size);
        return 0;
    }
    /* Its process id may be another's as soon as it is gone. */
    veolib_proc_check(proc);
    if (veolib_proc_is_dead(proc)) {
        veolib_fail(ESRCH, "the VE process is gone: nothing can be copied to or from it");
        return ESRCH;
    }
    int error = EPERM;
    if (use_process_vm()) {
        error = veolib_kernel_copy(proc->pid, host, addr, size, write);
        if (error == EPERM || error == ENOSYS)
            atomic_store(&process_vm_refused, true);
    }
    if (error == EPERM || error == ENOSYS)
        error = copy_by_worker(proc, host, addr, size, write);
    if (error == EFAULT)
        veolib_fail(
            EFAULT,
            "%zu bytes at VE address 0x%llx cannot be %s: not all of it is memory of the VE "
            "process%s",
            size, (unsigned long long)addr, write ? "written" : "read",
            write ? " that may be written" : "");
    else if (error)
        veolib_fail(error, "the VE process cannot be reached for a transfer: %s", strerror(error));
    return error;
}

static int transfer_sync(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                         bool write)
{
    if (!host && size) {
        veolib_fail(EINVAL, "no host buffer given (NULL)");
        return -1;
    }
    if (!veolib_proc_enter(proc))
        return -1;
    int rc =
        veolib_proc_sync_transfer(proc) && veolib_transfer_now(proc, host, addr, size, write) == 0
            ? 0
            : -1;
    veolib_proc_leave(proc);
    return rc;
}

VEO_EXPORT int veo_read_mem(struct veo_proc_handle *proc, void *dst, uint64_t src, size_t size)
{
    return transfer_sync(proc, dst, src, size, false);
}

VEO_EXPORT int veo_write_mem(struct veo_proc_handle *proc, uint64_t dst, const void *src,
                             size_t size)
{
    return transfer_sync(proc, (void *)(uintptr_t)src, dst, size, true);
}

/* Its turn is now. Where another thread has queued something meanwhile, VEO_REQUEST_ID_INVALID:
 * then it takes its turn behind that. */
static uint64_t transfer_at_once(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                                 bool write)
{
    if (size == 0 || veolib_transfer_now(ctx->proc, host, addr, size, write) == 0)
        return veolib_queue_done(ctx, VEO_COMMAND_OK, 0);
    /* As for a kernel that touches a bad address. */
    return errno == EFAULT ? veolib_queue_done(ctx, VEO_COMMAND_EXCEPTION, SIGSEGV)
                           : VEO_REQUEST_ID_INVALID;
}

static uint64_t transfer_async(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                               bool write)
{
    if (!host && size) {
        veolib_fail(EINVAL, "no host buffer given (NULL)");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = VEO_REQUEST_ID_INVALID;
    if (size <= AT_ONCE_MAX && !veolib_proc_is_dead(ctx->proc) && veolib_queue_is_idle(ctx))
        id = transfer_at_once(ctx, host, addr, size, write);
    if (id != VEO_REQUEST_ID_INVALID) {
        veolib_ctx_leave(ctx);
        return id;
    }

    if (size == 0) {
        id = veolib_queue_simple(ctx, WIRE_NOP, 0, NULL);
    } else if (size <= WIRE_TRANSFER_MAX) {
        id = submit_small(ctx, host, addr, size, write);
    } else {
        struct agent_job job = {.kind = write ? AGENT_WRITE : AGENT_READ,
                                .argument = host,
                                .address = addr,
                                .size = size};
        id = veolib_agent_submit(ctx, &job);
    }
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT uint64_t veo_async_read_mem(struct veo_thr_ctxt *ctx, void *dst, uint64_t src,
                                       size_t size)
{
    return transfer_async(ctx, dst, src, size, false);
}

VEO_EXPORT uint64_t veo_async_write_mem(struct veo_thr_ctxt *ctx, uint64_t dst, const void *src,
                                        size_t size)
{
    return transfer_async(ctx, (void *)(uintptr_t)src, dst, size, true);
}
