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
#include "accl/message.h"

#include <stdlib.h>
#include <string.h>

#include "accl_transport/packets.h"

#define DIRECT_PATIENCE_NS INT64_C(30000)

static struct rx_slot *slots_of(const struct arena_header *arena)
{
    return (struct rx_slot *)(void *)((uint8_t *)(uintptr_t)arena + arena->slots);
}

static uint8_t *slot_data(const struct arena_header *arena, uint32_t index)
{
    return (uint8_t *)(uintptr_t)arena + arena->pool + index * arena->slot_bytes;
}

/* ------------------------------------------------------------------ sending */

/* Takes N idle rx buffers of PEER, as a chain: index of the first + 1, 0 if there are not enough.
 */
static uint32_t slots_take(struct peer *peer, uint32_t n, uint32_t source)
{
    struct arena_header *arena = peer->arena;
    struct rx_slot *slots = slots_of(arena);
    uint32_t chain = 0, taken = 0;
    for (uint32_t k = 0; k < arena->slot_count && taken < n; k++) {
        uint32_t i = (peer->slot_hint + k) % arena->slot_count;
        uint32_t idle = ACCL_RX_ENQUEUED;
        if (!atomic_compare_exchange_strong(&slots[i].status, &idle, ACCL_RX_RESERVED))
            continue;
        slots[i].source = source;
        slots[i].bytes = 0;
        atomic_store(&slots[i].next, chain);
        chain = i + 1;
        taken++;
    }
    if (taken == n) {
        peer->slot_hint = chain % arena->slot_count;
        return chain;
    }
    slots_release(arena, chain);
    return 0;
}

void slots_release(struct arena_header *arena, uint32_t chain)
{
    struct rx_slot *slots = slots_of(arena);
    for (uint32_t k = 0; chain && chain <= arena->slot_count && k < arena->slot_count; k++) {
        struct rx_slot *slot = &slots[chain - 1];
        chain = atomic_load(&slot->next);
        atomic_store(&slot->status, ACCL_RX_ENQUEUED);
    }
}

static void slots_fill(struct arena_header *arena, uint32_t chain, const struct sending *s)
{
    size_t wire = dtype_bytes(s->wire_type), from = dtype_bytes(s->source_type);
    uint64_t per_slot = s->segment / wire, at = 0;
    uint32_t sequence = s->sequence;
    for (; chain; chain = atomic_load(&slots_of(arena)[chain - 1].next)) {
        struct rx_slot *slot = &slots_of(arena)[chain - 1];
        uint64_t n = s->count - at < per_slot ? s->count - at : per_slot;
        convert_copy(slot_data(arena, chain - 1), s->wire_type, s->data + at * from, s->source_type,
                     n, false);
        slot->tag = s->tag;
        slot->bytes = (uint32_t)(n * wire);
        slot->sequence = sequence++;
        at += n;
    }
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
                     s->tag, s->sequence, what, device->timeout_ms, s->peer->arena->slot_count,
                     (unsigned long long)s->peer->arena->slot_bytes);
}

/* Waits until there are so few segments under way that this message may follow; takes buffers
 * if it needs them (*chain). */
static uint32_t wait_for_room(accl_device *device, const struct sending *s, uint32_t segments,
                              bool buffers, uint32_t *chain)
{
    *chain = 0;
    struct peer *peer = s->peer;
    uint32_t limit = peer->arena->slot_count;
    struct waiter w;
    wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
               ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    uint32_t bits = 0;
    bool noted = false;
    for (;;) {
        if (outstanding(peer) + segments <= limit) {
            if (!buffers || (*chain = slots_take(peer, segments, device->rank)))
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

/* Announces, waits for the receiver to take it, and else moves it into rx buffers. */
static uint32_t send_direct(accl_device *device, struct sending *s, uint64_t segments)
{
    struct peer *peer = s->peer;
    uint32_t none;
    uint32_t bits = wait_for_room(device, s, 1, false, &none);
    if (bits)
        return bits;
    struct ring_entry *entry = entry_fill(s, 1);
    entry->offset = s->offset;
    entry_publish(device, s, entry, ENTRY_DIRECT, 1);
    bool fits = segments <= peer->arena->slot_count;
    struct waiter w;
    wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
               ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    int64_t began = clock_now();
    bool noted = false;
    for (;;) {
        uint32_t kind = atomic_load_explicit(&entry->kind, memory_order_acquire);
        if (kind == ENTRY_DONE)
            break;
        if (kind == ENTRY_DIRECT && fits && w.rounds % 16 == 15 &&
            clock_now() - began > DIRECT_PATIENCE_NS &&
            outstanding(peer) + segments - 1 <= peer->arena->slot_count) {
            uint32_t chain = slots_take(peer, (uint32_t)segments, device->rank);
            if (chain) {
                if (atomic_compare_exchange_strong(&entry->kind, &kind, ENTRY_MOVING)) {
                    slots_fill(peer->arena, chain, s);
                    entry->first = chain;
                    entry->segments = (uint16_t)segments;
                    peer->segments += segments - 1;
                    atomic_store_explicit(&entry->kind, ENTRY_POOL, memory_order_release);
                    wake_later(device, peer);
                    break;
                }
                slots_release(peer->arena, chain);
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
                entry->stream = UINT32_MAX;
                atomic_store_explicit(&entry->kind, ENTRY_INLINE, memory_order_release);
                break;
            }
            if (bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(INTERRUPTED_ERROR)))
                break;
            bits = 0; /* it is copying: that ends soon */
        }
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s,
                       fits ? "no rx buffer became free"
                            : "it was not received, and it is larger than all rx buffers,");
    return bits;
}

static uint32_t send_to_self(accl_device *device, struct sending *s)
{
    size_t bytes = s->count * dtype_bytes(s->wire_type);
    if (s->stream) {
        if (!stream_deliver(device, s->stream - 1, s->data, bytes))
            return call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "no memory for a stream");
        return 0;
    }
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
    if (s.peer->arena->slot_bytes < s.segment)
        s.segment = s.peer->arena->slot_bytes;
    s.segment &= ~UINT64_C(7); /* whole elements of any type */
    uint64_t segments = bytes ? (bytes + s.segment - 1) / s.segment : 1;
    s.numbers = stream ? 0 : (uint32_t)segments;
    if (member->rank == device->rank) {
        bits = send_to_self(device, &s);
    } else if (segments > 1) {
        bits = send_direct(device, &s, segments);
    } else {
        uint32_t chain;
        bits = wait_for_room(device, &s, 1, bytes > RING_INLINE, &chain);
        if (!bits) {
            struct ring_entry *entry = entry_fill(&s, 1);
            if (chain) {
                slots_fill(s.peer->arena, chain, &s);
                entry->first = chain;
            } else {
                convert_copy(entry->data, wire_type, data, source_type, count, false);
            }
            entry_publish(device, &s, entry, chain ? ENTRY_POOL : ENTRY_INLINE, 1);
        }
    }
    if (!bits)
        member->outbound += s.numbers;
    return bits;
}
