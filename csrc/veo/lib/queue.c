/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/copy.h"
#include "common/futex.h"
#include "veo/lib/error.h"
#include "veo/lib/process_handle.h"

/* No request has this id. */
#define NO_ID UINT64_MAX

/* --- chunks --- */

static struct chunk *chunk_new(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    uint64_t wire = 0;
    if (chunk != NULL)
        wire = veolib_wire_get(&ctx->proc->memory, sizeof(struct wire_chunk));
    if (wire == 0) {
        free(chunk);
        return NULL;
    }

    /* The memory may hold requests of a context that had the same ids. */
    chunk->wire = (struct wire_chunk *)(uintptr_t)wire;
    for (int i = 0; i < WIRE_CHUNK_SLOTS; i++)
        atomic_store_explicit(&chunk->wire->slots[i].state, 0, memory_order_relaxed);
    chunk->wire->next = NULL;
    return chunk;
}

static void chunk_delete(struct veo_thr_ctxt *ctx, struct chunk *chunk)
{
    veolib_wire_put(&ctx->proc->memory, (uint64_t)(uintptr_t)chunk->wire);
    free(chunk);
}

/* Frees the retired chunks that neither the worker nor a waiter reads any more. */
static void free_retired(struct veo_thr_ctxt *ctx)
{
    uint64_t left = atomic_load_explicit(&ctx->wire->left, memory_order_acquire);
    for (struct chunk **at = &ctx->retired; *at != NULL;) {
        struct chunk *old = *at;
        bool in_use = atomic_load_explicit(&old->in_use, memory_order_relaxed) > left;
        if (in_use || old->waiters > 0) {
            at = &old->next;
        } else {
            *at = old->next;
            chunk_delete(ctx, old);
        }
    }
}

/*
 * Retires a chunk of which everything is harvested. It is not free yet: a request that the host
 * executes is done before the worker has seen that; were the slot written again now, the worker
 * would wait for it forever. And a thread that waits for a request which another thread has
 * harvested still reads its slot.
 */
static void chunk_retire(struct veo_thr_ctxt *ctx, struct chunk *chunk)
{
    chunk->next = ctx->retired;
    ctx->retired = chunk;
    free_retired(ctx);
}

/* --- life --- */

bool veolib_queue_init(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = chunk_new(ctx);
    if (chunk == NULL)
        return false;

    ctx->head = ctx->tail = chunk;
    ctx->retired = NULL;
    ctx->head_index = ctx->tail_index = 0;
    ctx->waiters = 0;
    ctx->reserved = 0;
    atomic_store(&ctx->next_id, 0);
    atomic_store(&ctx->harvested, 0);
    ctx->sleepers = (struct list){NULL, NULL};
    ctx->backoff = (struct spin_backoff){0};

    ctx->wire->first = chunk->wire;
    atomic_store(&ctx->wire->wake_at, NO_ID);
    return true;
}

void veolib_queue_free(struct veo_thr_ctxt *ctx)
{
    while (ctx->retired != NULL) {
        struct chunk *next = ctx->retired->next;
        chunk_delete(ctx, ctx->retired);
        ctx->retired = next;
    }

    while (ctx->head != NULL) {
        struct chunk *next = ctx->head->next;
        for (int i = 0; i < WIRE_CHUNK_SLOTS; i++) {
            free(ctx->head->records[i].extra);
            if (ctx->head->records[i].job != NULL)
                ctx->head->records[i].job->ops->free(ctx->head->records[i].job);
        }
        chunk_delete(ctx, ctx->head);
        ctx->head = next;
    }

    ctx->tail = NULL;
    veolib_results_clear(&ctx->results);
}

/* --- submission --- */

struct request_extra *veolib_extra_new(int ncopies)
{
    return calloc(1, sizeof(struct request_extra) + (size_t)ncopies * sizeof(struct copy_out));
}

/* With the submit lock, so that no other thread moves the tail: true if another slot follows that
 * of the next request, ID, and its result has room. */
