/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving. Messages of one sender are taken from its ring in order; what belongs to another
 * communicator, or has another tag than the awaited one, is set aside as a parcel (its rx buffers
 * stay taken). A message of the awaited communicator is never overtaken by a later one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/transport/shm/message.h"
#include "accl/transport/packets/packets.h"

void parcel_append(struct peer *peer, struct parcel *parcel)
{
    parcel->next = NULL;
    if (!peer->parcels)
        peer->parcels_end = &peer->parcels;
    *peer->parcels_end = parcel;
    peer->parcels_end = &parcel->next;
}

static void parcel_remove(struct peer *peer, struct parcel **link)
{
    struct parcel *parcel = *link;
    *link = parcel->next;
    if (!*link)
        peer->parcels_end = link;
    free(parcel->heap);
    free(parcel);
}

#define ATTACH_AGAIN_NS (2 * CLOCK_MILLISECOND)

/* Where a message goes to. */
struct target {
    uint8_t *data;
    uint32_t type, wire_type;
    uint64_t count;
};

/* A message that is the next in its ring, or was set aside: only copies of what can be wrong. */
struct arrival {
    struct ring_entry *shared; /* NULL if it was set aside */
    struct ring_entry entry;   /* its data only if it was set aside */
    uint32_t kind;
    const uint8_t *data; /* of one that is not in rx buffers or in the sender's memory */
};

/* The sender may have so many more segments under way again. */
static void give_back(accl_device *device, struct peer *peer, const struct ring_entry *entry,
                      uint32_t kind)
{
    if (kind == ENTRY_POOL)
        slots_release(&device->pool, entry->first);
    if (peer->in && entry->segments) {
        atomic_fetch_add_explicit(&peer->in->consumed, entry->segments, memory_order_release);
        wake_later(device, peer);
    }
}

/* Copies from a chain of rx buffers; false if the chain is not what the entry says. */
static bool copy_chain(accl_device *device, uint32_t chain, const struct target *to)
{
    const struct pool *pool = &device->pool;
    size_t wire = dtype_bytes(to->wire_type), size = dtype_bytes(to->type);
    uint64_t at = 0;
    for (uint32_t k = 0; at < to->count && k < pool->slot_count; k++) {
        if (!chain || chain > pool->slot_count)
            return false;
        const struct rx_slot *slot = &pool->slots[chain - 1];
        uint32_t bytes = READ_ONCE(slot->bytes);
        uint64_t n = bytes / wire;
        if (bytes > pool->slot_bytes || n > to->count - at)
            return false;
        convert_copy(to->data + at * size, to->type, pool->data + (chain - 1) * pool->slot_bytes,
                     to->wire_type, n, false);
        at += n;
        chain = atomic_load(&slot->next);
    }
    return at == to->count;
}

/* Whether elements of FROM can become some of TO. */
static bool types_convert(uint32_t from, uint32_t to)
{
    return from == to || (from == ACCL_FLOAT16 && to == ACCL_FLOAT32) ||
           (from == ACCL_FLOAT32 && to == ACCL_FLOAT16);
}

static bool copy_direct(struct peer *peer, const struct ring_entry *entry, const struct target *to)
{
    size_t from = dtype_bytes(entry->source_type);
    if (!from || !types_convert(entry->source_type, to->type) || entry->offset % from ||
        entry->offset > peer->arena_bytes || to->count > (peer->arena_bytes - entry->offset) / from)
        return false;
    convert_copy(to->data, to->type, (const uint8_t *)peer->arena + entry->offset,
                 entry->source_type, to->count, to->wire_type == ACCL_FLOAT16);
    return true;
}

static uint32_t take(accl_device *device, struct peer *peer, const struct arrival *a,
                     const struct target *to)
{
    const struct ring_entry *entry = &a->entry;
    uint64_t wanted = to->count * dtype_bytes(to->wire_type);
    if (entry->wire_type != to->wire_type || entry->bytes != wanted) {
        size_t size = dtype_bytes(entry->wire_type);
        return call_fail(device, ACCL_ERROR(DMA_SIZE_ERROR), MESSAGE_DIFFERS,
                         (unsigned long long)(size ? entry->bytes / size : 0),
                         dtype_name(entry->wire_type), (unsigned long long)entry->bytes, entry->tag,
                         entry->sequence, (unsigned long long)to->count, dtype_name(to->wire_type),
                         (unsigned long long)wanted);
    }
    bool good = true;
    if (a->data)
        convert_copy(to->data, to->type, a->data, to->wire_type, to->count, false);
    else if (a->kind == ENTRY_POOL)
        good = copy_chain(device, entry->first, to);
    else
        good = copy_direct(peer, entry, to);
    if (!good)
        return call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR),
                         "a message has rx buffers, or memory, that do not belong to it");
    return 0;
}

