/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/send.h"

#include <stdlib.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/parcel.h"
#include "accl/transport/shm/slots.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

#define DIRECT_WAIT_NS INT64_C(30000)
/* A receiver that claimed a message has copied it within this time. */
#define TAKEN_WAIT_NS (INT64_C(30) * CLOCK_SECOND)

struct sending {
    struct communicator *comm;
    struct peer *peer;
    uint32_t to;
    const uint8_t *data;
    uint64_t offset; /* of data in the sender's file */
    uint32_t source_type, wire_type;
    uint64_t count, segment;
    uint32_t tag, stream, sequence, numbers;
};

/* Fills the buffers of LIST, and chains them: the index of the first + 1. */
static uint32_t slots_fill(const struct pool *pool, const struct slot_list *list,
                           const struct sending *s)
{
    size_t wire = acclib_dtype_bytes(s->wire_type), from = acclib_dtype_bytes(s->source_type);
    uint64_t per_slot = s->segment / wire, at = 0;
    uint32_t sequence = s->sequence;

    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t i = list->index[k];
        struct rx_slot *slot = &pool->slots[i];
        uint64_t n = s->count - at < per_slot ? s->count - at : per_slot;
        acclib_convert(pool->data + i * pool->slot_bytes, s->wire_type, s->data + at * from,
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
    return acclib_call_fail(
        device, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR),
        "send of %llu bytes to rank %u of communicator %u, tag %u, sequence %u: %s in "
        "%u ms (the receiver has %u rx buffers of %llu bytes)",
        (unsigned long long)(s->count * acclib_dtype_bytes(s->wire_type)), s->to, s->comm->id,
        s->tag, s->sequence, what, device->timeout_ms, s->peer->pool.slot_count,
        (unsigned long long)s->peer->pool.slot_bytes);
}

/* Waits until the receiver's window has room for SEGMENTS more, and takes as many rx buffers,
 * unless LIST is NULL. */
static uint32_t wait_for_room(accl_device *device, const struct sending *s, uint32_t segments,
                              struct slot_list *list)
{
    struct peer *peer = s->peer;
    uint32_t limit = peer->pool.slot_count;
    struct waiter w;

    acclib_wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
                      ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    uint32_t bits = 0;
    bool noted = false;
    for (;;) {
        if (outstanding(peer) + segments <= limit) {
            if (list == NULL || acclib_slots_take(peer, segments, device->rank, list))
                break;
        }
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, ACCL_SEND, peer_rank(device, peer), s->tag, s->sequence,
                             s->comm->key);
        }
        if ((bits = acclib_wait_pause(&w)))
            break;
        /* Two ranks that put into each other's streams must not deadlock. */
        if (w.rounds % 64 == 0)
            acclib_transport_progress(device);
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s, "no rx buffer became free");

    return bits;
}

static struct ring_entry *entry_fill(const struct sending *s, uint32_t segments)
{
    struct ring_entry *entry = &s->peer->out->entries[s->peer->sent % RING_ENTRIES];
    entry->tag = s->tag;
    entry->key = s->comm->key;
    entry->bytes = s->count * acclib_dtype_bytes(s->wire_type);
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
    wake_later(device, peer_rank(device, s->peer));
}

static uint32_t entry_damaged(accl_device *device, const struct sending *s)
{
    return acclib_call_fail(
        device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR),
        "send to rank %u of communicator %u: another process has overwritten the ring of "
        "messages in that rank's memory",
        s->to, s->comm->id);
}

