/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two ranks, and their sending.
 *
 * A message is an entry in the ring that the receiver has for the sender. Little data is in the
 * entry itself, more in rx buffers of the receiver. What has more than one segment is first only
 * announced, and the receiver copies it straight from the sender's memory if it is there soon;
 * otherwise the sender moves it into rx buffers after all, and returns, as the original would.
 * A message to the rank itself is kept in ordinary memory.
 */
#include "accl/transport/shm/message.h"

#include <stdlib.h>
#include <string.h>

#include "accl/transport/packets/packets.h"

#define DIRECT_PATIENCE_NS INT64_C(30000)
/* A receiver that took a message has copied it after this time. */
#define TAKEN_PATIENCE_NS (INT64_C(30) * CLOCK_SECOND)

/* ------------------------------------------------------------------ sending */

/* Rx buffers of the receiver that were taken: which ones is not read from its file again. */
struct slot_list {
    uint32_t n;
    uint8_t index[ARENA_RX_MAX];
};

static void slots_free(struct peer *peer, struct slot_list *list)
{
    while (list->n)
        atomic_store(&peer->pool.slots[list->index[--list->n]].status, ACCL_RX_ENQUEUED);
}

/* Takes N idle rx buffers of PEER; false if there are not enough. */
static bool slots_take(struct peer *peer, uint32_t n, uint32_t source, struct slot_list *list)
{
    const struct pool *pool = &peer->pool;
    list->n = 0;
    for (uint32_t k = 0; k < pool->slot_count && list->n < n; k++) {
        uint32_t i = (peer->slot_hint + k) % pool->slot_count;
        uint32_t idle = ACCL_RX_ENQUEUED;
        if (!atomic_compare_exchange_strong(&pool->slots[i].status, &idle, ACCL_RX_RESERVED))
            continue;
        pool->slots[i].source = source;
        pool->slots[i].bytes = 0;
        list->index[list->n++] = (uint8_t)i;
    }
    if (list->n < n) {
        slots_free(peer, list);
        return false;
    }
    peer->slot_hint = (list->index[n - 1] + 1U) % pool->slot_count;
    return true;
}

void slots_release(const struct pool *pool, uint32_t chain)
{
    for (uint32_t k = 0; chain && chain <= pool->slot_count && k < pool->slot_count; k++) {
        struct rx_slot *slot = &pool->slots[chain - 1];
        chain = atomic_load(&slot->next);
        atomic_store(&slot->status, ACCL_RX_ENQUEUED);
    }
}

/* Fills the buffers of LIST, and chains them: the index of the first + 1. */
static uint32_t slots_fill(const struct pool *pool, const struct slot_list *list,
                           const struct sending *s)
{
    size_t wire = dtype_bytes(s->wire_type), from = dtype_bytes(s->source_type);
    uint64_t per_slot = s->segment / wire, at = 0;
    uint32_t sequence = s->sequence;
    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t i = list->index[k];
        struct rx_slot *slot = &pool->slots[i];
        uint64_t n = s->count - at < per_slot ? s->count - at : per_slot;
        convert_copy(pool->data + i * pool->slot_bytes, s->wire_type, s->data + at * from,
                     s->source_type, n, false);
        slot->tag = s->tag;
        slot->bytes = (uint32_t)(n * wire);
        slot->sequence = sequence++;
        atomic_store(&slot->next, k + 1 < list->n ? list->index[k + 1] + 1U : 0);
        at += n;
    }
    return list->index[0] + 1U;
}

static uint64_t outstanding(const struct peer *peer)
{
    return peer->segments - atomic_load_explicit(&peer->out->consumed, memory_order_acquire);
}

static uint32_t send_timed_out(accl_device *device, const struct sending *s, const char *what)
{
    return call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR),
                     "send of %llu bytes to rank %u of communicator %u, tag %u, sequence %u: %s in "
                     "%u ms (the receiver has %u rx buffers of %llu bytes)",
                     (unsigned long long)(s->count * dtype_bytes(s->wire_type)), s->to, s->comm->id,
                     s->tag, s->sequence, what, device->timeout_ms, s->peer->pool.slot_count,
                     (unsigned long long)s->peer->pool.slot_bytes);
}

/* Waits until there are so few segments under way that this message may follow; takes as many
 * buffers, unless LIST is NULL. */