static bool tags_match(const struct ring_entry *entry, uint32_t tag)
{
    return entry->tag == tag || entry->tag == ACCL_TAG_ANY || tag == ACCL_TAG_ANY;
}

/* ------------------------------------------------------------------ the ring's next entry */

static void read_entry(struct ring_entry *to, const struct ring_entry *shared)
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
    size_t size = dtype_bytes(entry->wire_type);
    if (a->kind != ENTRY_INLINE && a->kind != ENTRY_POOL && a->kind != ENTRY_DIRECT)
        return "an unknown kind";
    /* Sizes are powers of two. */
    if (!size || entry->bytes & (size - 1))
        return "no element type";
    if (!entry->segments || entry->segments > device->pool.slot_count)
        return "another number of segments than there can be";
    if (entry->stream > ACCL_STREAM_ID_MAX + 1 && entry->stream != STREAM_TAKEN_BACK)
        return "no stream's number";
    if (a->kind == ENTRY_INLINE && entry->bytes > RING_INLINE)
        return "more data than an entry holds";
    if (a->kind == ENTRY_POOL && (!entry->first || entry->first > device->pool.slot_count ||
                                  entry->bytes > entry->segments * device->pool.slot_bytes))
        return "no rx buffers";
    if (a->kind == ENTRY_DIRECT &&
        (!types_convert(entry->source_type, entry->wire_type) ||
         (peer->arena && (entry->offset > peer->arena_bytes ||
                          entry->bytes / size > (peer->arena_bytes - entry->offset) /
                                                    dtype_bytes(entry->source_type)))))
        return "data outside the sender's memory";
    return NULL;
}

/* The next entry of PEER's ring; false if there is none, or none that makes sense: peer->flaw. */
static bool head(const accl_device *device, struct peer *peer, struct arrival *a)
{
    if (!peer->in || peer->flaw)
        return false;
    struct ring_entry *shared = &peer->in->entries[peer->received % RING_ENTRIES];
    if (atomic_load_explicit(&shared->number, memory_order_acquire) != peer->received + 1)
        return false;
    a->kind = atomic_load_explicit(&shared->kind, memory_order_acquire);
    if (a->kind == ENTRY_MOVING)
        return false; /* its sender is at it */

    a->shared = shared;
    read_entry(&a->entry, shared);
    a->data = a->kind == ENTRY_INLINE ? shared->data : NULL;
    /* What moved meanwhile is looked at again. */
    const char *flaw = find_flaw(device, peer, a);
    if (flaw && atomic_load_explicit(&shared->kind, memory_order_acquire) == a->kind)
        peer->flaw = flaw;
    return !flaw;
}

static uint32_t ring_failed(accl_device *device, const struct peer *peer)
{
    return call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR),
                     "the ring of messages from rank %u is damaged: its entry %llu has %s; some "
                     "process has written over this rank's memory",
                     peer_rank(device, peer), (unsigned long long)peer->received + 1, peer->flaw);
}

static bool claim_direct(const struct peer *peer, const struct arrival *a)
{
    uint32_t posted = ENTRY_DIRECT;
    return peer->arena && atomic_compare_exchange_strong(&a->shared->kind, &posted, ENTRY_TAKEN);
}

/* Done with the head, which was taken: DONE, or LOST. */
static void pass_head(accl_device *device, struct peer *peer, const struct arrival *a,
                      enum entry_kind end)
{
    peer->received++;
    if (a->kind == ENTRY_DIRECT) {
        wake_later(device, peer);
        atomic_store_explicit(&a->shared->kind, end, memory_order_release);
    }
    give_back(device, peer, &a->entry, a->kind);
}

/* Whether the memory of PEER is here; a put that is copied from there may be the first to need it.
 */
