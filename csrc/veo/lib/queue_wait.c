/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slot says that something has happened; what it was is then read under the queue lock. Kernels
 * can write to slots, so every wait also checks its deadline, the process, and now and then the
 * queue itself, whatever its slot says.
 */
#include "veo/lib/queue_wait.h"

#include <time.h>

#include "common/clock.h"
#include "common/futex.h"
#include "common/list.h"
#include "common/spin.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"

/* A waiting thread looks for the worker's death at least this often. */
#define SLICE_NS (20 * CLOCK_MILLISECOND)
/* For wake_at: no thread sleeps. */
#define NO_ID UINT64_MAX
#define SHORTEST_NAP (CLOCK_MILLISECOND / 5)
#define LONGEST_NAP (10 * CLOCK_MILLISECOND)

/* A thread that sleeps, in its context's list. */
struct sleeper {
    struct list_node node;
    uint64_t id; /* the request that it waits for */
};

/* Target of a wait. */
struct target {
    struct chunk *chunk; /* not freed meanwhile */
    const struct wire_slot *slot;
    uint64_t id;
    bool turn; /* that the worker hands it over to the host; else that it is done */
};

/* With the queue lock: finds the slot, and keeps its chunk until target_release(). */
static void target_hold(struct veo_thr_ctxt *ctx, struct target *target)
{
    unsigned index;
    target->chunk = veolib_queue_chunk_locked(ctx, target->id, &index);
    target->chunk->waiters++;
    ctx->waiters++;
    target->slot = &target->chunk->wire->slots[index];
}

/* With the queue lock. The chunk goes with the next that is retired. */
static void target_release(struct veo_thr_ctxt *ctx, struct target *target)
{
    if (target->chunk == NULL)
        return;
    target->chunk->waiters--;
    ctx->waiters--;
    target->chunk = NULL;
    target->slot = NULL;
}

/* With the queue lock: tells the worker the lowest id that a sleeper waits for. */
static void set_wake_at(struct veo_thr_ctxt *ctx)
{
    uint64_t lowest = NO_ID;
    for (const struct list_node *at = ctx->sleepers.first; at != NULL; at = at->next) {
        const struct sleeper *sleeper = LIST_ENTRY(at, const struct sleeper, node);
        lowest = sleeper->id < lowest ? sleeper->id : lowest;
    }
    atomic_store(&ctx->wire->wake_at, lowest);
}

