/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/send.h"

#include <stdlib.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/copy.h"

#define DIRECT_WAIT_NS INT64_C(30000)

struct sending {
    struct communicator *comm;
    struct peer *peer;
    uint32_t to;
    const uint8_t *data;
    uint64_t offset; /* of data in the sender's file, or ARENA_AT */
    uint32_t source_type, wire_type;
    uint64_t count, segment;
    uint32_t tag, stream, sequence, numbers;
    struct operand_copies *copies;
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

/* An announced message that the receiver may copy from the sender's memory. */
struct offer {
    struct list_node in_peer; /* in the order of their numbers */
    struct sending *sending;  /* NULL if it was given up */
    struct ring_entry *entry;
    uint64_t number;   /* of the message */
    uint64_t segments; /* that it would take in rx buffers */
    bool fits;         /* into them */
    int64_t began;
    int64_t wait_ends;    /* for a receiver that is copying; 0 before that */
    uint32_t interrupted; /* error bits, while the receiver was copying */
    uint64_t copy;        /* of an array, in the heap; 0 if there is none */
};

static struct offer *offer_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct offer, in_peer);
}

/* The offer whose entry is the ring's next; NULL if that entry is free. */
static struct offer *offer_at_next(struct peer *peer)
{
    for (struct list_node *at = peer->offers.first; at != NULL; at = at->next) {
        struct offer *o = offer_of(at);
        if ((peer->sent + 1 - o->number) % RING_ENTRIES != 0)
            continue;

        /* One that was given up is kept until the receiver has seen it. */
        if (o->sending != NULL || atomic_load(&o->entry->kind) != ENTRY_DONE)
            return o;
        list_remove(&peer->offers, at);
        free(o);
        return NULL;
    }

    return NULL;
}

/* Passes over entries that are still offered: the receiver may have set them aside, and gone on. */
static void pass_over_offers(struct peer *peer)
{
    struct offer *o;
    while ((o = offer_at_next(peer)) != NULL)
        atomic_store(&o->entry->passed, ring_mark(++peer->sent));
}

void acclib_shm_forget_offers(struct peer *peer)
{
    struct list_node *node;
    while ((node = list_pop(&peer->offers)) != NULL)
        free(offer_of(node));
}

/* The sender gives up the offer of an entry that the receiver may have set aside: it is kept. */
static void keep_given_up(struct peer *peer, const struct offer *o)
{
    struct offer *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return;

    *kept = *o;
    kept->sending = NULL;
    struct list_node *next = peer->offers.first;
    while (next != NULL && offer_of(next)->number < kept->number)
        next = next->next;
    list_insert(&peer->offers, &kept->in_peer, next);
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
        if (w.rounds % 64 == 0 || w.armed)
            acclib_transport_progress(device);
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s, "no rx buffer became free");

    return bits;
}

static struct ring_entry *entry_fill(const struct sending *s, uint32_t segments)
{
    pass_over_offers(s->peer);
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

/* Moves it to rx buffers, if there are enough and the receiver has not claimed it. */
static bool move_to_pool(accl_device *device, struct offer *o)
{
    struct sending *s = o->sending;
    struct peer *peer = s->peer;
    struct slot_list list;
    if (outstanding(peer) + o->segments - 1 > peer->pool.slot_count ||
        !acclib_slots_take(peer, (uint32_t)o->segments, device->rank, &list))
        return false;

    uint32_t offered = ENTRY_DIRECT;
    if (!atomic_compare_exchange_strong(&o->entry->kind, &offered, ENTRY_MOVING)) {
        acclib_slots_free(peer, &list);
        return false;
    }

    o->entry->first = slots_fill(&peer->pool, &list, s);
    o->entry->segments = (uint16_t)o->segments;
    peer->segments += o->segments - 1;
    atomic_store_explicit(&o->entry->kind, ENTRY_POOL, memory_order_release);
    wake_later(device, peer_rank(device, peer));
    return true;
}

/* Offers a copy of an array that the receiver cannot read. */
static uint32_t offer_copy(accl_device *device, struct offer *o)
{
    const struct sending *s = o->sending;
    uint64_t bytes = s->count * acclib_dtype_bytes(s->source_type);
    if (!o->copy && !(o->copy = acclib_heap_get(device->heap, bytes)))
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes for an array without device memory)",
                                (unsigned long long)bytes);

    copy_memory(device->heap->base + o->copy, s->data, bytes);
    o->entry->offset = o->copy;
    atomic_store_explicit(&o->entry->kind, ENTRY_DIRECT, memory_order_release);
    wake_later(device, peer_rank(device, s->peer));
    return 0;
}

