/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/arrival.h"

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

#define ATTACH_AGAIN_NS (2 * CLOCK_MILLISECOND)

/* Returns the sender's credit for these segments. */
static void give_credit(accl_device *device, struct peer *peer, const struct ring_entry *entry,
                        uint32_t kind)
{
    if (kind == ENTRY_POOL)
        acclib_slots_release(&device->pool, entry->first);
    if (peer->in != NULL && entry->segments) {
        atomic_fetch_add_explicit(&peer->in->consumed, entry->segments, memory_order_release);
        wake_later(device, peer_rank(device, peer));
    }
}

/* Copies from a chain of rx buffers; false if the chain is not what the entry says. */
static bool copy_chain(accl_device *device, uint32_t chain, const struct wanted *to)
{
    const struct pool *pool = &device->pool;
    size_t wire = acclib_dtype_bytes(to->wire_type), size = acclib_dtype_bytes(to->type);
    uint64_t at = 0;

    for (uint32_t k = 0; at < to->count && k < pool->slot_count; k++) {
        if (!chain || chain > pool->slot_count)
            return false;
        const struct rx_slot *slot = &pool->slots[chain - 1];
        uint32_t bytes = READ_ONCE(slot->bytes);
        uint64_t n = bytes / wire;
        if (bytes > pool->slot_bytes || n > to->count - at)
            return false;
        acclib_convert(to->data + at * size, to->type, pool->data + (chain - 1) * pool->slot_bytes,
                       to->wire_type, n, false);
        at += n;
        chain = atomic_load(&slot->next);
    }

    return at == to->count;
}

/* True if elements of FROM can be converted to TO. */
static bool types_convert(uint32_t from, uint32_t to)
{
    return from == to || (from == ACCL_FLOAT16 && to == ACCL_FLOAT32) ||
           (from == ACCL_FLOAT32 && to == ACCL_FLOAT16);
}

static bool copy_direct(struct peer *peer, const struct ring_entry *entry, const struct wanted *to)
{
    size_t from = acclib_dtype_bytes(entry->source_type);
    if (!from || !types_convert(entry->source_type, to->type) ||
        entry->offset % acclib_dtype_alignment(entry->source_type) ||
        entry->offset > peer->arena_bytes || to->count > (peer->arena_bytes - entry->offset) / from)
        return false;

    struct converted made = {.to = to->data, .type = to->type, .n = to->count};
    if (to->copies != NULL) {
        made.copy = to->copies->result;
        made.copied = to->copies->bytes;
        to->copies->result = NULL;
    }
    acclib_convert_copies(&made, (const uint8_t *)peer->arena + entry->offset, entry->source_type,
                          to->wire_type == ACCL_FLOAT16);
    return true;
}

/* A sender that no longer waits has changed the entry's kind: the array may have changed too. */
static bool copy_array(accl_device *device, struct peer *peer, const struct arrival *a,
                       const struct wanted *to)
{
    const struct peer_elements from = {.at = a->entry.offset & ~ARENA_AT,
                                       .count = to->count,
                                       .type = a->entry.source_type,
                                       .to_type = to->type,
                                       .via16 = to->wire_type == ACCL_FLOAT16};
    return acclib_peer_memory_read(device, peer_rank(device, peer), &from, to->data) &&
           atomic_load(&a->shared->kind) == ENTRY_TAKEN;
}

enum arrival_copied acclib_arrival_copy(accl_device *device, struct peer *peer,
                                        const struct arrival *a, const struct wanted *to)
{
    if (a->data != NULL) {
        acclib_convert(to->data, to->type, a->data, to->wire_type, to->count, false);
        return ARRIVAL_COPIED;
    }
    if (a->kind == ENTRY_DIRECT && (a->entry.offset & ARENA_AT) &&
        types_convert(a->entry.source_type, to->type))
        return copy_array(device, peer, a, to) ? ARRIVAL_COPIED : ARRIVAL_UNREAD;

    bool copied = a->kind == ENTRY_POOL ? copy_chain(device, a->entry.first, to)
                                        : copy_direct(peer, &a->entry, to);
    return copied ? ARRIVAL_COPIED : ARRIVAL_DAMAGED;
}

bool acclib_arrival_leave(accl_device *device, struct peer *peer, const struct arrival *a)
{
    uint32_t taken = ENTRY_TAKEN;
    wake_later(device, peer_rank(device, peer));
    return atomic_compare_exchange_strong(&a->shared->kind, &taken, ENTRY_UNREAD);
}

void acclib_entry_read(struct ring_entry *to, const struct ring_entry *shared)
{
    to->tag = READ_ONCE(shared->tag);
    to->key = READ_ONCE(shared->key);
    to->bytes = READ_ONCE(shared->bytes);
    to->sequence = READ_ONCE(shared->sequence);
    to->segments = READ_ONCE(shared->segments);
    to->wire_type = READ_ONCE(shared->wire_type);
    to->source_type = READ_ONCE(shared->source_type);
    to->stream = READ_ONCE(shared->stream);
    to->first = READ_ONCE(shared->first);
    to->offset = READ_ONCE(shared->offset);
    to->numbers = READ_ONCE(shared->numbers);
}

