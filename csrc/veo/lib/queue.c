/* SPDX-License-Identifier: BSD-3-Clause */
/* A context's queue: writing requests, and taking out what is finished. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/copy.h"
#include "common/futex.h"
#include "veo/lib/host.h"

#define NOBODY UINT64_MAX

struct request_extra *veolib_extra_new(int ncopies)
{
    return calloc(1, sizeof(struct request_extra) + (size_t)ncopies * sizeof(struct copy_out));
}

static struct chunk *chunk_new(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    uint64_t wire = chunk ? veolib_wire_get(ctx->proc, sizeof(struct wire_chunk)) : 0;
    if (!wire) {
        free(chunk);
        return NULL;
    }
    chunk->wire = (struct wire_chunk *)(uintptr_t)wire;
    /* It may hold requests of a context that had the same ids. */
    for (int i = 0; i < WIRE_CHUNK_SLOTS; i++)
        atomic_store_explicit(&chunk->wire->slots[i].state, 0, memory_order_relaxed);
    chunk->wire->next = NULL;
    return chunk;
}

static void chunk_delete(struct veo_thr_ctxt *ctx, struct chunk *chunk)
{
    veolib_wire_put(ctx->proc, (uint64_t)(uintptr_t)chunk->wire);
    free(chunk);
}

bool veolib_queue_init(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = chunk_new(ctx);
    if (!chunk)
        return false;
    ctx->head = ctx->tail = chunk;
    ctx->retired = NULL;
    ctx->head_index = ctx->tail_index = 0;
    ctx->waiters = 0;
    atomic_store(&ctx->next_id, 0);
    atomic_store(&ctx->harvested, 0);
    ctx->sleepers = NULL;
    ctx->patience = (struct spin_patience){0};
    ctx->wire->first = chunk->wire;
    atomic_store(&ctx->wire->wake_at, NOBODY);
    return true;
}

/*
 * A chunk of which everything is harvested. What the host executed is done before the worker has
 * seen it: were the slot written again now, the worker would wait for it for ever. And who waits
 * for a request that another thread has harvested still looks at its slot.
 */
static void chunk_retire(struct veo_thr_ctxt *ctx, struct chunk *chunk)
{
    chunk->next = ctx->retired;
    ctx->retired = chunk;
    uint64_t left = atomic_load_explicit(&ctx->wire->left, memory_order_acquire);
    for (struct chunk **at = &ctx->retired; *at;) {
        struct chunk *old = *at;
        if (!old->waiters && atomic_load_explicit(&old->in_use, memory_order_relaxed) <= left) {
            *at = old->next;
            chunk_delete(ctx, old);
        } else {
            at = &old->next;
        }
    }
}

/* The worker is through with the context, or gone, and nobody waits. */
void veolib_queue_free(struct veo_thr_ctxt *ctx)
{
    while (ctx->retired) {
        struct chunk *next = ctx->retired->next;
        chunk_delete(ctx, ctx->retired);
        ctx->retired = next;
    }
    while (ctx->head) {
        struct chunk *next = ctx->head->next;
        for (int i = 0; i < WIRE_CHUNK_SLOTS; i++) {
            free(ctx->head->records[i].extra);
            veolib_agent_job_free(ctx->head->records[i].job);
        }
        chunk_delete(ctx, ctx->head);
        ctx->head = next;
    }
    ctx->tail = NULL;
    veolib_results_clear(&ctx->results);
}

/* --- submission --------------------------------------------------------------------------- */