/* Withdraws it when the wait has ended with *BITS; false if the receiver is still copying it. */
static bool withdraw(accl_device *device, struct offer *o, uint32_t *bits)
{
    uint32_t kind = ENTRY_DIRECT;
    bool waits = atomic_compare_exchange_strong(&o->entry->kind, &kind, ENTRY_MOVING);
    if (waits || kind == ENTRY_UNREAD) {
        o->entry->bytes = 0;
        o->entry->stream = STREAM_TAKEN_BACK;
        atomic_store_explicit(&o->entry->kind, ENTRY_INLINE, memory_order_release);
        return true;
    }
    if (*bits & ACCL_ERROR(PEER_LOST_ERROR))
        return true;

    /* The receiver is copying, which ends soon, unless the entry was overwritten. */
    if (kind != ENTRY_TAKEN && kind != ENTRY_DONE && kind != ENTRY_LOST) {
        *bits = entry_damaged(device, o->sending);
        return true;
    }
    if (!o->wait_ends)
        o->wait_ends = clock_now() + COPY_ENDS_NS;
    if (clock_now() >= o->wait_ends) {
        /* It does not report success then if it reads an array. */
        device->lingers = atomic_compare_exchange_strong(&o->entry->kind, &kind, ENTRY_MOVING);
        if (device->lingers)
            return true;
    }

    /* The signal was taken. */
    o->interrupted |= *bits & ACCL_ERROR(INTERRUPTED_ERROR);
    *bits = 0;
    return false;
}

/* Waits until the receiver has copied the message, or it could be moved to rx buffers. */
static uint32_t wait_until_taken(accl_device *device, struct offer *o)
{
    struct sending *s = o->sending;
    uint32_t rank = peer_rank(device, s->peer), bits = 0;
    bool noted = false;
    struct waiter w;

    acclib_wait_begin(&w, device, s->comm, rank, false, ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR));
    for (;;) {
        uint32_t kind = atomic_load_explicit(&o->entry->kind, memory_order_acquire);
        if (kind == ENTRY_DONE)
            break;
        if (kind == ENTRY_LOST) {
            bits = acclib_transport_put_lost(device, s->comm, s->to, s->stream - 1,
                                             s->count * acclib_dtype_bytes(s->wire_type));
            break;
        }

        /* At once if another call wants to go on. */
        bool moves = kind == ENTRY_DIRECT && o->fits && (w.armed || w.rounds % 16 == 15);
        if (moves && (w.armed || clock_now() - o->began > DIRECT_WAIT_NS) &&
            move_to_pool(device, o))
            break;
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, ACCL_SEND, rank, s->tag, s->sequence, s->comm->key);
        }
        bits = kind == ENTRY_UNREAD ? offer_copy(device, o) : acclib_wait_pause(&w);
        if (bits && withdraw(device, o, &bits))
            break;
    }
    acclib_wait_end(&w);

    if (bits || !o->interrupted)
        return bits;
    s->comm->members[s->to].outbound += s->numbers;
    return acclib_call_fail(device, o->interrupted,
                            "the caller interrupted the call; the message was received");
}

