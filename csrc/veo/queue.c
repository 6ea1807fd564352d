/* SPDX-License-Identifier: BSD-3-Clause */
/* A context's queue: writing requests, and taking out what is finished. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/futex.h"
#include "veo/host.h"

/* The worker's death is looked for at least this often by whoever waits. */
#define SLICE_NS (20 * CLOCK_MILLISECOND)
#define NOBODY UINT64_MAX

struct request_extra *extra_new(int ncopies)
{
    return calloc(1, sizeof(struct request_extra) + (size_t)ncopies * sizeof(struct copy_out));
}

static struct chunk *chunk_new(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    uint64_t wire = chunk ? wire_get(ctx->proc, sizeof(struct wire_chunk)) : 0;
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
    wire_put(ctx->proc, (uint64_t)(uintptr_t)chunk->wire);
    free(chunk);
}

bool queue_init(struct veo_thr_ctxt *ctx)
{
    struct chunk *chunk = chunk_new(ctx);
    if (!chunk)
        return false;
    ctx->head = ctx->tail = chunk;
    ctx->retired = NULL;
    ctx->head_index = ctx->tail_index = 0;
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
 * seen it: were the slot written again now, the worker would wait for it for ever.
 */
static void chunk_retire(struct veo_thr_ctxt *ctx, struct chunk *chunk)
{
    chunk->next = ctx->retired;
    ctx->retired = chunk;
    uint64_t left = atomic_load_explicit(&ctx->wire->left, memory_order_acquire);
    for (struct chunk **at = &ctx->retired; *at;) {
        struct chunk *old = *at;
        if (atomic_load_explicit(&old->in_use, memory_order_relaxed) <= left) {
            *at = old->next;
            chunk_delete(ctx, old);
        } else {
            at = &old->next;
        }
    }
}

/* The worker is through with the context, or gone. */
void queue_free(struct veo_thr_ctxt *ctx)
{
    while (ctx->retired) {
        struct chunk *next = ctx->retired->next;
        chunk_delete(ctx, ctx->retired);
        ctx->retired = next;
    }
    while (ctx->head) {
        struct chunk *next = ctx->head->next;
        for (int i = 0; i < WIRE_CHUNK_SLOTS; i++)
            free(ctx->head->extra[i]);
        chunk_delete(ctx, ctx->head);
        ctx->head = next;
    }
    ctx->tail = NULL;
    results_clear(&ctx->results);
}

/* --- submission --------------------------------------------------------------------------- */

bool queue_begin(struct veo_thr_ctxt *ctx, struct draft *draft)
{
    if (proc_is_dead(ctx->proc)) {
        veo_fail(ESRCH, "the VE process is gone: nothing can be submitted to it");
        return false;
    }
    pthread_mutex_lock(&ctx->submit);
    if (atomic_load_explicit(&ctx->gone, memory_order_relaxed)) {
        pthread_mutex_unlock(&ctx->submit);
        veo_fail(EINVAL, "the context is closed");
        return false;
    }
    /* Only the holder of the submit lock moves the tail. */
    if (ctx->tail_index == WIRE_CHUNK_SLOTS - 1 && !ctx->tail->next) {
        struct chunk *next = chunk_new(ctx);
        if (!next) {
            pthread_mutex_unlock(&ctx->submit);
            veo_fail(ENOMEM, "no memory for more queued requests");
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
    draft->id = atomic_load_explicit(&ctx->next_id, memory_order_relaxed);
    return true;
}

void queue_abandon(struct veo_thr_ctxt *ctx)
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

uint64_t queue_publish(struct veo_thr_ctxt *ctx, struct draft *draft, struct request_extra *extra)
{
    ctx->tail->extra[ctx->tail_index] = extra;
    if (draft->slot->op == WIRE_HOST)
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
    pthread_mutex_unlock(&ctx->submit);
    ring(ctx->wire);
    return id;
}

uint64_t queue_simple(struct veo_thr_ctxt *ctx, enum wire_op op, uint64_t target,
                      struct request_extra *extra)
{
    struct draft draft;
    if (!queue_begin(ctx, &draft)) {
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }
    draft.slot->op = (uint8_t)op;
    draft.slot->target = target;
    return queue_publish(ctx, &draft, extra);
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
            memcpy(extra->copies[i].to, extra->copies[i].from, extra->copies[i].size);
        if (extra->free_on_success)
            heap_put(ctx->proc, extra->free_on_success);
    }
    if (extra->block)
        wire_put(ctx->proc, extra->block);
    free(extra);
}

/* Takes finished requests out, in order; the one called WANTED goes to DELIVERY and not to the
 * table. With the queue lock. */
static void harvest(struct veo_thr_ctxt *ctx, uint64_t wanted, struct delivery *delivery)
{
    bool dead = atomic_load_explicit(&ctx->proc->dead, memory_order_acquire);
    uint64_t id = atomic_load_explicit(&ctx->harvested, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    for (; id < end; id++) {
        struct wire_slot *slot = &ctx->head->wire->slots[ctx->head_index];
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        int outcome = VEO_COMMAND_ERROR;
        uint64_t result = 0;
        if (state == WIRE_STATE(id, WIRE_DONE)) {
            outcome = slot->outcome <= VEO_COMMAND_ERROR ? slot->outcome : VEO_COMMAND_ERROR;
            result = slot->result;
        } else if (!dead) {
            break;
        }
        struct request_extra *extra = ctx->head->extra[ctx->head_index];
        if (extra) {
            ctx->head->extra[ctx->head_index] = NULL;
            settle_extra(ctx, extra, outcome);
        }
        if (outcome == VEO_COMMAND_EXCEPTION && atomic_load(&ctx->proc->header->crashed))
            atomic_store_explicit(&ctx->proc->dead, true, memory_order_release);
        if (id == wanted)
            *delivery = (struct delivery){.done = true, .outcome = outcome, .result = result};
        else if (!results_put(&ctx->results, id, outcome, result))
            break; /* no memory: it stays in the queue and is tried again */
        atomic_store_explicit(&ctx->harvested, id + 1, memory_order_release);
        if (++ctx->head_index == WIRE_CHUNK_SLOTS) {
            struct chunk *old = ctx->head;
            ctx->head = old->next;
            ctx->head_index = 0;
            chunk_retire(ctx, old);
        }
    }
}

void queue_harvest(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_lock(&ctx->queue);
    harvest(ctx, NOBODY, NULL);
    pthread_mutex_unlock(&ctx->queue);
}

/* State of ID with the queue lock; a result is delivered. */
static int state_of(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result)
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
    return results_take(&ctx->results, id, &outcome, result) ? outcome : VEO_COMMAND_ERROR;
}

int queue_peek(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result)
{
    *result = 0;
    pthread_mutex_lock(&ctx->queue);
    int state = state_of(ctx, id, result);
    pthread_mutex_unlock(&ctx->queue);
    if (state == VEO_COMMAND_UNFINISHED)
        proc_check_now_and_then(ctx->proc);
    return state;
}

bool queue_is_empty(struct veo_thr_ctxt *ctx)
{
    return atomic_load_explicit(&ctx->harvested, memory_order_acquire) ==
           atomic_load_explicit(&ctx->next_id, memory_order_acquire);
}

bool queue_is_idle(struct veo_thr_ctxt *ctx)
{
    if (!queue_is_empty(ctx))
        queue_harvest(ctx);
    return queue_is_empty(ctx);
}

/* --- waiting ------------------------------------------------------------------------------ */

/* With the queue lock: tells the worker the lowest id that a sleeper waits for. */
static void set_wake_at(struct veo_thr_ctxt *ctx)
{
    uint64_t lowest = NOBODY;
    for (const struct sleeper *s = ctx->sleepers; s; s = s->next)
        lowest = s->id < lowest ? s->id : lowest;
    atomic_store(&ctx->wire->wake_at, lowest);
}

static void sleepers_add(struct veo_thr_ctxt *ctx, struct sleeper *me)
{
    pthread_mutex_lock(&ctx->queue);
    me->next = ctx->sleepers;
    ctx->sleepers = me;
    set_wake_at(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

static void sleepers_remove(struct veo_thr_ctxt *ctx, struct sleeper *me)
{
    pthread_mutex_lock(&ctx->queue);
    for (struct sleeper **at = &ctx->sleepers; *at; at = &(*at)->next) {
        if (*at == me) {
            *at = me->next;
            break;
        }
    }
    set_wake_at(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

/* Whether request ID is done, or at the host's turn if that is enough. Another thread may have
 * harvested it: then the slot is another request's, perhaps one of the same id. */
static bool has_moved(struct veo_thr_ctxt *ctx, const struct wire_slot *slot, uint64_t id,
                      bool until_done)
{
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state != WIRE_STATE(id, WIRE_READY) &&
        !(until_done && state == WIRE_STATE(id, WIRE_HOST_TURN)))
        return true;
    return atomic_load_explicit(&ctx->harvested, memory_order_acquire) > id;
}

static bool proc_stops(struct veo_proc_handle *proc)
{
    return atomic_load_explicit(&proc->dead, memory_order_relaxed) ||
           atomic_load_explicit(&proc->closing, memory_order_relaxed);
}

/* Until request ID in SLOT is done (or at the host's turn, unless UNTIL_DONE), or the process is
 * dead, or the deadline. */
static bool wait_slot(struct veo_thr_ctxt *ctx, const struct wire_slot *slot, uint64_t id,
                      bool until_done, int64_t deadline)
{
    struct veo_proc_handle *proc = ctx->proc;
    bool there = false;
    struct spin_turn turn = {.my_core = &ctx->wire->host_core,
                             .their_core = &ctx->wire->worker_core};
#define THERE() has_moved(ctx, slot, id, until_done)
    while (!(there = THERE()) && spin_again(&turn, veo_root.board, 0, &ctx->patience))
        ;
    spin_end(&turn, veo_root.board, 0);
    if (there)
        return true;
    int64_t start = clock_now();
    struct sleeper me = {.id = id};
    sleepers_add(ctx, &me);
    while (!there && !proc_stops(proc)) {
        uint32_t bell = atomic_load(&ctx->wire->done_bell);
        atomic_thread_fence(memory_order_seq_cst);
        there = THERE();
        int64_t now = there ? 0 : clock_now();
        if (there || now >= deadline)
            break;
        int64_t left = deadline - now;
        futex_sleep(&ctx->wire->done_bell, bell, left < SLICE_NS ? left : SLICE_NS);
        there = THERE();
        if (!there)
            proc_check(proc);
    }
#undef THERE
    sleepers_remove(ctx, &me);
    spin_learn(&ctx->patience, veo_root.board, clock_now() - start);
    return there;
}

/* The slot of a request that is in the queue, with the queue lock. */
static struct wire_slot *slot_of(struct veo_thr_ctxt *ctx, uint64_t id)
{
    uint64_t offset =
        id - atomic_load_explicit(&ctx->harvested, memory_order_relaxed) + ctx->head_index;
    struct chunk *chunk = ctx->head;
    for (; offset >= WIRE_CHUNK_SLOTS; offset -= WIRE_CHUNK_SLOTS)
        chunk = chunk->next;
    return &chunk->wire->slots[offset];
}

int queue_wait(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result, int64_t deadline)
{
    *result = 0;
    for (;;) {
        struct wire_slot *slot = NULL;
        pthread_mutex_lock(&ctx->queue);
        int state = state_of(ctx, id, result);
        if (state == VEO_COMMAND_UNFINISHED)
            slot = slot_of(ctx, id);
        pthread_mutex_unlock(&ctx->queue);
        if (state != VEO_COMMAND_UNFINISHED)
            return state;
        if (!wait_slot(ctx, slot, id, true, deadline)) {
            if (atomic_load(&ctx->proc->closing))
                return VEO_COMMAND_ERROR;
            if (!atomic_load(&ctx->proc->dead) && clock_now() >= deadline)
                return VEO_COMMAND_UNFINISHED;
        }
    }
}

int queue_drain(struct veo_thr_ctxt *ctx, int64_t deadline)
{
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    for (;;) {
        struct wire_slot *slot = NULL;
        if (atomic_load_explicit(&ctx->harvested, memory_order_acquire) < end) {
            pthread_mutex_lock(&ctx->queue);
            harvest(ctx, NOBODY, NULL);
            if (atomic_load_explicit(&ctx->harvested, memory_order_relaxed) < end)
                slot = slot_of(ctx, end - 1);
            pthread_mutex_unlock(&ctx->queue);
        }
        if (!slot)
            return atomic_load(&ctx->proc->dead) ? -1 : 0;
        if (!wait_slot(ctx, slot, end - 1, true, deadline) && !atomic_load(&ctx->proc->dead)) {
            if (atomic_load(&ctx->proc->closing))
                return -1;
            if (clock_now() >= deadline)
                return 1;
        }
    }
}

bool queue_wait_turn(struct veo_thr_ctxt *ctx, struct wire_slot *slot, uint64_t id)
{
    return wait_slot(ctx, slot, id, false, CLOCK_NEVER);
}

void queue_host_done(struct veo_thr_ctxt *ctx, struct wire_slot *slot, uint64_t id, int outcome,
                     uint64_t result)
{
    slot->outcome = (uint8_t)outcome;
    slot->result = result;
    atomic_store_explicit(&slot->state, WIRE_STATE(id, WIRE_DONE), memory_order_release);
    ring(ctx->wire);
    if (id >= atomic_load(&ctx->wire->wake_at)) {
        atomic_fetch_add(&ctx->wire->done_bell, 1);
        futex_wake_all(&ctx->wire->done_bell);
    }
}