bool veolib_queue_begin(struct veo_thr_ctxt *ctx, struct draft *draft)
{
    if (veolib_proc_is_dead(ctx->proc)) {
        veolib_fail(ESRCH, "the VE process is gone: nothing can be submitted to it");
        return false;
    }
    pthread_mutex_lock(&ctx->submit);
    if (atomic_load_explicit(&ctx->gone, memory_order_relaxed)) {
        pthread_mutex_unlock(&ctx->submit);
        veolib_fail(EINVAL, "the context is closed");
        return false;
    }
    /* Only the holder of the submit lock moves the tail. */
    if (ctx->tail_index == WIRE_CHUNK_SLOTS - 1 && !ctx->tail->next) {
        struct chunk *next = chunk_new(ctx);
        if (!next) {
            pthread_mutex_unlock(&ctx->submit);
            veolib_fail(ENOMEM, "no memory for more queued requests");
            return false;
        }
        /* The worker goes on here after the last slot, which is not READY yet. */
        ctx->tail->wire->next = next->wire;
        pthread_mutex_lock(&ctx->queue);
        ctx->tail->next = next;
        pthread_mutex_unlock(&ctx->queue);
    }
    struct wire_slot *slot = &ctx->tail->wire->slots[ctx->tail_index];
    slot->flags = 0;
    slot->ret = 0;
    slot->nargs = 0;
    slot->kinds = 0;
    slot->outcome = VEO_COMMAND_ERROR;
    slot->result = 0;
    draft->slot = slot;
    draft->job = NULL;
    draft->id = atomic_load_explicit(&ctx->next_id, memory_order_relaxed);
    return true;
}

void veolib_queue_abandon(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_unlock(&ctx->submit);
}

static void ring(struct wire_context *wire)
{
    /* The state must be visible before we look whether the worker sleeps, as it does it the
     * other way round. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&wire->worker_asleep, memory_order_relaxed)) {
        atomic_fetch_add(&wire->bell, 1);
        futex_wake_all(&wire->bell);
    }
}

uint64_t veolib_queue_publish(struct veo_thr_ctxt *ctx, struct draft *draft,
                              struct request_extra *extra)
{
    ctx->tail->records[ctx->tail_index] =
        (struct request_record){.extra = extra, .job = draft->job};
    if (draft->job)
        atomic_store_explicit(&ctx->tail->in_use, draft->id + 1, memory_order_relaxed);
    if (++ctx->tail_index == WIRE_CHUNK_SLOTS) {
        ctx->tail = ctx->tail->next;
        ctx->tail_index = 0;
    }
    uint64_t id = draft->id;
    /* In this order: a harvester looks at the slots below next_id, and before this one is READY
     * it may still show the end of a request of another context. */
    atomic_store_explicit(&draft->slot->state, WIRE_STATE(id, WIRE_READY), memory_order_release);
    atomic_store_explicit(&ctx->next_id, id + 1, memory_order_release);
    /* Before another thread can close the context. */
    ring(ctx->wire);
    pthread_mutex_unlock(&ctx->submit);
    return id;
}

uint64_t veolib_queue_simple(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t target,
                             struct request_extra *extra)
{
    struct draft draft;
    if (!veolib_queue_begin(ctx, &draft)) {
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }
    draft.slot->op = (uint8_t)op;
    draft.slot->target = target;
    return veolib_queue_publish(ctx, &draft, extra);
}

/* --- harvest ------------------------------------------------------------------------------ */

struct delivery {
    bool done;
    int outcome;
    uint64_t result;
};

static void settle_extra(struct veo_thr_ctxt *ctx, struct request_extra *extra, int outcome)
{
    if (outcome == VEO_COMMAND_OK) {
        for (int i = 0; i < extra->ncopies; i++)
            copy_memory(extra->copies[i].to, extra->copies[i].from, extra->copies[i].size);
        if (extra->free_on_success)
            veolib_heap_put(ctx->proc, extra->free_on_success);
    }
    if (extra->block)
        veolib_wire_put(ctx->proc, extra->block);
    free(extra);
}

/*
 * Whether the request at the head of the queue has ended, and how. The worker's part of the slot
 * is read once; what the host executes is known from the job, whatever the slot says.
 */
