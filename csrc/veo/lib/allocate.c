/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronous allocation of VE memory. */
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/hmem_tag.h"
#include "ve_offload.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/hooks.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/lib/sync.h"

/* Results of veo_alloc_mem(). */
enum { NO_MEMORY = -1, NO_PROCESS = -2 };

static int allocate(struct veo_proc_handle *proc, uint64_t *addr, size_t size)
{
    *addr = 0;
    if (!veolib_proc_enter(proc))
        return NO_PROCESS;

    int rc = NO_PROCESS;
    if (veolib_worker_is_dead(&proc->worker)) {
        veolib_fail(ESRCH, "the VE process is gone: cannot allocate memory in it");
    } else {
        *addr = veolib_heap_get(&proc->memory, size);
        rc = *addr != 0 ? 0 : NO_MEMORY;
        veolib_queue_remember(proc->main, *addr);
    }
    if (rc == NO_MEMORY)
        veolib_fail(ENOMEM, "out of VE memory: cannot allocate %zu bytes (%zu of %zu in use)", size,
                    veolib_heap_used(&proc->memory), (size_t)proc->memory.heap_size);
    veolib_proc_leave(proc);
    return rc;
}

/* Has the worker free a block that a kernel allocated with malloc(). */
static int free_foreign(struct veo_proc_handle *proc, uint64_t addr)
{
    uint64_t ignored;
    struct draft draft;
    if (!veolib_sync_begin(proc, &draft))
        return -1;

    draft.slot->op = WIRE_FREE;
    draft.slot->target = addr;
    uint64_t id = veolib_queue_publish(proc->main, &draft, NULL);
    if (veolib_queue_wait(proc->main, id, &ignored, CLOCK_NEVER) == VEO_COMMAND_OK)
        return 0;

    if (veolib_worker_is_dead(&proc->worker))
        veolib_fail(ESRCH, "the VE process is gone: cannot free memory in it");
    else
        veolib_fail(EINVAL, "0x%llx is not allocated VE memory", (unsigned long long)addr);
    return -1;
}

/* After what is queued in the main context, as kernels there may still use the block. */
static int deallocate(struct veo_proc_handle *proc, uint64_t addr)
{
    int rc = -1;
    if (!veolib_proc_enter(proc))
        return -1;

    if (veolib_sync_main(proc)) {
        if (addr == 0 || veolib_heap_put(&proc->memory, addr))
            rc = 0;
        else if (veolib_heap_contains(&proc->memory, addr, 0))
            veolib_fail(EINVAL,
                        "no block of VE memory starts at 0x%llx: freed twice, or not its start",
                        (unsigned long long)addr);
        else
            rc = free_foreign(proc, addr);
    }
    veolib_proc_leave(proc);
    return rc;
}

VEO_EXPORT int veo_alloc_mem(struct veo_proc_handle *proc, uint64_t *addr, const size_t size)
{
    if (addr == NULL) {
        veolib_fail(EINVAL, "the pointer for the address must not be NULL");
        return NO_PROCESS;
    }
    int rc = allocate(proc, addr, size);
    if (rc == 0)
        HOOK_CALL(HOOK_ALLOC_MEM, proc, addr, size);
    return rc;
}

VEO_EXPORT int veo_free_mem(struct veo_proc_handle *proc, uint64_t addr)
{
    int rc = deallocate(proc, addr);
    if (rc == 0)
        HOOK_CALL(HOOK_FREE_MEM, proc, addr);
    return rc;
}

static int allocate_on_host(void **addr, size_t size)
{
    *addr = malloc(size > 0 ? size : 1);
    if (*addr == NULL)
        veolib_fail(ENOMEM, "out of host memory: cannot allocate %zu bytes", size);
    return *addr != NULL ? 0 : -1;
}

VEO_EXPORT int veo_alloc_hmem(struct veo_proc_handle *proc, void **addr, const size_t size)
{
    uint64_t ve;
    if (addr == NULL) {
        veolib_fail(EINVAL, "the pointer for the address must not be NULL");
        return NO_PROCESS;
    }
    *addr = NULL;
    if (proc == NULL)
        return allocate_on_host(addr, size);
    if (proc->identifier >= HMEM_IDENTS) {
        veolib_fail(EAGAIN, "only %d processes can have tagged memory, and this is number %d",
                    HMEM_IDENTS, proc->identifier);
        return -1;
    }

    int rc = allocate(proc, &ve, size);
    if (rc != 0)
        return rc;
    *addr = hmem_tagged(ve, proc->identifier);
    HOOK_CALL(HOOK_ALLOC_HMEM, proc, *addr, size);
    return 0;
}

VEO_EXPORT int veo_free_hmem(void *addr)
{
    if (!hmem_is_ve(addr)) {
        free(addr);
        return 0;
    }
    struct veo_proc_handle *proc = veolib_proc_by_identifier(hmem_identifier(addr));
    if (proc == NULL) {
        veolib_fail(EINVAL, "%p is tagged with a process that does not exist", addr);
        return -1;
    }

    int rc = deallocate(proc, hmem_address(addr));
    if (rc == 0)
        HOOK_CALL(HOOK_FREE_HMEM, proc, addr);
    return rc;
}

/* Names that no other library can interpose, for hook_registration.c. */
#define LOCAL_ALIAS(name) \
    extern __typeof__(name) veolib_##name __attribute__((alias(#name), visibility("hidden")))
LOCAL_ALIAS(veo_alloc_mem);
LOCAL_ALIAS(veo_free_mem);
LOCAL_ALIAS(veo_alloc_hmem);
LOCAL_ALIAS(veo_free_hmem);