static uint32_t wait_for_room(accl_device *device, const struct sending *s, uint32_t segments,
                              struct slot_list *list)
{
    struct peer *peer = s->peer;
    uint32_t limit = peer->pool.slot_count;
    struct waiter w;
    wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
               ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    uint32_t bits = 0;
    bool noted = false;
    for (;;) {
        if (outstanding(peer) + segments <= limit) {
            if (!list || slots_take(peer, segments, device->rank, list))
                break;
        }
        if (w.armed && !noted) {
            noted = true;
            note_wait(device, ACCL_SEND, peer_rank(device, peer), s->tag, s->sequence,
                      s->comm->key);
        }
        if ((bits = wait_pause(&w)))
            break;
        /* Two ranks that put into each other's streams must not wait for each other. */
        if (w.rounds % 64 == 0)
            message_progress_streams(device);
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s, "no rx buffer became free");
    return bits;
}

static struct ring_entry *entry_fill(const struct sending *s, uint32_t segments)
{
    struct ring_entry *entry = &s->peer->out->entries[s->peer->sent % RING_ENTRIES];
    entry->tag = s->tag;
    entry->key = s->comm->key;
    entry->bytes = s->count * dtype_bytes(s->wire_type);
    entry->sequence = s->sequence;
    entry->segments = (uint16_t)segments;
    entry->wire_type = (uint8_t)s->wire_type;
    entry->source_type = (uint8_t)s->source_type;
    entry->stream = s->stream;
    entry->numbers = s->numbers;
    return entry;
}

static void entry_publish(accl_device *device, const struct sending *s, struct ring_entry *entry,
                          uint32_t kind, uint32_t segments)
{
    atomic_store_explicit(&entry->kind, kind, memory_order_relaxed);
    s->peer->segments += segments;
    s->peer->sent++;
    atomic_store_explicit(&entry->number, s->peer->sent, memory_order_release);
    wake_later(device, s->peer);
}

static uint32_t entry_damaged(accl_device *device, const struct sending *s)
{
    return call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR),
                     "send to rank %u of communicator %u: somebody has written over the ring of "
                     "messages in that rank's memory",
                     s->to, s->comm->id);
}

static uint32_t put_failed(accl_device *device, const struct sending *s)
{
    return call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), PUT_LOST,
                     (unsigned long long)(s->count * dtype_bytes(s->wire_type)), s->stream - 1,
                     s->to, s->comm->id);
}

/* Announces, waits for the receiver to take it, and else moves it into rx buffers. */
static uint32_t send_direct(accl_device *device, struct sending *s, uint64_t segments)
{
    struct peer *peer = s->peer;
    uint32_t bits = wait_for_room(device, s, 1, NULL);
    if (bits)
        return bits;
    struct ring_entry *entry = entry_fill(s, 1);
    entry->offset = s->offset;
    entry_publish(device, s, entry, ENTRY_DIRECT, 1);
    bool fits = segments <= peer->pool.slot_count;
    struct waiter w;
    wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
               ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    int64_t began = clock_now(), patience_ends = 0;
    bool noted = false;
    for (;;) {
        uint32_t kind = atomic_load_explicit(&entry->kind, memory_order_acquire);
        if (kind == ENTRY_DONE)
            break;
        if (kind == ENTRY_LOST) {
            bits = put_failed(device, s);
            break;
        }
        if (kind == ENTRY_DIRECT && fits && w.rounds % 16 == 15 &&
            clock_now() - began > DIRECT_PATIENCE_NS &&
            outstanding(peer) + segments - 1 <= peer->pool.slot_count) {
            struct slot_list list;
            if (slots_take(peer, (uint32_t)segments, device->rank, &list)) {
                if (atomic_compare_exchange_strong(&entry->kind, &kind, ENTRY_MOVING)) {
                    entry->first = slots_fill(&peer->pool, &list, s);
                    entry->segments = (uint16_t)segments;
                    peer->segments += segments - 1;
                    atomic_store_explicit(&entry->kind, ENTRY_POOL, memory_order_release);
                    wake_later(device, peer);
                    break;
                }
                slots_free(peer, &list);
            }
        }
        if (w.armed && !noted) {
            noted = true;
            note_wait(device, ACCL_SEND, peer_rank(device, peer), s->tag, s->sequence,
                      s->comm->key);
        }
        bits = wait_pause(&w);
        if (bits) {
            /* Taken back, unless the receiver is at it. */
            uint32_t posted = ENTRY_DIRECT;
            if (atomic_compare_exchange_strong(&entry->kind, &posted, ENTRY_MOVING)) {
                entry->bytes = 0;
                entry->stream = STREAM_TAKEN_BACK;
                atomic_store_explicit(&entry->kind, ENTRY_INLINE, memory_order_release);
                break;
            }
            if (bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(INTERRUPTED_ERROR)))
                break;
            /* It is copying: that ends soon, if this is what the entry says. */
            if (posted != ENTRY_TAKEN && posted != ENTRY_DONE && posted != ENTRY_LOST) {
                bits = entry_damaged(device, s);
                break;
            }
            if (!patience_ends)
                patience_ends = clock_now() + TAKEN_PATIENCE_NS;
            if (clock_now() >= patience_ends)
                break;
            bits = 0;
        }
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s,
                       fits ? "no rx buffer became free"
                            : "it was not received, and it is larger than all rx buffers,");
    return bits;
}