static bool has_ended(struct veo_thr_ctxt *ctx, const struct wire_slot *slot,
                      const struct request_record *record, uint64_t id, int *outcome,
                      uint64_t *result)
{
    *outcome = VEO_COMMAND_ERROR;
    *result = 0;
    if (record->job && atomic_load_explicit(&record->job->done, memory_order_acquire)) {
        *outcome = record->job->outcome;
        *result = record->job->result;
        return true;
    }

    /* Before the slot is looked at: one that died after it had answered has answered. */
    bool dead = atomic_load_explicit(&ctx->proc->dead, memory_order_acquire) ||
                atomic_load_explicit(&ctx->gone, memory_order_acquire);
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (!record->job && state == WIRE_STATE(id, WIRE_DONE)) {
        int said = *(const volatile uint8_t *)&slot->outcome;
        *outcome = said <= VEO_COMMAND_ERROR ? said : VEO_COMMAND_ERROR;
        *result = *(const volatile uint64_t *)&slot->result;
        return true;
    }

    if (!dead && state != WIRE_STATE(id, WIRE_READY) && state != WIRE_STATE(id, WIRE_HOST_TURN) &&
        state != WIRE_STATE(id, WIRE_DONE)) {
        veolib_worker_damaged(ctx->proc);
        dead = true;
    }
    /* While somebody in the host is executing it, its buffers are in use. */
    return dead && (!record->job || veolib_agent_cancel(ctx, record->job));
}

/* Whether an exception ends the process: all but those of transfers to bad addresses do. The worker
 * answers before it says that it has crashed. */
static bool is_crash(const struct veo_proc_handle *proc, const struct wire_slot *slot)
{
    return atomic_load(&proc->header->crashed) || *(const volatile uint8_t *)&slot->op == WIRE_CALL;
}

/* Takes finished requests out, in order; the one called WANTED goes to DELIVERY and not to the
 * table. With the queue lock. */
