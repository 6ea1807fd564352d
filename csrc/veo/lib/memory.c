/* SPDX-License-Identifier: BSD-3-Clause */
/* The VE heap and the wire's memory: which parts of the memory file are in use. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/hmem_tag.h"
#include "veo/lib/host.h"
#include "veo/lib/hooks.h"

/* Freed memory up to this much stays as it is, because a first touch costs far more than a copy. */
#define DIRTY_MAX ((uint64_t)1 << 30)
/* From this size on an allocation must fit into the memory that the machine has free. */
#define LARGE ((size_t)64 << 20)

uint64_t veolib_wire_get(struct veo_proc_handle *proc, size_t size)
{
    pthread_mutex_lock(&proc->memory);
    uint64_t block = range_alloc_get(proc->wire_ranges, size);
    pthread_mutex_unlock(&proc->memory);
    return block;
}

void veolib_wire_put(struct veo_proc_handle *proc, uint64_t block)
{
    pthread_mutex_lock(&proc->memory);
    range_alloc_put(proc->wire_ranges, block, NULL);
    pthread_mutex_unlock(&proc->memory);
}

bool veolib_heap_contains(const struct veo_proc_handle *proc, uint64_t addr, size_t size)
{
    return addr >= proc->heap && addr - proc->heap <= proc->heap_size &&
           size <= proc->heap_size - (addr - proc->heap);
}

static uint64_t memory_available(void)
{
    char text[2048];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return UINT64_MAX;
    text[n] = 0;
    const char *line = strstr(text, "MemAvailable:");
    unsigned long long kib;
    return line && sscanf(line, "MemAvailable: %llu", &kib) == 1 ? (uint64_t)kib << 10 : UINT64_MAX;
}

uint64_t veolib_heap_get(struct veo_proc_handle *proc, size_t size)
{
    /* Pages come when they are touched; better no memory now than a killed process then. */
    pthread_mutex_lock(&proc->memory);
    uint64_t reusable = range_alloc_dirty(proc->heap_ranges);
    pthread_mutex_unlock(&proc->memory);
    if (size >= LARGE && size > reusable && size - reusable > memory_available())
        return 0;
    pthread_mutex_lock(&proc->memory);
    uint64_t addr = range_alloc_get(proc->heap_ranges, size);
    pthread_mutex_unlock(&proc->memory);
    return addr;
}

/* Gives pages of free blocks back. With the memory lock. */
static void trim(struct veo_proc_handle *proc)
{
    uint64_t addr;
    uint64_t size;
    while (range_alloc_dirty(proc->heap_ranges) > DIRTY_MAX &&
           range_alloc_largest_dirty(proc->heap_ranges, &addr, &size)) {
        off_t offset = (off_t)(addr - (uint64_t)(uintptr_t)proc->header);
        fallocate(proc->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, (off_t)size);
        range_alloc_mark_clean(proc->heap_ranges, addr);
    }
}

bool veolib_heap_put(struct veo_proc_handle *proc, uint64_t addr)
{
    pthread_mutex_lock(&proc->memory);
    bool found = range_alloc_put(proc->heap_ranges, addr, NULL);
    if (found)
        trim(proc);
    pthread_mutex_unlock(&proc->memory);
    return found;
}

bool veolib_heap_owns(struct veo_proc_handle *proc, uint64_t addr)
{
    pthread_mutex_lock(&proc->memory);
    bool found = range_alloc_length(proc->heap_ranges, addr) != 0;
    pthread_mutex_unlock(&proc->memory);
    return found;
}

bool veolib_proc_sync_main(struct veo_proc_handle *proc)
{
    int rc = veolib_queue_is_empty(proc->main) && !veolib_proc_is_dead(proc)
                 ? 0
                 : veolib_queue_drain(proc->main, CLOCK_NEVER);
    if (rc != 0)
        veolib_fail(ESRCH, "the VE process is gone");
    return rc == 0;
}

bool veolib_proc_sync_transfer(struct veo_proc_handle *proc)
{
    if (!proc->unordered)
        return veolib_proc_sync_main(proc);
    if (!veolib_proc_is_dead(proc))
        return true;
    veolib_fail(ESRCH, "the VE process is gone");
    return false;
}