static bool reaches_memory(accl_device *device, struct peer *peer)
{
    if (!peer->arena && clock_now() - peer->asked_at > ATTACH_AGAIN_NS) {
        attach_try(device, peer);
        peer->asked_at = clock_now();
    }
    return peer->arena != NULL;
}

/* Gives the data of a stream put to the stream: DONE, or LOST without memory. Nothing else may
 * wait for memory behind it. False if it has to wait. */
static bool deliver_put(accl_device *device, struct peer *peer, const struct arrival *a,
                        enum entry_kind *end)
{
    const struct ring_entry *entry = &a->entry;
    uint32_t stream = entry->stream - 1;
    if (!stream_has_room(device, entry->bytes))
        return false;
    if (a->kind == ENTRY_DIRECT && !(reaches_memory(device, peer) && claim_direct(peer, a)))
        return false;

    struct stream_chunk *chunk = stream_chunk_new(stream, entry->bytes);
    *end = chunk ? ENTRY_DONE : ENTRY_LOST;
    if (!chunk) {
        stream_lose(device, stream, peer_rank(device, peer), entry->bytes);
        return true;
    }
    struct target to = {.data = chunk->data,
                        .type = entry->wire_type,
                        .wire_type = entry->wire_type,
                        .count = entry->bytes / dtype_bytes(entry->wire_type)};
    if (take(device, peer, a, &to) == 0)
        stream_give(device, chunk);
    else
        free(chunk);
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
    pass_head(device, peer, a, end);
    return true;
}

/* Moves the head aside; false if that cannot be. */
static bool set_aside(struct peer *peer, const struct arrival *a)
{
    if (a->kind == ENTRY_DIRECT)
        return false;
    struct parcel *parcel = calloc(1, sizeof *parcel);
    if (!parcel)
        return false;
    parcel->entry = a->entry;
    atomic_init(&parcel->entry.kind, a->kind);
    if (a->kind == ENTRY_INLINE)
        memcpy(parcel->entry.data, a->data, RING_INLINE);
    parcel_append(peer, parcel);
    peer->received++;
    return true;
}

void message_progress_streams(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = &device->peers[i];
        struct arrival a;
        while (head(device, peer, &a)) {
            if (pass_other(device, peer, &a))
                continue;
            if (a.entry.stream || !set_aside(peer, &a))
                break;
        }
    }
    packets_progress_streams(device);
}

/* ------------------------------------------------------------------ receive calls */

static struct parcel **find_parcel(struct peer *peer, uint64_t key)
{
    struct parcel **link = &peer->parcels;
    while (*link && (*link)->entry.key != key)
        link = &(*link)->next;
    return link;
}

static void open_parcel(const struct parcel *parcel, struct arrival *a)
{
    a->shared = NULL;
    a->entry = parcel->entry;
    a->kind = atomic_load_explicit(&parcel->entry.kind, memory_order_relaxed);
    a->data = parcel->heap ? parcel->heap : a->kind == ENTRY_INLINE ? parcel->entry.data : NULL;
}

/* One look: 1 taken or failed (with *BITS), 0 nothing that matches. */
static int receive_once(accl_device *device, struct communicator *comm, struct peer *peer,
                        struct member *member, uint32_t tag, const struct target *to,
                        uint32_t *bits)
{
    if (peer->parcels) {
        struct parcel **link = find_parcel(peer, comm->key);
        if (*link) {
            struct arrival a;
            open_parcel(*link, &a);
            if (!tags_match(&a.entry, tag))
                return 0;
            *bits = take(device, peer, &a, to);
            member->inbound += a.entry.numbers;
            give_back(device, peer, &a.entry, a.kind);
            parcel_remove(peer, link);
            return 1;
        }
    }
    struct arrival a;
    while (head(device, peer, &a)) {
        if (a.entry.stream) {
            if (!pass_other(device, peer, &a))
                return 0;
            continue;
        }
        if (a.entry.key != comm->key || !tags_match(&a.entry, tag)) {
            bool same = a.entry.key == comm->key;
            if (!set_aside(peer, &a) || same)
                return 0;
            continue;
        }
        if (a.kind == ENTRY_DIRECT && !claim_direct(peer, &a))
            return 0;
        *bits = take(device, peer, &a, to);
        member->inbound += a.entry.numbers;
        pass_head(device, peer, &a, ENTRY_DONE);
        return 1;
    }
    if (!peer->flaw)
        return 0;
    *bits = ring_failed(device, peer);
    return 1;
}