/* The stream gets what is on the wire between others. */
static uint32_t put_to_self(accl_device *device, const struct sending *s)
{
    struct stream_chunk *chunk =
        stream_chunk_new(s->stream - 1, s->count * dtype_bytes(s->wire_type));
    if (!chunk)
        return call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "no memory for a stream");

    convert_copy(chunk->data, s->wire_type, s->data, s->source_type, s->count, false);
    stream_give(device, chunk);
    return 0;
}

static uint32_t send_to_self(accl_device *device, struct sending *s)
{
    size_t bytes = s->count * dtype_bytes(s->wire_type);
    if (s->stream)
        return put_to_self(device, s);

    struct parcel *parcel = calloc(1, sizeof *parcel);
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (!parcel || !data) {
        free(parcel);
        free(data);
        return call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "no memory for a message");
    }
    convert_copy(data, s->wire_type, s->data, s->source_type, s->count, false);
    parcel->heap = data;
    parcel->entry.tag = s->tag;
    parcel->entry.key = s->comm->key;
    parcel->entry.bytes = bytes;
    parcel->entry.sequence = s->sequence;
    parcel->entry.wire_type = (uint8_t)s->wire_type;
    parcel->entry.numbers = s->numbers;
    parcel_append(s->peer, parcel);
    return 0;
}

/* What fits into a single rx buffer, or into the ring's entry. */
static uint32_t send_segment(accl_device *device, struct sending *s, bool pooled)
{
    struct slot_list list;
    uint32_t bits = wait_for_room(device, s, 1, pooled ? &list : NULL);
    if (bits)
        return bits;

    struct ring_entry *entry = entry_fill(s, 1);
    if (pooled)
        entry->first = slots_fill(&s->peer->pool, &list, s);
    else
        convert_copy(entry->data, s->wire_type, s->data, s->source_type, s->count, false);
    entry_publish(device, s, entry, pooled ? ENTRY_POOL : ENTRY_INLINE, 1);
    return 0;
}

uint32_t message_send(accl_device *device, struct communicator *comm, uint32_t to,
                      const uint8_t *data, uint64_t offset, uint32_t source_type,
                      uint32_t wire_type, uint64_t count, uint32_t tag, uint32_t stream)
{
    struct member *member = &comm->members[to];
    struct sending s = {.comm = comm,
                        .to = to,
                        .data = data,
                        .offset = offset,
                        .source_type = source_type,
                        .wire_type = wire_type,
                        .count = count,
                        .tag = tag,
                        .stream = stream,
                        .sequence = member->outbound};
    uint32_t bits;
    if (packets_reach(device, member->rank)) {
        struct packet_message message = {
            .channel = CHANNEL_USER, .tag = tag, .sequence = member->outbound, .stream = stream};
        bits = packets_send(device, comm, to, &message, data, source_type, wire_type, count,
                            &s.numbers);
        if (!bits)
            member->outbound += s.numbers;
        return bits;
    }
    bits = attach_peer(device, member->rank, &s.peer);
    if (bits)
        return bits;
    uint64_t bytes = count * dtype_bytes(wire_type);
    s.segment = device->segment_size;
    if (s.peer->pool.slot_bytes < s.segment)
        s.segment = s.peer->pool.slot_bytes;
    s.segment &= ~UINT64_C(7); /* whole elements of any type */
    uint64_t segments = bytes ? (bytes + s.segment - 1) / s.segment : 1;
    s.numbers = stream ? 0 : (uint32_t)segments;
    if (member->rank == device->rank) {
        bits = send_to_self(device, &s);
    } else if (segments > 1) {
        bits = send_direct(device, &s, segments);
    } else {
        bits = send_segment(device, &s, bytes > RING_INLINE);
    }
    if (!bits)
        member->outbound += s.numbers;
    return bits;
}
