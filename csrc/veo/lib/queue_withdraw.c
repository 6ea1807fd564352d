/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/queue_withdraw.h"

#include <pthread.h>
#include <stdatomic.h>

#include "veo/lib/queue.h"
#include "veo/wire.h"

/* With the queue lock: the slot of a request in the queue, and what the host knows of it. */
static struct wire_slot *slot_of(struct veo_thr_ctxt *ctx, uint64_t id,
                                 struct request_record **record)
{
    unsigned index;
    struct chunk *chunk = veolib_queue_chunk_locked(ctx, id, &index);
    *record = &chunk->records[index];
    return &chunk->wire->slots[index];
}

/*
 * Marks a slot, of which the one BEFORE is executed first. The worker executes a full fence between
 * its answer to that and its look at the mark, so it cannot have looked if after ours (the
 * exchange) there is no answer. Where there is one, it may have missed the mark, and whoever
 * changes it now decides.
 */
static bool mark(struct wire_slot *slot, const struct wire_slot *before, uint64_t id_before)
{
    uint64_t done = WIRE_STATE(id_before, WIRE_DONE);
    if (atomic_load_explicit(&before->state, memory_order_acquire) == done)
        return false;

    atomic_exchange(&slot->withdrawn, WIRE_TO_WITHDRAW);
    if (atomic_load(&before->state) != done)
        return true;

    uint16_t marked = WIRE_TO_WITHDRAW;
    return !atomic_compare_exchange_strong(&slot->withdrawn, &marked, WIRE_KEPT);
}

/* With the queue lock; the request before it is in the queue too. */
static bool withdraw(struct veo_thr_ctxt *ctx, uint64_t id)
{
    struct request_record *record;
    struct request_record *ignored;
    struct wire_slot *slot = slot_of(ctx, id, &record);
    if (record->submitted == REQUEST_WITHDRAWN)
        return true;
    if (record->job != NULL || !wire_is_call(*(const volatile uint8_t *)&slot->op) ||
        !mark(slot, slot_of(ctx, id - 1, &ignored), id - 1))
        return false;

    /* The buffers of its caller are not ours any more, whatever the slot will say. */
    record->submitted = REQUEST_WITHDRAWN;
    if (record->extra != NULL) {
        record->extra->ncopies = 0;
        record->extra->batch.from = NULL;
    }
    return true;
}

/* With the queue lock: has a batch that may have begun end with the call that runs. */
static void stop_batch(struct veo_thr_ctxt *ctx, uint64_t id)
{
    struct request_record *record;
    slot_of(ctx, id, &record);
    if (record->extra != NULL && record->extra->batch.from != NULL)
        atomic_store(&record->extra->batch.from->stop, 1);
}

bool veolib_queue_withdraw(struct veo_thr_ctxt *ctx, uint64_t id)
{
    pthread_mutex_lock(&ctx->queue);
    veolib_queue_harvest_locked(ctx);
    uint64_t oldest = atomic_load_explicit(&ctx->harvested, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    bool withdrawn = id > oldest && id < end && withdraw(ctx, id);
    if (!withdrawn && id >= oldest && id < end)
        stop_batch(ctx, id);
    pthread_mutex_unlock(&ctx->queue);
    return withdrawn;
}
