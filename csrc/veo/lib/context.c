/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "ve_offload.h"
#include "veo/lib/agent.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/handle_kind.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veosoft.h"

#define DEFAULT_STACK ((size_t)128 << 20)
#define SMALLEST_STACK ((size_t)4 << 20)

struct veo_thr_ctxt_attr {
    size_t stack_size;
};

/* --- making and deleting --- */

/* With the lock of the list: a closed handle that can be used again, NULL if there is none. */
static struct veo_thr_ctxt *find_closed(struct veo_proc_handle *proc, bool main)
{
    for (struct veo_thr_ctxt *c = proc->contexts; c != NULL; c = c->next)
        if (atomic_load(&c->gone) && c->main == main && c->wire == NULL)
            return c;
    return NULL;
}

/* With the lock of the list: adds a handle at its end. */
static struct veo_thr_ctxt *add_handle(struct veo_proc_handle *proc, bool main)
{
    struct veo_thr_ctxt *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return NULL;

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

    struct veo_thr_ctxt **at = &proc->contexts;
    while (*at != NULL)
        at = &(*at)->next;
    *at = ctx;
    return ctx;
}

/* With the lock of the list: gives the context its part of the wire. False without memory. */
static bool attach_wire(struct veo_thr_ctxt *ctx)
{
    struct veolib_memory *memory = &ctx->proc->memory;
    uint64_t wire = veolib_wire_get(memory, sizeof(struct wire_context));
    if (wire == 0)
        return false;
    ctx->wire = (struct wire_context *)(uintptr_t)wire;
    memset(ctx->wire, 0, sizeof *ctx->wire);

    pthread_mutex_lock(&ctx->queue);
    bool good = veolib_queue_init(ctx);
    pthread_mutex_unlock(&ctx->queue);
    if (!good) {
        veolib_wire_put(memory, wire);
        ctx->wire = NULL;
    }
    return good;
}

struct veo_thr_ctxt *veolib_context_new(struct veo_proc_handle *proc, bool main)
{
    pthread_mutex_lock(&proc->contexts_lock);
    struct veo_thr_ctxt *ctx = find_closed(proc, main);
    if (ctx == NULL)
        ctx = add_handle(proc, main);
    bool ready = ctx != NULL && attach_wire(ctx);
    if (ready) {
        ctx->opened = false;
        atomic_store(&ctx->gone, false);
    }
    pthread_mutex_unlock(&proc->contexts_lock);

    if (!ready)
        veolib_fail(ENOMEM, "out of memory (context)");
    return ready ? ctx : NULL;
}

void veolib_context_delete(struct veo_thr_ctxt *ctx)
{
    /* Requests that were queued after its end are not executed: from here on they fail. */
    atomic_store(&ctx->gone, true);
    veolib_agent_stop(ctx);
    if (ctx->wire != NULL) {
        veolib_queue_harvest(ctx);
        veolib_queue_wait_for_waiters(ctx);
    }

    pthread_mutex_lock(&ctx->proc->contexts_lock);
    ctx->opened = false;
    if (ctx->wire != NULL) {
        pthread_mutex_lock(&ctx->queue);
        veolib_queue_free(ctx);
        pthread_mutex_unlock(&ctx->queue);
        veolib_wire_put(&ctx->proc->memory, (uint64_t)(uintptr_t)ctx->wire);
        ctx->wire = NULL;
    }
    pthread_mutex_unlock(&ctx->proc->contexts_lock);
}

bool veolib_context_end(struct veo_thr_ctxt *ctx, int64_t deadline)
{
    struct veolib_worker *worker = &ctx->proc->worker;
    uint64_t id = VEO_REQUEST_ID_INVALID;
    if (!veolib_worker_is_dead(worker))
        id = veolib_queue_simple(ctx, WIRE_EXIT, 0, NULL);
    if (id == VEO_REQUEST_ID_INVALID && !veolib_worker_is_dead(worker))
        return false;

    /* Requests that other threads queue after it are not executed. */
    int rc = id == VEO_REQUEST_ID_INVALID ? veolib_queue_drain(ctx, deadline)
                                          : veolib_queue_drain_until(ctx, id + 1, deadline);
    return rc != 1;
}

/* --- opening --- */

/* Marks a context as opened or not; whether it was opened before. */
static bool exchange_opened(struct veo_thr_ctxt *ctx, bool opened)
{
    pthread_mutex_lock(&ctx->proc->contexts_lock);
    bool before = ctx->opened;
    ctx->opened = opened;
    pthread_mutex_unlock(&ctx->proc->contexts_lock);
    return before;
}

/* Has the worker start a thread for CTX, whatever its kernels do. False (error set) on failure. */
static bool start_thread(struct veo_thr_ctxt *ctx, size_t stack_size)
{
    struct veo_thr_ctxt *service = ctx->proc->service;
    struct draft draft;
    uint64_t error = 0;
    if (!veolib_queue_begin(service, &draft))
        return false;
    draft.slot->op = WIRE_OPEN_CONTEXT;
    draft.slot->target = (uint64_t)(uintptr_t)ctx->wire;
    draft.slot->size = stack_size;
    uint64_t id = veolib_queue_publish(service, &draft, NULL);

    int state = veolib_queue_wait(service, id, &error, CLOCK_NEVER);
    if (error)
        veolib_fail((int)error,
                    "the VE process could not start a thread with a stack of %zu bytes: %s",
                    stack_size, strerror((int)error));
    else if (state != VEO_COMMAND_OK)
        veolib_fail(ESRCH, "the VE process is gone: no context can be opened in it");
    return state == VEO_COMMAND_OK && error == 0;
}

