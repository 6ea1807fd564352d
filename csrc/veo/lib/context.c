/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: opening, closing, counting, attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/host.h"

struct veo_thr_ctxt_attr {
    size_t stack_size;
};

struct veo_thr_ctxt *veolib_context_new(struct veo_proc_handle *proc, bool main)
{
    struct veo_thr_ctxt *ctx = NULL;
    bool fresh = true;
    pthread_mutex_lock(&proc->contexts_lock);
    for (struct veo_thr_ctxt *c = proc->contexts; c && !ctx; c = c->next)
        if (atomic_load(&c->gone) && c->main == main && !c->wire)
            ctx = c;
    if (ctx) {
        fresh = false;
    } else {
        ctx = calloc(1, sizeof *ctx);
        if (ctx) {
            pthread_mutexattr_t recursive;
            pthread_mutexattr_init(&recursive);
            pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
            pthread_mutex_init(&ctx->submit, &recursive);
            pthread_mutexattr_destroy(&recursive);
            pthread_mutex_init(&ctx->queue, NULL);
            ctx->kind = HANDLE_CONTEXT;
            ctx->proc = proc;
            ctx->main = main;
            atomic_store(&ctx->gone, true);
        }
    }
    uint64_t wire = ctx ? veolib_wire_get(proc, sizeof(struct wire_context)) : 0;
    if (wire) {
        ctx->wire = (struct wire_context *)(uintptr_t)wire;
        memset(ctx->wire, 0, sizeof *ctx->wire);
        ctx->opened = false;
        pthread_mutex_lock(&ctx->queue);
        bool good = veolib_queue_init(ctx);
        pthread_mutex_unlock(&ctx->queue);
        if (!good) {
            veolib_wire_put(proc, wire);
            ctx->wire = NULL;
        }
    }
    if (ctx && fresh) {
        struct veo_thr_ctxt **at = &proc->contexts;
        while (*at)
            at = &(*at)->next;
        *at = ctx;
    }
    bool ready = ctx && ctx->wire;
    if (ready) {
        atomic_store(&ctx->ending, false);
        atomic_store(&ctx->gone, false);
    }
    pthread_mutex_unlock(&proc->contexts_lock);
    if (!ready)
        veolib_fail(ENOMEM, "no memory for a context");
    return ready ? ctx : NULL;
}

/* The structure stays in the list: a stale pointer to it is noticed, and it is used again. */
void veolib_context_delete(struct veo_thr_ctxt *ctx)
{
    /* What was queued after its end is not executed: from here on such requests fail. */
    atomic_store(&ctx->gone, true);
    veolib_agent_stop(ctx);
    if (ctx->wire) {
        veolib_queue_harvest(ctx);
        veolib_queue_wait_for_waiters(ctx);
    }

    pthread_mutex_lock(&ctx->proc->contexts_lock);
    ctx->opened = false;
    if (ctx->wire) {
        pthread_mutex_lock(&ctx->queue);
        veolib_queue_free(ctx);
        pthread_mutex_unlock(&ctx->queue);
        veolib_wire_put(ctx->proc, (uint64_t)(uintptr_t)ctx->wire);
        ctx->wire = NULL;
    }
    pthread_mutex_unlock(&ctx->proc->contexts_lock);
}

bool veolib_context_end(struct veo_thr_ctxt *ctx, int64_t deadline)
{
    uint64_t id = VEO_REQUEST_ID_INVALID;
    if (!veolib_proc_is_dead(ctx->proc))
        id = veolib_queue_simple(ctx, WIRE_EXIT, 0, NULL);
    if (id == VEO_REQUEST_ID_INVALID && !veolib_proc_is_dead(ctx->proc))
        return false;

    /* What other threads queue after it is not executed. */
    atomic_store(&ctx->ending, true);
    int rc = id == VEO_REQUEST_ID_INVALID ? veolib_queue_drain(ctx, deadline)
                                          : veolib_queue_drain_until(ctx, id + 1, deadline);
    return rc != 1;
}