/* Announces the message, and waits until it was copied or is in rx buffers. */
static uint32_t send_direct(accl_device *device, struct sending *s, uint64_t segments)
{
    uint32_t bits = wait_for_room(device, s, 1, NULL);
    if (bits)
        return bits;

    struct ring_entry *entry = entry_fill(s, 1);
    entry->offset = s->offset;
    entry_publish(device, s, entry, ENTRY_DIRECT, 1);

    struct offer offer = {.sending = s,
                          .entry = entry,
                          .number = s->peer->sent,
                          .segments = segments,
                          .fits = segments <= s->peer->pool.slot_count,
                          .began = clock_now()};
    list_append(&s->peer->offers, &offer.in_peer);
    if (s->copies != NULL)
        acclib_operand_copy_source(s->copies, s->data, s->copies->bytes);
    bits = wait_until_taken(device, &offer);
    list_remove(&s->peer->offers, &offer.in_peer);
    if (bits)
        keep_given_up(s->peer, &offer);
    if (offer.copy && device->lingers)
        acclib_heap_hold(device->heap, offer.copy);
    if (offer.copy)
        acclib_heap_put(device->heap, offer.copy);
    if (bits == ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR) && !device->text[0])
        send_timed_out(device, s,
                       offer.fits ? "no rx buffer became free"
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

    struct unexpected *unexpected = calloc(1, sizeof *unexpected);
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (unexpected == NULL || data == NULL) {
        free(unexpected);
        free(data);
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (message)");
    }

    acclib_convert(data, s->wire_type, s->data, s->source_type, s->count, false);
    unexpected->heap = data;
    unexpected->entry.tag = s->tag;
    unexpected->entry.key = s->comm->key;
    unexpected->entry.bytes = bytes;
    unexpected->entry.sequence = s->sequence;
    unexpected->entry.wire_type = (uint8_t)s->wire_type;
    unexpected->entry.numbers = s->numbers;
    acclib_unexpected_append(s->peer, unexpected);
    wake_later(device, device->rank);

    return 0;
}

/* Sends a message that fits into a single rx buffer, or into the ring's entry. */
static uint32_t send_segment(accl_device *device, struct sending *s, bool pooled)
{
    bool put = s->stream != 0;
    struct slot_list list;
    uint32_t bits = wait_for_room(device, s, 1, pooled && put ? &list : NULL);
    if (bits)
        return bits;

    /* The receiver may wait for this message before it receives those that fill its rx buffers. */
    if (pooled && !put && !acclib_slots_take(s->peer, 1, device->rank, &list))
        return send_direct(device, s, 1);

    struct ring_entry *entry = entry_fill(s, 1);
    if (pooled)
        entry->first = slots_fill(&s->peer->pool, &list, s);
    else
        acclib_convert(entry->data, s->wire_type, s->data, s->source_type, s->count, false);
    entry_publish(device, s, entry, pooled ? ENTRY_POOL : ENTRY_INLINE, 1);

    return 0;
}

static uint64_t offset_of(const accl_device *device, const struct outgoing *message)
{
    if (message->is_array)
        return ARENA_AT | (uintptr_t)message->data;
    return message->data != NULL ? heap_offset(device->heap, message->data) : 0;
}

/* Into a ring or rx buffers this rank copies itself. */
bool acclib_shm_sends_array(const accl_device *device, const struct operation *op)
{
    uint32_t rank = op->comm->members[op->call->root_src_dst].rank;
    uint64_t bytes = op->count * acclib_dtype_bytes(op->wire);
    bool put = (op->call->stream_flags & ACCL_RES_STREAM) != 0;
    return !put &&
           (rank == device->rank || bytes <= RING_INLINE ||
            (bytes <= device->segment_size && bytes <= peer_of(device, rank)->pool.slot_bytes) ||
            acclib_peer_memory_is_read_by(device, rank));
}

uint32_t acclib_shm_send(accl_device *device, struct communicator *comm, uint32_t to,
                         const struct outgoing *message)
{
    struct member *member = &comm->members[to];
    struct sending s = {.comm = comm,
                        .peer = peer_of(device, member->rank),
                        .to = to,
                        .data = message->data,
                        .offset = offset_of(device, message),
                        .source_type = message->source_type,
                        .wire_type = message->wire_type,
                        .count = message->count,
                        .tag = message->tag,
                        .stream = message->stream,
                        .sequence = member->outbound,
                        .copies = message->copies};
    uint32_t bits = acclib_attach_peer(device, member->rank);

    if (bits)
        return bits;

    uint64_t bytes = s.count * acclib_dtype_bytes(s.wire_type);
    s.segment = device->segment_size;
    if (s.peer->pool.slot_bytes < s.segment)
        s.segment = s.peer->pool.slot_bytes;
    s.segment = acclib_dtype_segment(s.wire_type, s.segment);
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
