/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/receive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/arrival.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/ticket.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"

/* Error bits in *BITS; false if it is left for its sender to offer it otherwise. */
static bool take(accl_device *device, struct peer *peer, const struct arrival *a,
                 const struct wanted *to, uint32_t *bits)
{
    const struct ring_entry *entry = &a->entry;
    uint64_t wanted = to->count * acclib_dtype_bytes(to->wire_type);
    if (entry->wire_type != to->wire_type || entry->bytes != wanted) {
        struct message_shape shape = {.type = entry->wire_type,
                                      .bytes = entry->bytes,
                                      .tag = entry->tag,
                                      .sequence = entry->sequence};
        *bits = acclib_transport_mismatch(device, &shape, to->wire_type, to->count);
        return true;
    }

    *bits = 0;
    enum arrival_copied copied = acclib_arrival_copy(device, peer, a, to);
    if (copied == ARRIVAL_UNREAD) {
        if (acclib_arrival_leave(device, peer, a))
            return false;
        *bits = acclib_call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                                 "rank %u (of communicator 0) gave up its message while this rank "
                                 "was copying it",
                                 peer_rank(device, peer));
    } else if (copied == ARRIVAL_DAMAGED) {
        *bits =
            acclib_call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR),
                             "a message refers to rx buffers or memory that do not belong to it");
    }

    return true;
}

static bool tags_match(const struct ring_entry *entry, uint32_t tag)
{
    return entry->tag == tag || entry->tag == ACCL_TAG_ANY || tag == ACCL_TAG_ANY;
}

static uint32_t ring_failed(accl_device *device, const struct peer *peer)
{
    return acclib_call_fail(
        device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR),
        "the ring of messages from rank %u is damaged: its entry %llu has %s; another "
        "process has overwritten this rank's memory",
        peer_rank(device, peer), (unsigned long long)peer->received + 1, peer->flaw);
}

/* Gives the data of a stream put to the stream, or has its reader told that it is lost: *END is
 * DONE, or LOST without memory. Later messages must not wait for memory. False if it has to wait.
 */
static bool deliver_put(accl_device *device, struct peer *peer, const struct arrival *a,
                        enum entry_kind *end)
{
    const struct ring_entry *entry = &a->entry;
    uint32_t stream = entry->stream - 1;
    if (!acclib_stream_has_room(&device->streams, entry->bytes))
        return false;
    if (a->kind == ENTRY_DIRECT &&
        !(acclib_arrival_reach(device, peer) && acclib_arrival_claim(peer, a)))
        return false;

    struct stream_chunk *chunk = acclib_stream_chunk_new(stream, entry->bytes);
    struct stream_loss loss = {.puts = 1,
                               .cause = STREAM_LOST_NO_MEMORY,
                               .stream = stream,
                               .source = peer_rank(device, peer),
                               .bytes = entry->bytes};
    *end = chunk != NULL ? ENTRY_DONE : ENTRY_LOST;
    if (chunk == NULL) {
        acclib_stream_lose(&device->streams, &loss);
        return true;
    }

    struct wanted to = {.data = chunk->data,
                        .type = entry->wire_type,
                        .wire_type = entry->wire_type,
                        .count = entry->bytes / acclib_dtype_bytes(entry->wire_type)};
    if (acclib_arrival_copy(device, peer, a, &to) == ARRIVAL_COPIED) {
        acclib_stream_give(&device->streams, chunk);
    } else {
        free(chunk);
        loss.cause = STREAM_LOST_DAMAGED;
        acclib_stream_lose(&device->streams, &loss);
    }

    return true;
}

/* Handles what is at the head and is no message for a receive call. True if there was such. */
static bool pass_other(accl_device *device, struct peer *peer, const struct arrival *a)
{
    if (a->entry.stream == 0)
        return false;

    enum entry_kind end = ENTRY_DONE;
    if (a->entry.stream != STREAM_TAKEN_BACK && !deliver_put(device, peer, a, &end))
        return false;

    acclib_arrival_pass(device, peer, a, end);
    return true;
}