static uint32_t receive_timed_out(accl_device *device, const struct communicator *comm,
                                  struct peer *peer, uint32_t from, uint32_t tag)
{
    const struct pool *pool = &device->pool;
    uint32_t held = 0;
    for (uint32_t i = 0; i < pool->slot_count; i++)
        held += atomic_load(&pool->slots[i].status) == ACCL_RX_RESERVED;
    char next[96] = "none of its messages is here";
    struct parcel *parcel = *find_parcel(peer, comm->key);
    if (parcel)
        snprintf(next, sizeof next, "its next message has tag %u, sequence %u, %llu bytes",
                 parcel->entry.tag, parcel->entry.sequence,
                 (unsigned long long)parcel->entry.bytes);
    return call_fail(device, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
                     "no message from rank %u of communicator %u with tag %s%u, sequence %u, in "
                     "%u ms: %s; %u of %u rx buffers hold messages",
                     from, comm->id, tag == ACCL_TAG_ANY ? "any " : "", tag,
                     comm->members[from].inbound, device->timeout_ms, next, held, pool->slot_count);
}

uint32_t message_receive(accl_device *device, struct communicator *comm, uint32_t from,
                         uint8_t *data, uint32_t type, uint32_t wire_type, uint64_t count,
                         uint32_t tag)
{
    struct member *member = &comm->members[from];
    struct peer *peer = &device->peers[member->rank];
    uint32_t bits = 0;
    if (packets_reach(device, member->rank)) {
        struct packet_message message = {
            .channel = CHANNEL_USER, .tag = tag, .sequence = member->inbound};
        uint32_t numbers;
        bits =
            packets_receive(device, comm, from, &message, data, type, wire_type, count, &numbers);
        member->inbound += numbers;
        return bits;
    }
    struct target to = {.data = data, .type = type, .wire_type = wire_type, .count = count};
    struct waiter w;
    wait_begin(&w, device, comm, member->rank == device->rank ? NO_RANK : member->rank, false,
               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    bool noted = false;
    while (!receive_once(device, comm, peer, member, tag, &to, &bits)) {
        if (w.armed && !noted) {
            noted = true;
            note_wait(device, ACCL_RECV, member->rank, tag, member->inbound, comm->key);
        }
        if ((bits = wait_pause(&w))) {
            /* It may have come just before the sender left. */
            uint32_t late = 0;
            if ((bits & ACCL_ERROR(PEER_LOST_ERROR)) &&
                receive_once(device, comm, peer, member, tag, &to, &late))
                bits = late;
            break;
        }
        if (w.rounds % 64 == 0)
            message_progress_streams(device);
        /* Not needed for a message that is here: its sender may have gone on already. */
        reaches_memory(device, peer);
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        receive_timed_out(device, comm, peer, from, tag);
    return bits;
}

void messages_reset(accl_device *device)
{
    packets_reset(device);
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = &device->peers[i];
        struct arrival a;
        while (head(device, peer, &a) && set_aside(peer, &a))
            ;
        while (peer->parcels) {
            open_parcel(peer->parcels, &a);
            give_back(device, peer, &a.entry, a.kind);
            parcel_remove(peer, &peer->parcels);
        }
    }
}

void parcels_free(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++)
        while (device->peers[i].parcels)
            parcel_remove(&device->peers[i], &device->peers[i].parcels);
}

void parcels_visit(accl_device *device, parcel_visit visit, void *argument)
{
    packets_visit(device, visit, argument);
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = &device->peers[i];
        for (struct parcel *p = peer->parcels; p; p = p->next)
            visit(argument, i, &p->entry);
        if (!peer->in)
            continue;
        for (uint64_t n = peer->received; n < peer->received + RING_ENTRIES; n++) {
            const struct ring_entry *shared = &peer->in->entries[n % RING_ENTRIES];
            if (atomic_load_explicit(&shared->number, memory_order_acquire) != n + 1)
                break;
            struct ring_entry entry;
            read_entry(&entry, shared);
            atomic_init(&entry.kind, atomic_load_explicit(&shared->kind, memory_order_relaxed));
            visit(argument, i, &entry);
        }
    }
}