static int alloc_mem(struct veo_proc_handle *proc, uint64_t *addr, size_t size)
{
    *addr = 0;
    if (!veolib_proc_enter(proc))
        return -2;
    int rc = -2;
    if (!veolib_proc_is_dead(proc)) {
        *addr = veolib_heap_get(proc, size);
        rc = *addr ? 0 : -1;
        veolib_queue_remember(proc->main, *addr);
        if (rc)
            veolib_fail(ENOMEM, "no %zu bytes of VE memory (%zu of %zu in use)", size,
                        (size_t)range_alloc_used(proc->heap_ranges), (size_t)proc->heap_size);
    } else {
        veolib_fail(ESRCH, "the VE process is gone: no memory can be had in it");
    }
    veolib_proc_leave(proc);
    return rc;
}

/* After what is queued in the main context, as kernels there may still use the block. */
static int free_mem(struct veo_proc_handle *proc, uint64_t addr)
{
    if (!veolib_proc_enter(proc))
        return -1;
    int rc = -1;
    if (!veolib_proc_sync_main(proc)) {
        rc = -1;
    } else if (addr == 0 || veolib_heap_put(proc, addr)) {
        rc = 0;
    } else if (veolib_heap_contains(proc, addr, 0)) {
        veolib_fail(EINVAL, "no block of VE memory starts at 0x%llx: freed twice, or not its start",
                    (unsigned long long)addr);
    } else {
        /* Not ours: then it came from malloc() in a kernel. */
        uint64_t ignored;
        uint64_t id = veolib_queue_simple(proc->main, WIRE_FREE, addr, NULL);
        if (id != VEO_REQUEST_ID_INVALID &&
            veolib_queue_wait(proc->main, id, &ignored, CLOCK_NEVER) == VEO_COMMAND_OK)
            rc = 0;
        else if (veolib_proc_is_dead(proc))
            veolib_fail(ESRCH, "the VE process is gone: nothing can be freed in it");
        else
            veolib_fail(EINVAL, "0x%llx is no VE memory that was allocated",
                        (unsigned long long)addr);
    }
    veolib_proc_leave(proc);
    return rc;
}

VEO_EXPORT int veo_alloc_mem(struct veo_proc_handle *proc, uint64_t *addr, const size_t size)
{
    if (!addr) {
        veolib_fail(EINVAL, "no place for the address given (NULL)");
        return -2;
    }
    int rc = alloc_mem(proc, addr, size);
    if (rc == 0)
        HOOK_CALL(HOOK_ALLOC_MEM, proc, addr, size);
    return rc;
}

VEO_EXPORT int veo_free_mem(struct veo_proc_handle *proc, uint64_t addr)
{
    int rc = free_mem(proc, addr);
    if (rc == 0)
        HOOK_CALL(HOOK_FREE_MEM, proc, addr);
    return rc;
}

/* What hooks are registered for, under names that no other library can take over (hooks.c). */
#define LOCAL_ALIAS(name) \
    extern __typeof__(name) veolib_##name __attribute__((alias(#name), visibility("hidden")))
LOCAL_ALIAS(veo_alloc_mem);
LOCAL_ALIAS(veo_free_mem);
LOCAL_ALIAS(veo_alloc_hmem);
LOCAL_ALIAS(veo_free_hmem);
LOCAL_ALIAS(veo_alloc_mem_async);
LOCAL_ALIAS(veo_free_mem_async);

/* --- hmem ----------------------------------------------------------------------------------- */

VEO_EXPORT int veo_alloc_hmem(struct veo_proc_handle *proc, void **addr, const size_t size)
{
    if (!addr) {
        veolib_fail(EINVAL, "no place for the address given (NULL)");
        return -2;
    }
    *addr = NULL;
    if (!proc) {
        *addr = malloc(size ? size : 1);
        if (!*addr)
            veolib_fail(ENOMEM, "no %zu bytes of host memory", size);
        return *addr ? 0 : -1;
    }
    if (proc->identifier >= HMEM_IDENTS) {
        veolib_fail(EAGAIN, "only %d processes can have tagged memory, and this one is number %d",
                    HMEM_IDENTS, proc->identifier);
        return -1;
    }
    uint64_t ve;
    int rc = alloc_mem(proc, &ve, size);
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
    if (!proc) {
        veolib_fail(EINVAL, "%p is tagged with a process that does not exist", addr);
        return -1;
    }
    int rc = free_mem(proc, hmem_address(addr));
    if (rc == 0)
        HOOK_CALL(HOOK_FREE_HMEM, proc, addr);
    return rc;
}