static bool is_context(const struct veo_thr_ctxt *ctx)
{
    return ctx && ctx->kind == HANDLE_CONTEXT;
}

bool veolib_ctx_enter(struct veo_thr_ctxt *ctx)
{
    if (!is_context(ctx)) {
        veolib_fail(EINVAL, ctx ? "%p is no context" : "no context given (NULL)",
                    (const void *)ctx);
        return false;
    }
    if (atomic_load_explicit(&ctx->gone, memory_order_acquire)) {
        veolib_fail(EINVAL, "the context is closed");
        return false;
    }
    return veolib_proc_enter(ctx->proc);
}

void veolib_ctx_leave(struct veo_thr_ctxt *ctx)
{
    veolib_proc_leave(ctx->proc);
}

static struct veo_thr_ctxt *open_context(struct veo_proc_handle *proc, size_t stack_size)
{
    struct veo_thr_ctxt *ctx = NULL;
    struct draft draft;
    uint64_t error = 0;
    if (!veolib_proc_enter(proc))
        return NULL;
    pthread_mutex_lock(&proc->contexts_lock);
    bool first = !proc->main->opened;
    proc->main->opened = true;
    pthread_mutex_unlock(&proc->contexts_lock);
    if (first) {
        ctx = proc->main;
        goto out;
    }
    ctx = veolib_context_new(proc, false);
    if (!ctx)
        goto out;
    if (!veolib_queue_begin(proc->main, &draft)) {
        veolib_context_delete(ctx);
        ctx = NULL;
        goto out;
    }
    draft.slot->op = WIRE_OPEN_CONTEXT;
    draft.slot->target = (uint64_t)(uintptr_t)ctx->wire;
    draft.slot->size = stack_size;
    uint64_t id = veolib_queue_publish(proc->main, &draft, NULL);
    if (veolib_queue_wait(proc->main, id, &error, CLOCK_NEVER) != VEO_COMMAND_OK || error) {
        if (error)
            veolib_fail((int)error,
                        "the VE process could not start a thread with a stack of %zu bytes: %s",
                        stack_size, strerror((int)error));
        else
            veolib_fail(ESRCH, "the VE process is gone: no context can be opened in it");
        veolib_context_delete(ctx);
        ctx = NULL;
        goto out;
    }
    pthread_mutex_lock(&proc->contexts_lock);
    ctx->opened = true;
    pthread_mutex_unlock(&proc->contexts_lock);
out:
    veolib_proc_leave(proc);
    return ctx;
}

VEO_EXPORT struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc)
{
    return open_context(proc, VEO_DEFAULT_STACK);
}

VEO_EXPORT struct veo_thr_ctxt *veo_context_open_with_attr(struct veo_proc_handle *proc,
                                                           struct veo_thr_ctxt_attr *attr)
{
    if (!proc || !attr) {
        veolib_fail(EINVAL, "no process or no attributes given (NULL)");
        return NULL;
    }
    return open_context(proc, attr->stack_size);
}

VEO_EXPORT int veo_context_close(struct veo_thr_ctxt *ctx)
{
    /* Destroying the process has closed it: programs that close in the other order get by. */
    if (is_context(ctx) && atomic_load(&ctx->gone) && !atomic_load(&ctx->proc->alive))
        return 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    bool ended = true;
    if (!ctx->main) {
        pthread_mutex_lock(&ctx->proc->contexts_lock);
        bool mine = ctx->opened;
        ctx->opened = false;
        pthread_mutex_unlock(&ctx->proc->contexts_lock);
        if (mine)
            ended = veolib_context_end(ctx, CLOCK_NEVER);
        if (mine && ended) {
            /* A thread that saw it open submits before it is deleted. */
            atomic_store(&ctx->gone, true);
            pthread_mutex_lock(&ctx->submit);
            pthread_mutex_unlock(&ctx->submit);
            veolib_context_delete(ctx);
        }
        /* Out of memory: the worker was not told, and still waits for requests. */
        if (!ended)
            ctx->opened = true;
    }
    veolib_ctx_leave(ctx);
    return ended ? 0 : -1;
}