static bool has_room(const struct veo_thr_ctxt *ctx, uint64_t id)
{
    return id < ctx->reserved &&
           (ctx->tail_index < WIRE_CHUNK_SLOTS - 1 || ctx->tail->next != NULL);
}

static bool extend(struct veo_thr_ctxt *ctx)
{
    struct chunk *next = chunk_new(ctx);
    if (next == NULL)
        return false;

    /* The worker goes on there after the last slot, which is not READY yet; a harvester too, which
     * has read the id of that slot, or a later one, in next_id. */
    ctx->tail->wire->next = next->wire;
    ctx->tail->next = next;
    return true;
}

static bool reserve_result(struct veo_thr_ctxt *ctx, uint64_t id)
{
    pthread_mutex_lock(&ctx->queue);
    bool reserved = veolib_results_reserve(&ctx->results, id);
    pthread_mutex_unlock(&ctx->queue);
    if (reserved)
        ctx->reserved = veolib_results_end_of_page(id);
    return reserved;
}

/* Makes what has_room() looks for, the rest of a chunk or page with it; rarely called. */
static __attribute__((noinline)) bool make_room(struct veo_thr_ctxt *ctx, uint64_t id)
{
    bool last = ctx->tail_index == WIRE_CHUNK_SLOTS - 1;
    if (last && ctx->tail->next == NULL && !extend(ctx))
        return false;
    return id < ctx->reserved || reserve_result(ctx, id);
}

bool veolib_queue_begin(struct veo_thr_ctxt *ctx, struct draft *draft)
{
    if (veolib_worker_is_dead(&ctx->proc->worker)) {
        veolib_fail(ESRCH, "the VE process is gone: nothing can be submitted to it");
        return false;
    }

    pthread_mutex_lock(&ctx->submit);
    if (atomic_load_explicit(&ctx->gone, memory_order_relaxed)) {
        pthread_mutex_unlock(&ctx->submit);
        veolib_fail(EINVAL, "the context is closed");
        return false;
    }
    uint64_t id = atomic_load_explicit(&ctx->next_id, memory_order_relaxed);
    if (!has_room(ctx, id) && !make_room(ctx, id)) {
        pthread_mutex_unlock(&ctx->submit);
        veolib_fail(ENOMEM, "out of memory (queued requests)");
        return false;
    }

    struct wire_slot *slot = &ctx->tail->wire->slots[ctx->tail_index];
    slot->flags = 0;
    slot->ret = 0;
    slot->nargs = 0;
    slot->kinds = 0;
    slot->outcome = VEO_COMMAND_ERROR;
    slot->result = 0;
    atomic_store_explicit(&slot->withdrawn, WIRE_KEPT, memory_order_relaxed);

    draft->slot = slot;
    draft->job = NULL;
    draft->id = id;
    return true;
}

void veolib_queue_abandon(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_unlock(&ctx->submit);
}