/* --- asynchronous ----------------------------------------------------------------------------- */

struct hooked {
    struct veo_thr_ctxt *ctx;
    uint64_t addr;
    size_t size;
};

static uint64_t call_alloc_hook(void *argument)
{
    const struct hooked *h = argument;
    HOOK_CALL(HOOK_ALLOC_MEM_ASYNC, h->ctx, h->addr, h->size);
    return h->addr;
}

static uint64_t call_free_hook(void *argument)
{
    const struct hooked *h = argument;
    HOOK_CALL(HOOK_FREE_MEM_ASYNC, h->ctx, h->addr);
    return 0;
}

/* The hook runs in the host, in the queue's order; the request that is returned is its. */
static uint64_t submit_hook(struct veo_thr_ctxt *ctx, uint64_t (*call)(void *), uint64_t addr,
                            size_t size)
{
    struct hooked *h = malloc(sizeof *h);
    if (!h) {
        veolib_fail(ENOMEM, "no memory for the request");
        return VEO_REQUEST_ID_INVALID;
    }
    *h = (struct hooked){.ctx = ctx, .addr = addr, .size = size};
    struct agent_job job = {.kind = AGENT_FUNCTION, .function = call, .argument = h, .owned = h};
    uint64_t id = veolib_agent_submit(ctx, &job);
    if (id == VEO_REQUEST_ID_INVALID)
        free(h);
    return id;
}

VEO_EXPORT uint64_t veo_alloc_mem_async(struct veo_thr_ctxt *ctx, const size_t size)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id;
    /* The block is chosen now, so that kernels queued behind can be told its address. */
    uint64_t addr = veolib_proc_is_dead(ctx->proc) ? 0 : veolib_heap_get(ctx->proc, size);
    if (!addr) {
        /* What is queued may free enough. */
        struct agent_job job = {.kind = AGENT_ALLOC, .size = size};
        id = veolib_agent_submit(ctx, &job);
    } else {
        if (veolib_hook_is_set(HOOK_ALLOC_MEM_ASYNC))
            id = submit_hook(ctx, call_alloc_hook, addr, size);
        else
            id = veolib_queue_simple(ctx, WIRE_NOP, addr, NULL);
        if (id == VEO_REQUEST_ID_INVALID)
            veolib_heap_put(ctx->proc, addr);
    }
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT uint64_t veo_free_mem_async(struct veo_thr_ctxt *ctx, uint64_t addr)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = VEO_REQUEST_ID_INVALID;
    struct request_extra *extra;
    if (!veolib_heap_contains(ctx->proc, addr, 0)) {
        id = veolib_queue_simple(ctx, addr ? WIRE_FREE : WIRE_NOP, addr, NULL);
    } else if (!veolib_heap_owns(ctx->proc, addr)) {
        veolib_fail(EINVAL, "no block of VE memory starts at 0x%llx: freed twice, or not its start",
                    (unsigned long long)addr);
    } else if ((extra = veolib_extra_new(0))) {
        /* Nothing to do for the worker: the block is free when the request is harvested. */
        extra->free_on_success = addr;
        id = veolib_queue_simple(ctx, WIRE_NOP, 0, extra);
    } else {
        veolib_fail(ENOMEM, "no memory for the request");
    }
    if (id != VEO_REQUEST_ID_INVALID && veolib_hook_is_set(HOOK_FREE_MEM_ASYNC)) {
        uint64_t hooked = submit_hook(ctx, call_free_hook, addr, 0);
        if (hooked != VEO_REQUEST_ID_INVALID)
            id = hooked;
    }
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT size_t veosoft_heap_used(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return 0;
    pthread_mutex_lock(&proc->contexts_lock);
    for (struct veo_thr_ctxt *c = proc->contexts; c; c = c->next)
        if (!atomic_load(&c->gone))
            veolib_queue_harvest(c);
    pthread_mutex_unlock(&proc->contexts_lock);
    pthread_mutex_lock(&proc->memory);
    size_t used = (size_t)range_alloc_used(proc->heap_ranges);
    pthread_mutex_unlock(&proc->memory);
    veolib_proc_leave(proc);
    return used;
}