VEO_EXPORT int veo_get_context_state(struct veo_thr_ctxt *ctx)
{
    if (!is_context(ctx) || atomic_load(&ctx->gone) || !atomic_load(&ctx->proc->alive))
        return VEO_STATE_EXIT;
    veolib_proc_check(ctx->proc);
    return veolib_proc_is_dead(ctx->proc) ? VEO_STATE_EXIT : VEO_STATE_RUNNING;
}

VEO_EXPORT void veo_context_sync(struct veo_thr_ctxt *ctx)
{
    if (!veolib_ctx_enter(ctx))
        return;
    veolib_queue_drain(ctx, CLOCK_NEVER);
    veolib_ctx_leave(ctx);
}

VEO_EXPORT int veosoft_context_drain(struct veo_thr_ctxt *ctx, int64_t timeout_ns)
{
    if (!veolib_ctx_enter(ctx))
        return -1;
    int rc = veolib_queue_is_empty(ctx) && !veolib_proc_is_dead(ctx->proc)
                 ? 0
                 : veolib_queue_drain(ctx, clock_deadline(timeout_ns));
    veolib_ctx_leave(ctx);
    return rc;
}

VEO_EXPORT struct veo_thr_ctxt *veosoft_main_context(struct veo_proc_handle *proc)
{
    return veolib_proc_is_alive(proc) ? proc->main : NULL;
}

VEO_EXPORT int veo_num_contexts(struct veo_proc_handle *proc)
{
    if (!veolib_proc_enter(proc))
        return -1;
    int n = 0;
    pthread_mutex_lock(&proc->contexts_lock);
    for (const struct veo_thr_ctxt *c = proc->contexts; c; c = c->next)
        n += c->opened;
    pthread_mutex_unlock(&proc->contexts_lock);
    veolib_proc_leave(proc);
    return n;
}

VEO_EXPORT struct veo_thr_ctxt *veo_get_context(struct veo_proc_handle *proc, int idx)
{
    struct veo_thr_ctxt *found = NULL;
    if (!veolib_proc_enter(proc))
        return NULL;
    pthread_mutex_lock(&proc->contexts_lock);
    for (struct veo_thr_ctxt *c = proc->contexts; c && !found; c = c->next)
        if (c->opened && idx-- == 0)
            found = c;
    pthread_mutex_unlock(&proc->contexts_lock);
    veolib_proc_leave(proc);
    return found;
}

VEO_EXPORT void veo_req_block_begin(struct veo_thr_ctxt *ctx)
{
    if (is_context(ctx))
        pthread_mutex_lock(&ctx->submit);
}

VEO_EXPORT void veo_req_block_end(struct veo_thr_ctxt *ctx)
{
    if (is_context(ctx))
        pthread_mutex_unlock(&ctx->submit);
}

VEO_EXPORT struct veo_thr_ctxt_attr *veo_alloc_thr_ctxt_attr(void)
{
    struct veo_thr_ctxt_attr *attr = malloc(sizeof *attr);
    if (attr)
        attr->stack_size = VEO_DEFAULT_STACK;
    return attr;
}

VEO_EXPORT int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr *attr)
{
    if (!attr) {
        veolib_fail(EINVAL, "no attributes given (NULL)");
        return -1;
    }
    free(attr);
    return 0;
}

VEO_EXPORT int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t stacksize)
{
    if (!attr || stacksize < VEO_SMALLEST_STACK) {
        veolib_fail(EINVAL, attr ? "a stack has at least %zu bytes" : "no attributes given (NULL)",
                    VEO_SMALLEST_STACK);
        return -1;
    }
    attr->stack_size = stacksize;
    return 0;
}

VEO_EXPORT int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t *stacksize)
{
    if (!attr || !stacksize) {
        veolib_fail(EINVAL, "no attributes or no place for the size given (NULL)");
        return -1;
    }
    *stacksize = attr->stack_size;
    return 0;
}
