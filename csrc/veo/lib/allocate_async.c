/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation of VE memory in the order of a context's queue. */
#include <errno.h>
#include <stdlib.h>

#include "ve_offload.h"
#include "veo/lib/agent.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/hooks.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"

/* The arguments of a hook that is called later. */
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

/* Has the agent call a hook in the order of the queue. Returns that request's id. */
static uint64_t submit_hook(struct veo_thr_ctxt *ctx, uint64_t (*call)(void *), uint64_t addr,
                            size_t size)
{
    struct hooked *h = malloc(sizeof *h);
    if (h == NULL) {
        veolib_fail(ENOMEM, "out of memory (request)");
        return VEO_REQUEST_ID_INVALID;
    }
    *h = (struct hooked){.ctx = ctx, .addr = addr, .size = size};
    uint64_t id = veolib_agent_submit_function(ctx, call, h, h);
    if (id == VEO_REQUEST_ID_INVALID)
        free(h);
    return id;
}

/* On the agent's thread: what was freed before is free once its request is harvested. */
static int run_allocation(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result)
{
    veolib_queue_harvest(ctx);
    *result = veolib_heap_get(&ctx->proc->memory, job->size);
    return VEO_COMMAND_OK;
}

/* The request that reports a block that is allocated already. */
static uint64_t submit_allocated(struct veo_thr_ctxt *ctx, uint64_t addr, size_t size)
{
    uint64_t id = veolib_hook_is_set(HOOK_ALLOC_MEM_ASYNC)
                      ? submit_hook(ctx, call_alloc_hook, addr, size)
                      : veolib_queue_simple(ctx, WIRE_NOP, addr, NULL);
    if (id == VEO_REQUEST_ID_INVALID)
        veolib_heap_put(&ctx->proc->memory, addr);
    return id;
}

VEO_EXPORT uint64_t veo_alloc_mem_async(struct veo_thr_ctxt *ctx, const size_t size)
{
    uint64_t addr = 0;
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;

    /* The block is chosen now if there is one; else requests that are queued may free enough. */
    if (!veolib_worker_is_dead(&ctx->proc->worker))
        addr = veolib_heap_get(&ctx->proc->memory, size);
    struct agent_job job = {.run = run_allocation, .size = size};
    uint64_t id = addr != 0 ? submit_allocated(ctx, addr, size) : veolib_agent_submit(ctx, &job);
    veolib_ctx_leave(ctx);
    return id;
}

/* The request that frees ADDR. VEO_REQUEST_ID_INVALID (error set) on failure. */
static uint64_t submit_free(struct veo_thr_ctxt *ctx, uint64_t addr)
{
    struct veolib_memory *memory = &ctx->proc->memory;
    if (!veolib_heap_contains(memory, addr, 0))
        return veolib_queue_simple(ctx, addr != 0 ? WIRE_FREE : WIRE_NOP, addr, NULL);
    if (!veolib_heap_owns(memory, addr)) {
        veolib_fail(EINVAL, "no block of VE memory starts at 0x%llx: freed twice, or not its start",
                    (unsigned long long)addr);
        return VEO_REQUEST_ID_INVALID;
    }

    struct request_extra *extra = veolib_extra_new(0);
    if (extra == NULL) {
        veolib_fail(ENOMEM, "out of memory (request)");
        return VEO_REQUEST_ID_INVALID;
    }
    /* The worker does nothing: the block is freed when the request is harvested. */
    extra->free_on_success = addr;
    return veolib_queue_simple(ctx, WIRE_NOP, 0, extra);
}

VEO_EXPORT uint64_t veo_free_mem_async(struct veo_thr_ctxt *ctx, uint64_t addr)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;

    uint64_t id = submit_free(ctx, addr);
    if (id != VEO_REQUEST_ID_INVALID && veolib_hook_is_set(HOOK_FREE_MEM_ASYNC)) {
        uint64_t hooked = submit_hook(ctx, call_free_hook, addr, 0);
        if (hooked != VEO_REQUEST_ID_INVALID)
            id = hooked;
    }
    veolib_ctx_leave(ctx);
    return id;
}

/* Names that no other library can interpose, for hook_registration.c. */
#define LOCAL_ALIAS(name) \
    extern __typeof__(name) veolib_##name __attribute__((alias(#name), visibility("hidden")))
LOCAL_ALIAS(veo_alloc_mem_async);
LOCAL_ALIAS(veo_free_mem_async);