/* Wakes the worker if it sleeps. */
static void ring(struct wire_context *wire)
{
    /* The slot's state must be visible before worker_asleep is read; the worker does it the other
     * way round. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&wire->worker_asleep, memory_order_relaxed)) {
        atomic_fetch_add(&wire->doorbell, 1);
        futex_wake_all(&wire->doorbell);
    }
}

uint64_t veolib_queue_publish(struct veo_thr_ctxt *ctx, struct draft *draft,
                              struct request_extra *extra)
{
    int64_t now = clock_coarse();
    ctx->tail->records[ctx->tail_index] =
        (struct request_record){.extra = extra, .job = draft->job, .submitted = now};
    if (draft->job != NULL)
        atomic_store_explicit(&ctx->tail->in_use, draft->id + 1, memory_order_relaxed);
    if (++ctx->tail_index == WIRE_CHUNK_SLOTS) {
        ctx->tail = ctx->tail->next;
        ctx->tail_index = 0;
    }

    /* In this order: a harvester reads the slots below next_id, and before this one is READY it may
     * still show the end of a request of another context. */
    uint64_t id = draft->id;
    atomic_store_explicit(&draft->slot->state, WIRE_STATE(id, WIRE_READY), memory_order_release);
    atomic_store_explicit(&ctx->next_id, id + 1, memory_order_release);

    /* Before the lock is released: then another thread can close the context. */
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

/* --- harvest --- */

/* How a request ended. */
struct ending {
    bool known;
    int outcome;
    uint64_t result;
};

/* A call that ends its process has begun, and has no result. */
static void settle_batch(const struct batch_out *batch, int outcome)
{
    uint64_t begun = atomic_load_explicit(&batch->from->begun, memory_order_acquire);
    uint64_t ended = outcome != VEO_COMMAND_OK && begun > 0 ? begun - 1 : begun;
    if (ended > batch->count)
        ended = batch->count;
    copy_memory(batch->results, batch->from->values + batch->first, ended * sizeof(uint64_t));
    *batch->ended = ended;
}

/* Apart, as most requests have none. */
static __attribute__((noinline)) void settle_extra(struct veo_thr_ctxt *ctx,
                                                   struct request_extra *extra, int outcome)
{
    if (extra->batch.from != NULL)
        settle_batch(&extra->batch, outcome);
    if (outcome == VEO_COMMAND_OK) {
        for (int i = 0; i < extra->ncopies; i++)
            copy_memory(extra->copies[i].to, extra->copies[i].from, extra->copies[i].size);
        if (extra->free_on_success)
            veolib_heap_put(&ctx->proc->memory, extra->free_on_success);
    }
    if (extra->block)
        veolib_wire_put(&ctx->proc->memory, extra->block);
    free(extra);
}

/*
 * True if the request at the head of the queue has ended, with how in *ENDING. The worker's part of
 * the slot is read once; what the host executes is known from the job, whatever the slot says.
 */
static bool has_ended(struct veo_thr_ctxt *ctx, const struct wire_slot *slot,
                      const struct request_record *record, uint64_t id, struct ending *ending)
{
    struct veolib_worker *worker = &ctx->proc->worker;
    *ending = (struct ending){.known = true, .outcome = VEO_COMMAND_ERROR};
    if (record->job != NULL && atomic_load_explicit(&record->job->done, memory_order_acquire)) {
        ending->outcome = record->job->outcome;
        ending->result = record->job->result;
        return true;
    }

    /* Before the slot is read: a worker that died after its answer has answered. */
    bool dead = atomic_load_explicit(&worker->dead, memory_order_acquire) ||
                atomic_load_explicit(&ctx->gone, memory_order_acquire);
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (record->job == NULL && state == WIRE_STATE(id, WIRE_DONE)) {
        int said = *(const volatile uint8_t *)&slot->outcome;
        ending->outcome = said <= VEO_COMMAND_ERROR ? said : VEO_COMMAND_ERROR;
        ending->result = *(const volatile uint64_t *)&slot->result;
        return true;
    }

    if (!dead && state != WIRE_STATE(id, WIRE_READY) && state != WIRE_STATE(id, WIRE_HOST_TURN) &&
        state != WIRE_STATE(id, WIRE_DONE)) {
        veolib_worker_damaged(worker);
        dead = true;
    }
    /* While a host thread executes it, its buffers are in use. */
    return dead && (record->job == NULL || record->job->ops->cancel(ctx, record->job));
}

/* True if an exception ends the process; those of transfers to bad addresses do not. The worker
 * answers before it says that it has crashed. */
static bool is_crash(const struct veo_proc_handle *proc, const struct wire_slot *slot)
{
    return atomic_load(&proc->memory.header->crashed) ||
           wire_is_call(*(const volatile uint8_t *)&slot->op);
}

/* Advances the head by one slot. */
static void advance_head(struct veo_thr_ctxt *ctx)
{
    if (++ctx->head_index < WIRE_CHUNK_SLOTS)
        return;
    struct chunk *old = ctx->head;
    ctx->head = old->next;
    ctx->head_index = 0;
    chunk_retire(ctx, old);
}

/* Takes requests that have ended out of the queue, in order; the result of request WANTED goes to
 * DELIVERY and not into the table. With the queue lock. */
static void harvest(struct veo_thr_ctxt *ctx, uint64_t wanted, struct ending *delivery)
{
    uint64_t id = atomic_load_explicit(&ctx->harvested, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    for (; id < end; id++) {
        struct request_record *record = &ctx->head->records[ctx->head_index];
        const struct wire_slot *slot = &ctx->head->wire->slots[ctx->head_index];
        struct ending ending;
        if (!has_ended(ctx, slot, record, id, &ending))
            break;

        if (record->extra != NULL) {
            settle_extra(ctx, record->extra, ending.outcome);
            record->extra = NULL;
        }
        if (ending.outcome == VEO_COMMAND_EXCEPTION && is_crash(ctx->proc, slot))
            atomic_store_explicit(&ctx->proc->worker.dead, true, memory_order_release);

        if (id == wanted)
            *delivery = ending;
        else if (record->submitted != REQUEST_WITHDRAWN)
            veolib_results_put(&ctx->results, id, ending.outcome, ending.result);
        veolib_results_settle(&ctx->results, id + 1);

        if (record->job != NULL) {
            record->job->ops->free(record->job);
            record->job = NULL;
        }
        atomic_store_explicit(&ctx->harvested, id + 1, memory_order_release);
        advance_head(ctx);
    }
}

void veolib_queue_harvest_locked(struct veo_thr_ctxt *ctx)
{
    harvest(ctx, NO_ID, NULL);
}

void veolib_queue_harvest(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_lock(&ctx->queue);
    veolib_queue_harvest_locked(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

int veolib_queue_state_locked(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result)
{
    if (id >= atomic_load_explicit(&ctx->next_id, memory_order_acquire))
        return VEO_COMMAND_ERROR;

    if (id < atomic_load_explicit(&ctx->harvested, memory_order_relaxed)) {
        int outcome;
        return veolib_results_take(&ctx->results, id, &outcome, result) ? outcome
                                                                        : VEO_COMMAND_ERROR;
    }

    struct ending delivery = {0};
    harvest(ctx, id, &delivery);
    if (!delivery.known)
        return VEO_COMMAND_UNFINISHED;
    *result = delivery.result;
    return delivery.outcome;
}

struct chunk *veolib_queue_chunk_locked(struct veo_thr_ctxt *ctx, uint64_t id, unsigned *index)
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
    int state = veolib_queue_state_locked(ctx, id, result);
    pthread_mutex_unlock(&ctx->queue);

    if (state == VEO_COMMAND_UNFINISHED)
        veolib_worker_check_now_and_then(&ctx->proc->worker);
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

/* --- requests that the host executes --- */

void veolib_queue_host_done(struct veo_thr_ctxt *ctx, struct host_job *job, int outcome,
                            uint64_t result)
{
    struct wire_slot *slot = job->slot;
    uint64_t id = job->id;
    job->outcome = outcome;
    job->result = result;
    slot->outcome = (uint8_t)outcome;
    slot->result = result;
    wire_remember(ctx->wire, result);

    /* From here on the job may be freed, and from the second store on the slot may be reused. */
    atomic_store_explicit(&job->done, true, memory_order_release);
    atomic_store_explicit(&slot->state, WIRE_STATE(id, WIRE_DONE), memory_order_release);
    ring(ctx->wire);

    if (id >= atomic_load(&ctx->wire->wake_at)) {
        atomic_fetch_add(&ctx->wire->done_doorbell, 1);
        futex_wake_all(&ctx->wire->done_doorbell);
    }
}

/* With the queue lock: whether the worker has nothing to do. */
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
    if (is_at_rest(ctx) && veolib_results_reserve(&ctx->results, next)) {
        id = next;
        veolib_results_put(&ctx->results, id, outcome, result);
        veolib_results_settle(&ctx->results, id + 1);
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