static const char *find_flaw(const accl_device *device, const struct peer *peer,
                             const struct arrival *a)
{
    const struct ring_entry *entry = &a->entry;
    size_t size = acclib_dtype_bytes(entry->wire_type);
    if (a->kind != ENTRY_INLINE && a->kind != ENTRY_POOL && a->kind != ENTRY_DIRECT)
        return "an unknown kind";

    /* Sizes are powers of two. */
    if (!size || entry->bytes & (size - 1))
        return "no element type";
    if (!entry->segments || entry->segments > device->pool.slot_count)
        return "an impossible number of segments";
    if (entry->stream > ACCL_STREAM_ID_MAX + 1 && entry->stream != STREAM_TAKEN_BACK)
        return "an invalid stream number";
    if (a->kind == ENTRY_INLINE && entry->bytes > RING_INLINE)
        return "more data than an entry holds";
    if (a->kind == ENTRY_POOL && (!entry->first || entry->first > device->pool.slot_count ||
                                  entry->bytes > entry->segments * device->pool.slot_bytes))
        return "no rx buffers";
    if (a->kind == ENTRY_DIRECT &&
        (!types_convert(entry->source_type, entry->wire_type) ||
         (peer->arena != NULL && !(entry->offset & ARENA_AT) &&
          (entry->offset > peer->arena_bytes ||
           entry->bytes / size >
               (peer->arena_bytes - entry->offset) / acclib_dtype_bytes(entry->source_type)))))
        return "data outside the sender's memory";

    return NULL;
}

/* The next entry of PEER's ring; false if there is none, or none that makes sense: peer->flaw. */
bool acclib_arrival_next(const accl_device *device, struct peer *peer, struct arrival *a)
{
    if (peer->in == NULL || peer->flaw != NULL)
        return false;

    struct ring_entry *shared = &peer->in->entries[peer->received % RING_ENTRIES];
    while (atomic_load_explicit(&shared->number, memory_order_acquire) != peer->received + 1) {
        if (atomic_load_explicit(&shared->passed, memory_order_acquire) !=
            ring_mark(peer->received + 1))
            return false;
        peer->received++;
        shared = &peer->in->entries[peer->received % RING_ENTRIES];
    }

    a->kind = atomic_load_explicit(&shared->kind, memory_order_acquire);
    if (a->kind == ENTRY_MOVING || a->kind == ENTRY_UNREAD)
        return false; /* its sender is moving it, or will copy it */

    a->shared = shared;
    acclib_entry_read(&a->entry, shared);
    a->data = a->kind == ENTRY_INLINE ? shared->data : NULL;

    /* An entry that has moved meanwhile is checked again. */
    const char *flaw = find_flaw(device, peer, a);
    if (flaw != NULL && atomic_load_explicit(&shared->kind, memory_order_acquire) == a->kind)
        peer->flaw = flaw;

    return flaw == NULL;
}

bool acclib_arrival_claim(const struct peer *peer, const struct arrival *a)
{
    uint32_t posted = ENTRY_DIRECT;
    return peer->arena != NULL &&
           atomic_compare_exchange_strong(&a->shared->kind, &posted, ENTRY_TAKEN);
}

/* Done with the head, which was taken: DONE, or LOST. */
void acclib_arrival_pass(accl_device *device, struct peer *peer, const struct arrival *a,
                         enum entry_kind end)
{
    peer->received++;
    if (a->kind == ENTRY_DIRECT || a->entry.stream == STREAM_TAKEN_BACK) {
        wake_later(device, peer_rank(device, peer));
        atomic_store_explicit(&a->shared->kind, end, memory_order_release);
    }

    give_credit(device, peer, &a->entry, a->kind);
}

void acclib_arrival_drop(accl_device *device, struct peer *peer, const struct arrival *a)
{
    if (a->kind == ENTRY_DIRECT) {
        wake_later(device, peer_rank(device, peer));
        atomic_store_explicit(&a->shared->kind, ENTRY_DONE, memory_order_release);
    }

    give_credit(device, peer, &a->entry, a->kind);
}

/* True if PEER's memory is mapped. A put copied from there may be the first to need it. */
bool acclib_arrival_reach(accl_device *device, struct peer *peer)
{
    if (peer->arena == NULL && clock_now() - peer->asked_at > ATTACH_AGAIN_NS) {
        acclib_attach_try(device, peer);
        peer->asked_at = clock_now();
    }
    return peer->arena != NULL;
}

/* Follows up a message that was set aside while still offered; false if it cannot be read now. */
static bool follow_offer(const accl_device *device, struct peer *peer,
                         struct unexpected *unexpected)
{
    struct ring_entry *shared = unexpected->shared;
    uint32_t kind = atomic_load_explicit(&shared->kind, memory_order_acquire);
    if (kind == ENTRY_DIRECT) {
        unexpected->entry.offset = READ_ONCE(shared->offset); /* of a copy by now */
        return true;
    }
    if (kind != ENTRY_POOL && kind != ENTRY_INLINE)
        return false;

    /* The sender does not touch it any more. Of what it says now only where the data is counts. */
    struct arrival moved = {.entry = unexpected->entry, .kind = kind};
    moved.entry.segments = READ_ONCE(shared->segments);
    moved.entry.first = READ_ONCE(shared->first);
    bool gone = kind == ENTRY_INLINE || find_flaw(device, peer, &moved) != NULL;
    if (gone) {
        unexpected->entry.stream = STREAM_TAKEN_BACK;
        atomic_store(&shared->kind, ENTRY_DONE);
    } else {
        unexpected->entry = moved.entry;
    }
    atomic_store_explicit(&unexpected->entry.kind, gone ? ENTRY_INLINE : kind,
                          memory_order_relaxed);
    unexpected->shared = NULL;
    peer->offered--;
    return true;
}

bool acclib_arrival_open(const accl_device *device, struct peer *peer,
                         struct unexpected *unexpected, struct arrival *a)
{
    if (unexpected->shared != NULL && !follow_offer(device, peer, unexpected))
        return false;

    a->shared = unexpected->shared;
    a->entry = unexpected->entry;
    a->kind = atomic_load_explicit(&unexpected->entry.kind, memory_order_relaxed);
    a->data = unexpected->heap != NULL  ? unexpected->heap
              : a->kind == ENTRY_INLINE ? unexpected->entry.data
                                        : NULL;
    return true;
}