static struct veo_thr_ctxt *open_context(struct veo_proc_handle *proc, size_t stack_size)
{
    struct veo_thr_ctxt *ctx = NULL;
    if (!veolib_proc_enter(proc))
        return NULL;

    /* The first that is opened is the main context, which is there already. */
    if (!exchange_opened(proc->main, true)) {
        ctx = proc->main;
        goto out;
    }
    ctx = veolib_context_new(proc, false);
    if (ctx == NULL)
        goto out;
    if (start_thread(ctx, stack_size)) {
        exchange_opened(ctx, true);
    } else {
        int error = errno;
        veolib_context_delete(ctx);
        errno = error;
        ctx = NULL;
    }
out:
    veolib_proc_leave(proc);
    return ctx;
}

VEO_EXPORT struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc)
{
    return open_context(proc, DEFAULT_STACK);
}

VEO_EXPORT struct veo_thr_ctxt *veo_context_open_with_attr(struct veo_proc_handle *proc,
                                                           struct veo_thr_ctxt_attr *attr)
{
    if (proc == NULL || attr == NULL) {
        veolib_fail(EINVAL, "the process and the attributes must not be NULL");
        return NULL;
    }
    return open_context(proc, attr->stack_size);
}

/* --- closing --- */

/* Ends a context that is not the main one. False if the worker could not be told, for want of
 * memory: then it stays open. */
static bool close_context(struct veo_thr_ctxt *ctx)
{
    if (!exchange_opened(ctx, false))
        return true;
    if (!veolib_context_end(ctx, CLOCK_NEVER)) {
        ctx->opened = true;
        return false;
    }

    /* A thread that saw it open submits before it is deleted. */
    atomic_store(&ctx->gone, true);
    pthread_mutex_lock(&ctx->submit);
    pthread_mutex_unlock(&ctx->submit);
    veolib_context_delete(ctx);
    return true;
}

VEO_EXPORT int veo_context_close(struct veo_thr_ctxt *ctx)
{
    /* Destroying the process has closed it: programs may close them in the other order. */
    if (veolib_ctx_is_handle(ctx) && atomic_load(&ctx->gone) && !atomic_load(&ctx->proc->alive))
        return 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    bool closed = ctx->main || close_context(ctx);
    veolib_ctx_leave(ctx);
    return closed ? 0 : -1;
}

/* --- state --- */

VEO_EXPORT int veo_get_context_state(struct veo_thr_ctxt *ctx)
{
    if (!veolib_ctx_is_handle(ctx) || atomic_load(&ctx->gone) || !atomic_load(&ctx->proc->alive))
        return VEO_STATE_EXIT;
    veolib_worker_check(&ctx->proc->worker);
    return veolib_worker_is_dead(&ctx->proc->worker) ? VEO_STATE_EXIT : VEO_STATE_RUNNING;
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
    int rc = veolib_queue_is_empty(ctx) && !veolib_worker_is_dead(&ctx->proc->worker)
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
    for (const struct veo_thr_ctxt *c = proc->contexts; c != NULL; c = c->next)
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
    for (struct veo_thr_ctxt *c = proc->contexts; c != NULL && found == NULL; c = c->next)
        if (c->opened && idx-- == 0)
            found = c;
    pthread_mutex_unlock(&proc->contexts_lock);
    veolib_proc_leave(proc);
    return found;
}

VEO_EXPORT void veo_req_block_begin(struct veo_thr_ctxt *ctx)
{
    if (veolib_ctx_is_handle(ctx))
        pthread_mutex_lock(&ctx->submit);
}

VEO_EXPORT void veo_req_block_end(struct veo_thr_ctxt *ctx)
{
    if (veolib_ctx_is_handle(ctx))
        pthread_mutex_unlock(&ctx->submit);
}

/* --- attributes --- */

VEO_EXPORT struct veo_thr_ctxt_attr *veo_alloc_thr_ctxt_attr(void)
{
    struct veo_thr_ctxt_attr *attr = malloc(sizeof *attr);
    if (attr != NULL)
        attr->stack_size = DEFAULT_STACK;
    return attr;
}

VEO_EXPORT int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr *attr)
{
    if (attr == NULL) {
        veolib_fail(EINVAL, "the attributes must not be NULL");
        return -1;
    }
    free(attr);
    return 0;
}

VEO_EXPORT int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t stacksize)
{
    if (attr == NULL || stacksize < SMALLEST_STACK) {
        veolib_fail(EINVAL,
                    attr != NULL ? "the stack size must be at least %zu bytes"
                                 : "the attributes must not be NULL",
                    SMALLEST_STACK);
        return -1;
    }
    attr->stack_size = stacksize;
    return 0;
}

VEO_EXPORT int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t *stacksize)
{
    if (attr == NULL || stacksize == NULL) {
        veolib_fail(EINVAL, "the attributes and the pointer for the size must not be NULL");
        return -1;
    }
    *stacksize = attr->stack_size;
    return 0;
}