/* Announces the message, waits for the receiver to copy it, and otherwise moves it to rx buffers.
 */
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
    acclib_wait_begin(&w, device, s->comm, peer_rank(device, peer), false,
                      ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    int64_t began = clock_now(), wait_ends = 0;
    bool noted = false;
    for (;;) {
        uint32_t kind = atomic_load_explicit(&entry->kind, memory_order_acquire);
        if (kind == ENTRY_DONE)
            break;
        if (kind == ENTRY_LOST) {
            bits = acclib_transport_put_lost(device, s->comm, s->to, s->stream - 1,
                                             s->count * acclib_dtype_bytes(s->wire_type));
            break;
        }
        if (kind == ENTRY_DIRECT && fits && w.rounds % 16 == 15 &&
            clock_now() - began > DIRECT_WAIT_NS &&
            outstanding(peer) + segments - 1 <= peer->pool.slot_count) {
            struct slot_list list;
            if (acclib_slots_take(peer, (uint32_t)segments, device->rank, &list)) {
                if (atomic_compare_exchange_strong(&entry->kind, &kind, ENTRY_MOVING)) {
                    entry->first = slots_fill(&peer->pool, &list, s);
                    entry->segments = (uint16_t)segments;
                    peer->segments += segments - 1;
                    atomic_store_explicit(&entry->kind, ENTRY_POOL, memory_order_release);
                    wake_later(device, peer_rank(device, peer));
                    break;
                }
                acclib_slots_free(peer, &list);
            }
        }
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, ACCL_SEND, peer_rank(device, peer), s->tag, s->sequence,
                             s->comm->key);
        }
        bits = acclib_wait_pause(&w);
        if (bits) {
            /* Withdrawn, unless the receiver is copying it. */
            uint32_t posted = ENTRY_DIRECT;
            if (atomic_compare_exchange_strong(&entry->kind, &posted, ENTRY_MOVING)) {
                entry->bytes = 0;
                entry->stream = STREAM_TAKEN_BACK;
                atomic_store_explicit(&entry->kind, ENTRY_INLINE, memory_order_release);
                break;
            }
            if (bits & (ACCL_ERROR(PEER_LOST_ERROR) | ACCL_ERROR(INTERRUPTED_ERROR)))
                break;
            /* The receiver is copying, which ends soon, unless the entry was overwritten. */
            if (posted != ENTRY_TAKEN && posted != ENTRY_DONE && posted != ENTRY_LOST) {
                bits = entry_damaged(device, s);
                break;
            }
            if (!wait_ends)
                wait_ends = clock_now() + TAKEN_WAIT_NS;
            if (clock_now() >= wait_ends)
                break;
            bits = 0;
        }
    }
    acclib_wait_end(&w);
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
        acclib_stream_chunk_new(s->stream - 1, s->count * acclib_dtype_bytes(s->wire_type));
    if (chunk == NULL)
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (stream)");

    acclib_convert(chunk->data, s->wire_type, s->data, s->source_type, s->count, false);
    acclib_stream_give(&device->streams, chunk);

    return 0;
}

static uint32_t send_to_self(accl_device *device, struct sending *s)
{
    size_t bytes = s->count * acclib_dtype_bytes(s->wire_type);
    if (s->stream)
        return put_to_self(device, s);

    struct parcel *parcel = calloc(1, sizeof *parcel);
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (parcel == NULL || data == NULL) {
        free(parcel);
        free(data);
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (message)");
    }

    acclib_convert(data, s->wire_type, s->data, s->source_type, s->count, false);
    parcel->heap = data;
    parcel->entry.tag = s->tag;
    parcel->entry.key = s->comm->key;
    parcel->entry.bytes = bytes;
    parcel->entry.sequence = s->sequence;
    parcel->entry.wire_type = (uint8_t)s->wire_type;
    parcel->entry.numbers = s->numbers;
    acclib_parcel_append(s->peer, parcel);

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
        acclib_convert(entry->data, s->wire_type, s->data, s->source_type, s->count, false);
    entry_publish(device, s, entry, pooled ? ENTRY_POOL : ENTRY_INLINE, 1);

    return 0;
}

uint32_t acclib_shm_send(accl_device *device, struct communicator *comm, uint32_t to,
                         const struct outgoing *message)
{
    struct member *member = &comm->members[to];
    struct sending s = {.comm = comm,
                        .peer = peer_of(device, member->rank),
                        .to = to,
                        .data = message->data,
                        .offset =
                            message->data != NULL ? heap_offset(device->heap, message->data) : 0,
                        .source_type = message->source_type,
                        .wire_type = message->wire_type,
                        .count = message->count,
                        .tag = message->tag,
                        .stream = message->stream,
                        .sequence = member->outbound};
    uint32_t bits = acclib_attach_peer(device, member->rank);

    if (bits)
        return bits;

    /* Segments have whole elements of any type. */
    uint64_t bytes = s.count * acclib_dtype_bytes(s.wire_type);
    s.segment = device->segment_size;
    if (s.peer->pool.slot_bytes < s.segment)
        s.segment = s.peer->pool.slot_bytes;
    s.segment &= ~UINT64_C(7);
    uint64_t segments = bytes ? (bytes + s.segment - 1) / s.segment : 1;
    s.numbers = s.stream ? 0 : (uint32_t)segments;

    if (member->rank == device->rank)
        bits = send_to_self(device, &s);
    else if (segments > 1)
        bits = send_direct(device, &s, segments);
    else
        bits = send_segment(device, &s, bytes > RING_INLINE);
    if (!bits)
        member->outbound += s.numbers;

    return bits;
}