/* Moves the head aside; false if out of memory. */
static bool set_aside(struct peer *peer, const struct arrival *a)
{
    struct unexpected *unexpected = calloc(1, sizeof *unexpected);
    if (unexpected == NULL)
        return false;

    unexpected->entry = a->entry;
    unexpected->shared = a->kind == ENTRY_DIRECT ? a->shared : NULL;
    atomic_init(&unexpected->entry.kind, a->kind);
    if (a->kind == ENTRY_INLINE)
        memcpy(unexpected->entry.data, a->data, RING_INLINE);
    acclib_unexpected_append(peer, unexpected);
    peer->offered += unexpected->shared != NULL;
    peer->received++;

    return true;
}

/* Drops what was set aside and then given up, so that its sender can use the entry again. */
static void drop_given_up(accl_device *device, struct peer *peer)
{
    struct list_node *next;
    for (struct list_node *at = peer->unexpected.first; at != NULL; at = next) {
        struct unexpected *unexpected = unexpected_of(at);
        struct arrival a;
        next = at->next;
        if (unexpected->shared == NULL || !acclib_arrival_open(device, peer, unexpected, &a) ||
            a.entry.stream != STREAM_TAKEN_BACK)
            continue;
        acclib_arrival_drop(device, peer, &a);
        acclib_unexpected_remove(peer, unexpected);
    }
}

void acclib_shm_progress(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        struct arrival a;
        if (peer->offered)
            drop_given_up(device, peer);
        while (acclib_arrival_next(device, peer, &a)) {
            if (pass_other(device, peer, &a))
                continue;
            if (a.entry.stream || !set_aside(peer, &a))
                break;
        }
    }
}

/* True if a message is for the executed call. */
static bool is_for(accl_device *device, const struct ring_entry *entry, uint32_t tag)
{
    return tags_match(entry, tag) &&
           (entry->tag != ACCL_TAG_ANY || acclib_ticket_is_first_receive(device));
}

/* The same as receive_once() for what was set aside: -1 if there is nothing of COMM. */
static int receive_unexpected(accl_device *device, struct communicator *comm, struct peer *peer,
                              struct member *member, const struct wanted *to, uint32_t *bits)
{
    struct arrival a;
    struct unexpected *unexpected;
    while ((unexpected = acclib_unexpected_find(peer, comm->key)) != NULL) {
        if (!acclib_arrival_open(device, peer, unexpected, &a))
            return 0;
        if (a.entry.stream == STREAM_TAKEN_BACK) {
            acclib_arrival_drop(device, peer, &a);
            acclib_unexpected_remove(peer, unexpected);
            continue;
        }
        if (!is_for(device, &a.entry, to->tag) ||
            (a.kind == ENTRY_DIRECT && !acclib_arrival_claim(peer, &a)) ||
            !take(device, peer, &a, to, bits))
            return 0;

        member->inbound += a.entry.numbers;
        acclib_arrival_drop(device, peer, &a);
        acclib_unexpected_remove(peer, unexpected);
        return 1;
    }

    return -1;
}

/* One attempt: 1 if a message was taken or failed (with *BITS), 0 if none matches. */
static int receive_once(accl_device *device, struct communicator *comm, struct peer *peer,
                        struct member *member, const struct wanted *to, uint32_t *bits)
{
    struct arrival a;
    int taken = receive_unexpected(device, comm, peer, member, to, bits);
    if (taken >= 0)
        return taken;

    while (acclib_arrival_next(device, peer, &a)) {
        if (a.entry.stream) {
            if (!pass_other(device, peer, &a))
                return 0;
            continue;
        }
        if (a.entry.key != comm->key || !is_for(device, &a.entry, to->tag)) {
            bool same = a.entry.key == comm->key;
            if (!set_aside(peer, &a) || same)
                return 0;
            continue;
        }
        if ((a.kind == ENTRY_DIRECT && !acclib_arrival_claim(peer, &a)) ||
            !take(device, peer, &a, to, bits))
            return 0;
        member->inbound += a.entry.numbers;
        acclib_arrival_pass(device, peer, &a, ENTRY_DONE);
        return 1;
    }

    if (peer->flaw == NULL)
        return 0;

    *bits = ring_failed(device, peer);
    return 1;
}

static uint32_t receive_timed_out(accl_device *device, const struct communicator *comm,
                                  struct peer *peer, uint32_t from, uint32_t tag)
{
    /* Once more, for the text: data that are with their sender need its memory. */
    uint32_t unreachable = acclib_attach_try(device, peer);
    if (unreachable)
        return ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | unreachable;