static void sleepers_add(struct veo_thr_ctxt *ctx, struct sleeper *me)
{
    pthread_mutex_lock(&ctx->queue);
    list_prepend(&ctx->sleepers, &me->node);
    set_wake_at(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

static void sleepers_remove(struct veo_thr_ctxt *ctx, struct sleeper *me)
{
    pthread_mutex_lock(&ctx->queue);
    list_remove(&ctx->sleepers, &me->node);
    set_wake_at(ctx);
    pthread_mutex_unlock(&ctx->queue);
}

/* True if the target is reached. The count of harvested requests is checked too: another thread may
 * have harvested the request, and the slot says nothing if a kernel wrote there. */
static bool has_come(struct veo_thr_ctxt *ctx, const struct target *target)
{
    uint64_t state = atomic_load_explicit(&target->slot->state, memory_order_acquire);
    if (state == WIRE_STATE(target->id, WIRE_DONE) ||
        (target->turn && state == WIRE_STATE(target->id, WIRE_HOST_TURN)))
        return true;
    return atomic_load_explicit(&ctx->harvested, memory_order_acquire) > target->id;
}

static bool proc_stops(struct veo_proc_handle *proc)
{
    return atomic_load_explicit(&proc->worker.dead, memory_order_relaxed) ||
           atomic_load_explicit(&proc->closing, memory_order_relaxed);
}

static bool spin_for(struct veo_thr_ctxt *ctx, const struct target *target)
{
    bool there = false;
    struct spin_wait wait = {.my_core = &ctx->wire->host_core,
                             .their_core = &ctx->wire->worker_core};
    while (!(there = has_come(ctx, target)) && spin_again(&wait, &veolib_spin_side, &ctx->backoff))
        ;
    spin_end(&wait, &veolib_spin_side);
    return there;
}

/* Waits until TARGET has come, the process stops, or the deadline. */
static void wait_for(struct veo_thr_ctxt *ctx, const struct target *target, int64_t deadline)
{
    struct veo_proc_handle *proc = ctx->proc;
    if (spin_for(ctx, target))
        return;

    int64_t start = clock_now();
    struct sleeper me = {.id = target->id};
    sleepers_add(ctx, &me);
    while (!proc_stops(proc)) {
        uint32_t doorbell = atomic_load(&ctx->wire->done_doorbell);
        atomic_thread_fence(memory_order_seq_cst);
        if (has_come(ctx, target))
            break;

        int64_t now = clock_now();
        if (now >= deadline)
            break;
        int64_t left = deadline - now;
        futex_sleep(&ctx->wire->done_doorbell, doorbell, left < SLICE_NS ? left : SLICE_NS);
        if (has_come(ctx, target))
            break;

        veolib_worker_check(&proc->worker);
        /* Notices damage to the slots of earlier requests. */
        veolib_queue_harvest(ctx);
    }
    sleepers_remove(ctx, &me);
    spin_learn(&ctx->backoff, &veolib_spin_side, clock_now() - start);
}

/*
 * For a request that has ended and cannot be harvested yet, because a host thread still executes
 * another one. Longer each time.
 */
static void back_off(int64_t *nap, int64_t deadline)
{
    int64_t left = deadline - clock_now();
    int64_t ns = *nap < left ? *nap : left;
    struct timespec pause = {.tv_nsec = ns > 0 ? ns : 0};
    nanosleep(&pause, NULL);
    if (*nap < LONGEST_NAP)
        *nap *= 2;
}

/* With the queue lock, which it releases: waits for a request that is not finished. Apart, as its
 * state would be made for finished ones too. */
static __attribute__((noinline)) int wait_unfinished(struct veo_thr_ctxt *ctx, uint64_t id,
                                                     uint64_t *result, int64_t deadline)
{
    struct target target = {.id = id};
    int64_t nap = SHORTEST_NAP;
    int state = VEO_COMMAND_UNFINISHED;
    for (bool waited = false;; waited = true) {
        bool closing = state == VEO_COMMAND_UNFINISHED && atomic_load(&ctx->proc->closing);
        bool waits =
            state == VEO_COMMAND_UNFINISHED && !closing && (!waited || clock_now() < deadline);
        if (waits)
            target_hold(ctx, &target);
        pthread_mutex_unlock(&ctx->queue);
        if (!waits)
            return closing ? VEO_COMMAND_ERROR : state;

        if (waited && (proc_stops(ctx->proc) || has_come(ctx, &target)))
            back_off(&nap, deadline);
        wait_for(ctx, &target, deadline);

        pthread_mutex_lock(&ctx->queue);
        target_release(ctx, &target);
        state = veolib_queue_state_locked(ctx, id, result);
    }
}

int veolib_queue_wait(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *result, int64_t deadline)
{
    *result = 0;
    pthread_mutex_lock(&ctx->queue);
    int state = veolib_queue_state_locked(ctx, id, result);
    if (state == VEO_COMMAND_UNFINISHED)
        return wait_unfinished(ctx, id, result, deadline);
    pthread_mutex_unlock(&ctx->queue);
    return state;
}

/* True if the requests below END are out of the queue; if not, TARGET is held for the next wait. */
static bool has_drained(struct veo_thr_ctxt *ctx, struct target *target, uint64_t end)
{
    if (target->chunk == NULL && atomic_load_explicit(&ctx->harvested, memory_order_acquire) >= end)
        return true;

    pthread_mutex_lock(&ctx->queue);
    target_release(ctx, target);
    veolib_queue_harvest_locked(ctx);
    bool drained = atomic_load_explicit(&ctx->harvested, memory_order_relaxed) >= end;
    if (!drained)
        target_hold(ctx, target);
    pthread_mutex_unlock(&ctx->queue);
    return drained;
}

static void release_unlocked(struct veo_thr_ctxt *ctx, struct target *target)
{
    pthread_mutex_lock(&ctx->queue);
    target_release(ctx, target);
    pthread_mutex_unlock(&ctx->queue);
}

int veolib_queue_drain_until(struct veo_thr_ctxt *ctx, uint64_t end, int64_t deadline)
{
    int64_t nap = SHORTEST_NAP;
    struct target target = {.id = end - 1};
    for (bool waited = false; !has_drained(ctx, &target, end); waited = true) {
        bool closing = atomic_load(&ctx->proc->closing);
        if (closing || (waited && clock_now() >= deadline)) {
            release_unlocked(ctx, &target);
            return closing ? -1 : 1;
        }
        if (waited && (proc_stops(ctx->proc) || has_come(ctx, &target)))
            back_off(&nap, deadline);
        wait_for(ctx, &target, deadline);
    }
    return atomic_load(&ctx->proc->worker.dead) ? -1 : 0;
}

int veolib_queue_drain(struct veo_thr_ctxt *ctx, int64_t deadline)
{
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    return veolib_queue_drain_until(ctx, end, deadline);
}

void veolib_queue_wait_for_waiters(struct veo_thr_ctxt *ctx)
{
    int64_t nap = SHORTEST_NAP;
    for (;;) {
        pthread_mutex_lock(&ctx->queue);
        unsigned waiters = ctx->waiters;
        pthread_mutex_unlock(&ctx->queue);
        if (!waiters)
            return;
        atomic_fetch_add(&ctx->wire->done_doorbell, 1);
        futex_wake_all(&ctx->wire->done_doorbell);
        back_off(&nap, CLOCK_NEVER);
    }
}

/* Only the agent waits for turns. The chunk stays until the job is done and the worker has left the
 * slot (chunk_retire() in queue.c). */
bool veolib_queue_wait_turn(struct veo_thr_ctxt *ctx, const struct wire_slot *slot, uint64_t id)
{
    struct target target = {.slot = slot, .id = id, .turn = true};
    wait_for(ctx, &target, CLOCK_NEVER);
    if (atomic_load_explicit(&ctx->harvested, memory_order_acquire) > id)
        return false;
    if (atomic_load_explicit(&slot->state, memory_order_acquire) == WIRE_STATE(id, WIRE_HOST_TURN))
        return true;
    int64_t nap = SHORTEST_NAP;
    back_off(&nap, CLOCK_NEVER);
    return false;
}
