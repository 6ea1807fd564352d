/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/transfer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/copy.h"
#include "ve_offload.h"
#include "veo/lib/agent.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/kernel_copy.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/lib/sync.h"
#include "veosoft.h"

/* An asynchronous transfer of at most this size is executed by its caller if nothing is queued:
 * that is faster than waking a thread. */
#define AT_ONCE_MAX ((size_t)4 << 20)

/* The worker copies a large transfer in pieces of this size. */
#define PIECE ((size_t)256 << 10)

/* The kernel does not allow access to the worker's memory: the worker copies. */
static _Atomic bool process_vm_refused;

/* --- at once --- */

/* Queues a transfer that the worker executes by way of a block of the wire. */
static uint64_t submit_small(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                             bool write)
{
    struct veolib_memory *memory = &ctx->proc->memory;
    struct draft draft;
    struct request_extra *extra = veolib_extra_new(1);
    if (extra != NULL)
        extra->block = veolib_wire_get(memory, size);
    if (extra == NULL || extra->block == 0) {
        free(extra);
        veolib_fail(ENOMEM, "out of memory (transfer of %zu bytes)", size);
        return VEO_REQUEST_ID_INVALID;
    }

    void *block = (void *)(uintptr_t)extra->block;
    if (!veolib_queue_begin(ctx, &draft)) {
        veolib_wire_put(memory, extra->block);
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

/* By way of the wire, piece by piece, in the service context: a context of the user's may be
 * waiting for this very transfer. 0 or an errno. */
static int copy_by_worker(struct veo_proc_handle *proc, char *host, uint64_t addr, size_t size,
                          bool write)
{
    while (size > 0) {
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

/* Memory that only the worker has mapped. 0 or an errno. */
static int copy_foreign(struct veo_proc_handle *proc, char *host, uint64_t addr, size_t size,
                        bool write)
{
    if (!atomic_load_explicit(&process_vm_refused, memory_order_relaxed)) {
        int error = veolib_kernel_copy(proc->worker.pid, host, addr, size, write);
        if (error != EPERM && error != ENOSYS)
            return error;
        atomic_store(&process_vm_refused, true);
    }
    return copy_by_worker(proc, host, addr, size, write);
}

int veolib_transfer_now(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                        bool write)
{
    if (size == 0)
        return 0;

    /* Both sides may be in the heap, and overlap, when hmem is copied inside it. */
    if (veolib_heap_contains(&proc->memory, addr, size)) {
        void *ve = (void *)(uintptr_t)addr;
        if (write)
            copy_memory(ve, host, size);
        else
            copy_memory(host, ve, size);
        return 0;
    }

    /* The process id may be reused as soon as the worker is gone. */
    veolib_worker_check(&proc->worker);
    if (veolib_worker_is_dead(&proc->worker)) {
        veolib_fail(ESRCH, "the VE process is gone: nothing can be copied to or from it");
        return ESRCH;
    }

    int error = copy_foreign(proc, host, addr, size, write);
    if (error == EFAULT)
        veolib_fail(EFAULT,
                    "%zu bytes at VE address 0x%llx cannot be %s: not all of it is %smemory of the "
                    "VE process",
                    size, (unsigned long long)addr, write ? "written" : "read",
                    write ? "writable " : "");
    else if (error)
        veolib_fail(error, "cannot access the VE process for a transfer: %s", strerror(error));
    return error;
}

/* --- synchronous --- */

static int transfer_sync(struct veo_proc_handle *proc, void *host, uint64_t addr, size_t size,
                         bool write)
{
    if (host == NULL && size > 0) {
        veolib_fail(EINVAL, "the host buffer must not be NULL");
        return -1;
    }
    if (!veolib_proc_enter(proc))
        return -1;
    bool done =
        veolib_sync_transfer(proc) && veolib_transfer_now(proc, host, addr, size, write) == 0;
    veolib_proc_leave(proc);
    return done ? 0 : -1;
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

VEO_EXPORT int veosoft_write_at_once(struct veo_proc_handle *proc, uint64_t dst, const void *src,
                                     size_t size)
{
    if (!veolib_proc_enter(proc))
        return -1;
    int error = veolib_transfer_now(proc, (void *)(uintptr_t)src, dst, size, true);
    veolib_proc_leave(proc);
    return error == 0 ? 0 : -1;
}

/* --- asynchronous --- */

/* Executes a transfer before which nothing is queued. VEO_REQUEST_ID_INVALID if another thread has
 * queued something meanwhile: then the transfer is queued after that. */
static uint64_t transfer_at_once(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                                 bool write)
{
    int error = veolib_transfer_now(ctx->proc, host, addr, size, write);
    if (error == 0)
        return veolib_queue_done(ctx, VEO_COMMAND_OK, 0);
    /* As for a kernel that touches a bad address. */
    return error == EFAULT ? veolib_queue_done(ctx, VEO_COMMAND_EXCEPTION, SIGSEGV)
                           : VEO_REQUEST_ID_INVALID;
}

/* The outcome of a transfer to or from a bad address is that of a kernel that touches it. */
static int run_transfer(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result,
                        bool write)
{
    int error = veolib_transfer_now(ctx->proc, job->argument, job->address, job->size, write);
    if (error == 0)
        return VEO_COMMAND_OK;
    if (error != EFAULT)
        return VEO_COMMAND_ERROR;
    *result = SIGSEGV;
    return VEO_COMMAND_EXCEPTION;
}

static int run_read(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result)
{
    return run_transfer(ctx, job, result, false);
}

static int run_write(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result)
{
    return run_transfer(ctx, job, result, true);
}

/* Queues a transfer: the worker executes a small one, the agent a large one. */
static uint64_t queue_transfer(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                               bool write)
{
    if (size == 0)
        return veolib_queue_simple(ctx, WIRE_NOP, 0, NULL);
    if (size <= WIRE_TRANSFER_MAX)
        return submit_small(ctx, host, addr, size, write);

    struct agent_job job = {
        .run = write ? run_write : run_read, .argument = host, .address = addr, .size = size};
    return veolib_agent_submit(ctx, &job);
}

static uint64_t transfer_async(struct veo_thr_ctxt *ctx, void *host, uint64_t addr, size_t size,
                               bool write)
{
    uint64_t id = VEO_REQUEST_ID_INVALID;
    if (host == NULL && size > 0) {
        veolib_fail(EINVAL, "the host buffer must not be NULL");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;

    if (size <= AT_ONCE_MAX && !veolib_worker_is_dead(&ctx->proc->worker) &&
        veolib_queue_is_idle(ctx))
        id = transfer_at_once(ctx, host, addr, size, write);
    if (id == VEO_REQUEST_ID_INVALID)
        id = queue_transfer(ctx, host, addr, size, write);
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