static void harvest(struct veo_thr_ctxt *ctx, uint64_t wanted, struct delivery *delivery)
{
    uint64_t id = atomic_load_explicit(&ctx->harvested, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    for (; id < end; id++) {
        struct request_record *record = &ctx->head->records[ctx->head_index];
        int outcome;
        uint64_t result;
        const struct wire_slot *slot = &ctx->head->wire->slots[ctx->head_index];
        if (!has_ended(ctx, slot, record, id, &outcome, &result))
            break;

        if (record->extra) {
            struct request_extra *extra = record->extra;
            record->extra = NULL;
            settle_extra(ctx, extra, outcome);
        }
        if (outcome == VEO_COMMAND_EXCEPTION && is_crash(ctx->proc, slot))
            atomic_store_explicit(&ctx->proc->dead, true, memory_order_release);
        if (id == wanted)
            *delivery = (struct delivery){.done = true, .outcome = outcome, .result = result};
        else if (!veolib_results_put(&ctx->results, id, outcome, result) &&
                 !atomic_load(&ctx->ending))
            break; /* no memory: it stays in the queue and is tried again */

        veolib_agent_job_free(record->job);
        record->job = NULL;
        atomic_store_explicit(&ctx->harvested, id + 1, memory_order_release);
        if (++ctx->head_index == WIRE_CHUNK_SLOTS) {
            struct chunk *old = ctx->head;
            ctx->head = old->next;
            ctx->head_index = 0;
            chunk_retire(ctx, old);
        }
    }
}

void veolib_queue_harvest_locked(struct veo_thr_ctxt *ctx)
{
    harvest(ctx, NOBODY, NULL);
}

void veolib_queue_harvest(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_lock(&ctx->queue);
    veolib_queue_harvest_locked(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

int veolib_queue_state(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result)
{
    struct delivery delivery = {0};
    if (id >= atomic_load_explicit(&ctx->next_id, memory_order_acquire))
        return VEO_COMMAND_ERROR;
    if (id >= atomic_load_explicit(&ctx->harvested, memory_order_relaxed)) {
        harvest(ctx, id, &delivery);
        if (delivery.done) {
            *result = delivery.result;
            return delivery.outcome;
        }
        return VEO_COMMAND_UNFINISHED;
    }
    int outcome;
    return veolib_results_take(&ctx->results, id, &outcome, result) ? outcome : VEO_COMMAND_ERROR;
}

struct chunk *veolib_queue_chunk(struct veo_thr_ctxt *ctx, uint64_t id, unsigned *index)
{
    uint64_t offset =
        id - atomic_load_explicit(&ctx->harvested, memory_order_relaxed) + ctx->head_index;
    struct chunk *chunk = ctx->head;
    for (; offset >= WIRE_CHUNK_SLOTS; offset -= WIRE_CHUNK_SLOTS)
        chunk = chunk->next;
    *index = (unsigned)offset;
    return chunk;
}

int veolib_queue_peek(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result)
{
    *result = 0;
    pthread_mutex_lock(&ctx->queue);
    int state = veolib_queue_state(ctx, id, result);
    pthread_mutex_unlock(&ctx->queue);
    if (state == VEO_COMMAND_UNFINISHED)
        veolib_proc_check_now_and_then(ctx->proc);
    return state;
}

bool veolib_queue_is_empty(struct veo_thr_ctxt *ctx)
{
    return atomic_load_explicit(&ctx->harvested, memory_order_acquire) ==
           atomic_load_explicit(&ctx->next_id, memory_order_acquire);
}

bool veolib_queue_is_idle(struct veo_thr_ctxt *ctx)
{
    if (!veolib_queue_is_empty(ctx))
        veolib_queue_harvest(ctx);
    return veolib_queue_is_empty(ctx);
}

void veolib_queue_host_done(struct veo_thr_ctxt *ctx, struct agent_job *job, int outcome,
                            uint64_t result)
{
    struct wire_slot *slot = job->slot;
    uint64_t id = job->id;
    job->outcome = outcome;
    job->result = result;
    slot->outcome = (uint8_t)outcome;
    slot->result = result;
    wire_remember(ctx->wire, result);
    /* From here on the job may be freed, and from the second store on the slot may be. */
    atomic_store_explicit(&job->done, true, memory_order_release);
    atomic_store_explicit(&slot->state, WIRE_STATE(id, WIRE_DONE), memory_order_release);
    ring(ctx->wire);

    if (id >= atomic_load(&ctx->wire->wake_at)) {
        atomic_fetch_add(&ctx->wire->done_bell, 1);
        futex_wake_all(&ctx->wire->done_bell);
    }
}

/* With the queue lock: whether the worker is through with all requests. */
static bool is_at_rest(struct veo_thr_ctxt *ctx)
{
    veolib_queue_harvest_locked(ctx);
    return veolib_queue_is_empty(ctx) && !atomic_load_explicit(&ctx->gone, memory_order_relaxed);
}

uint64_t veolib_queue_done(struct veo_thr_ctxt *ctx, int outcome, uint64_t result)
{
    uint64_t id = VEO_REQUEST_ID_INVALID;
    pthread_mutex_lock(&ctx->submit);
    pthread_mutex_lock(&ctx->queue);
    uint64_t next = atomic_load_explicit(&ctx->next_id, memory_order_relaxed);
    if (is_at_rest(ctx) && veolib_results_put(&ctx->results, next, outcome, result)) {
        id = next;
        wire_remember(ctx->wire, result);
        atomic_store_explicit(&ctx->next_id, next + 1, memory_order_release);
        atomic_store_explicit(&ctx->harvested, next + 1, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->queue);
    pthread_mutex_unlock(&ctx->submit);
    return id;
}

void veolib_queue_remember(struct veo_thr_ctxt *ctx, uint64_t result)
{
    pthread_mutex_lock(&ctx->submit);
    pthread_mutex_lock(&ctx->queue);
    if (is_at_rest(ctx))
        wire_remember(ctx->wire, result);
    pthread_mutex_unlock(&ctx->queue);
    pthread_mutex_unlock(&ctx->submit);
}