    const struct pool *pool = &device->pool;
    uint32_t held = 0;
    for (uint32_t i = 0; i < pool->slot_count; i++)
        held += atomic_load(&pool->slots[i].status) == ACCL_RX_RESERVED;
    char next[96] = "none of its messages is here";
    const struct unexpected *unexpected = acclib_unexpected_find(peer, comm->key);
    if (unexpected != NULL)
        snprintf(next, sizeof next, "its next message has tag %u, sequence %u, %llu bytes",
                 unexpected->entry.tag, unexpected->entry.sequence,
                 (unsigned long long)unexpected->entry.bytes);

    return acclib_call_fail(
        device, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
        "no message from rank %u of communicator %u with tag %s%u, sequence %u, in "
        "%u ms: %s; %u of %u rx buffers hold messages",
        from, comm->id, tag == ACCL_TAG_ANY ? "any " : "", tag, comm->members[from].inbound,
        device->timeout_ms, next, held, pool->slot_count);
}

uint32_t acclib_shm_receive(accl_device *device, struct communicator *comm, uint32_t from,
                            const struct wanted *message)
{
    struct member *member = &comm->members[from];
    struct peer *peer = peer_of(device, member->rank);
    uint32_t tag = message->tag, bits = 0;
    struct waiter w;

    acclib_wait_begin(&w, device, comm, member->rank == device->rank ? NO_RANK : member->rank,
                      false, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    bool noted = false;
    while (!receive_once(device, comm, peer, member, message, &bits)) {
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, ACCL_RECV, member->rank, tag, member->inbound, comm->key);
        }
        if ((bits = acclib_wait_pause(&w))) {
            /* It may have come just before the sender left. */
            uint32_t late = 0;
            if ((bits & ACCL_ERROR(PEER_LOST_ERROR)) &&
                receive_once(device, comm, peer, member, message, &late))
                bits = late;
            break;
        }
        if (w.rounds % 64 == 0 || w.armed)
            acclib_transport_progress(device);
        /* Not needed for a message that is here: its sender may have gone on already. */
        acclib_arrival_reach(device, peer);
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        bits = receive_timed_out(device, comm, peer, from, tag);

    return bits;
}

void acclib_shm_reset(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        struct arrival a;
        while (acclib_arrival_next(device, peer, &a) && set_aside(peer, &a))
            ;
        struct list_node *next;
        for (struct list_node *at = peer->unexpected.first; at != NULL; at = next) {
            struct unexpected *unexpected = unexpected_of(at);
            next = at->next;
            /* A message that is only offered stays until its sender gives it up. */
            if (!acclib_arrival_open(device, peer, unexpected, &a) || a.kind == ENTRY_DIRECT)
                continue;
            acclib_arrival_drop(device, peer, &a);
            acclib_unexpected_remove(peer, unexpected);
        }
    }
}

static void show(pending_visit visit, void *argument, uint32_t source,
                 const struct ring_entry *entry, uint32_t kind)
{
    visit(argument, &(struct pending){.key = entry->key,
                                      .source = source,
                                      .tag = entry->tag,
                                      .sequence = entry->sequence,
                                      .stream = entry->stream,
                                      .bytes = entry->bytes,
                                      .segments = kind == ENTRY_DIRECT ? 1 : entry->segments});
}

void acclib_shm_visit(accl_device *device, pending_visit visit, void *argument)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        for (struct list_node *at = peer->unexpected.first; at != NULL; at = at->next) {
            const struct unexpected *p = unexpected_of(at);
            show(visit, argument, i, &p->entry, atomic_load(&p->entry.kind));
        }
        if (peer->in == NULL)
            continue;

        for (uint64_t n = peer->received; n < peer->received + RING_ENTRIES; n++) {
            const struct ring_entry *shared = &peer->in->entries[n % RING_ENTRIES];
            if (atomic_load_explicit(&shared->passed, memory_order_acquire) == ring_mark(n + 1))
                continue;
            if (atomic_load_explicit(&shared->number, memory_order_acquire) != n + 1)
                break;
            struct ring_entry entry;
            acclib_entry_read(&entry, shared);
            show(visit, argument, i, &entry,
                 atomic_load_explicit(&shared->kind, memory_order_relaxed));
        }
    }
}
