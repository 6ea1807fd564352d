/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/receive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/parcel.h"
#include "accl/transport/shm/slots.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

#define ATTACH_AGAIN_NS (2 * CLOCK_MILLISECOND)

/* A message that is the next in its ring, or was set aside: only copies of what can be wrong. */
struct arrival {
    struct ring_entry *shared; /* NULL if it was set aside */
    struct ring_entry entry;   /* its data only if it was set aside */
    uint32_t kind;
    const uint8_t *data; /* of one that is not in rx buffers or in the sender's memory */
};

/* Returns the sender's credit for these segments. */
static void give_back(accl_device *device, struct peer *peer, const struct ring_entry *entry,
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

/* Whether elements of FROM can become some of TO. */
static bool types_convert(uint32_t from, uint32_t to)
{
    return from == to || (from == ACCL_FLOAT16 && to == ACCL_FLOAT32) ||
           (from == ACCL_FLOAT32 && to == ACCL_FLOAT16);
}

static bool copy_direct(struct peer *peer, const struct ring_entry *entry, const struct wanted *to)
{
    size_t from = acclib_dtype_bytes(entry->source_type);
    if (!from || !types_convert(entry->source_type, to->type) || entry->offset % from ||
        entry->offset > peer->arena_bytes || to->count > (peer->arena_bytes - entry->offset) / from)
        return false;

    acclib_convert(to->data, to->type, (const uint8_t *)peer->arena + entry->offset,
                   entry->source_type, to->count, to->wire_type == ACCL_FLOAT16);
    return true;
}

/* Copies the data of a message; false if it is not where the entry says. */
static bool copy_data(accl_device *device, struct peer *peer, const struct arrival *a,
                      const struct wanted *to)
{
    if (a->data != NULL) {
        acclib_convert(to->data, to->type, a->data, to->wire_type, to->count, false);
        return true;
    }

    return a->kind == ENTRY_POOL ? copy_chain(device, a->entry.first, to)
                                 : copy_direct(peer, &a->entry, to);
}

static uint32_t take(accl_device *device, struct peer *peer, const struct arrival *a,
                     const struct wanted *to)
{
    const struct ring_entry *entry = &a->entry;
    uint64_t wanted = to->count * acclib_dtype_bytes(to->wire_type);
    if (entry->wire_type != to->wire_type || entry->bytes != wanted) {
        struct message_shape shape = {.type = entry->wire_type,
                                      .bytes = entry->bytes,
                                      .tag = entry->tag,
                                      .sequence = entry->sequence};
        return acclib_transport_mismatch(device, &shape, to->wire_type, to->count);
    }

    if (!copy_data(device, peer, a, to))
        return acclib_call_fail(
            device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR),
            "a message refers to rx buffers or memory that do not belong to it");

    return 0;
}

static bool tags_match(const struct ring_entry *entry, uint32_t tag)
{
    return entry->tag == tag || entry->tag == ACCL_TAG_ANY || tag == ACCL_TAG_ANY;
}

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
         (peer->arena != NULL &&
          (entry->offset > peer->arena_bytes ||
           entry->bytes / size >
               (peer->arena_bytes - entry->offset) / acclib_dtype_bytes(entry->source_type)))))
        return "data outside the sender's memory";

    return NULL;
}

/* The next entry of PEER's ring; false if there is none, or none that makes sense: peer->flaw. */
static bool head(const accl_device *device, struct peer *peer, struct arrival *a)
{
    if (peer->in == NULL || peer->flaw != NULL)
        return false;

    struct ring_entry *shared = &peer->in->entries[peer->received % RING_ENTRIES];
    if (atomic_load_explicit(&shared->number, memory_order_acquire) != peer->received + 1)
        return false;

    a->kind = atomic_load_explicit(&shared->kind, memory_order_acquire);
    if (a->kind == ENTRY_MOVING)
        return false; /* its sender is moving it */

    a->shared = shared;
    read_entry(&a->entry, shared);
    a->data = a->kind == ENTRY_INLINE ? shared->data : NULL;

    /* An entry that has moved meanwhile is checked again. */
    const char *flaw = find_flaw(device, peer, a);
    if (flaw != NULL && atomic_load_explicit(&shared->kind, memory_order_acquire) == a->kind)
        peer->flaw = flaw;

    return flaw == NULL;
}

static uint32_t ring_failed(accl_device *device, const struct peer *peer)
{
    return acclib_call_fail(
        device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR),
        "the ring of messages from rank %u is damaged: its entry %llu has %s; another "
        "process has overwritten this rank's memory",
        peer_rank(device, peer), (unsigned long long)peer->received + 1, peer->flaw);
}

static bool claim_direct(const struct peer *peer, const struct arrival *a)
{
    uint32_t posted = ENTRY_DIRECT;
    return peer->arena != NULL &&
           atomic_compare_exchange_strong(&a->shared->kind, &posted, ENTRY_TAKEN);
}

/* Done with the head, which was taken: DONE, or LOST. */
static void pass_head(accl_device *device, struct peer *peer, const struct arrival *a,
                      enum entry_kind end)
{
    peer->received++;
    if (a->kind == ENTRY_DIRECT) {
        wake_later(device, peer_rank(device, peer));
        atomic_store_explicit(&a->shared->kind, end, memory_order_release);
    }

    give_back(device, peer, &a->entry, a->kind);
}

/* Whether the memory of PEER is here; a put that is copied from there may be the first to need it.
 */
static bool reaches_memory(accl_device *device, struct peer *peer)
{
    if (peer->arena == NULL && clock_now() - peer->asked_at > ATTACH_AGAIN_NS) {
        acclib_attach_try(device, peer);
        peer->asked_at = clock_now();
    }
    return peer->arena != NULL;
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
    if (a->kind == ENTRY_DIRECT && !(reaches_memory(device, peer) && claim_direct(peer, a)))
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
    if (copy_data(device, peer, a, &to)) {
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

    pass_head(device, peer, a, end);
    return true;
}

/* Moves the head aside; false if that cannot be. */
static bool set_aside(struct peer *peer, const struct arrival *a)
{
    if (a->kind == ENTRY_DIRECT)
        return false;

    struct parcel *parcel = calloc(1, sizeof *parcel);
    if (parcel == NULL)
        return false;

    parcel->entry = a->entry;
    atomic_init(&parcel->entry.kind, a->kind);
    if (a->kind == ENTRY_INLINE)
        memcpy(parcel->entry.data, a->data, RING_INLINE);
    acclib_parcel_append(peer, parcel);
    peer->received++;

    return true;
}

void acclib_shm_progress(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        struct arrival a;
        while (head(device, peer, &a)) {
            if (pass_other(device, peer, &a))
                continue;
            if (a.entry.stream || !set_aside(peer, &a))
                break;
        }
    }
}

static void open_parcel(const struct parcel *parcel, struct arrival *a)
{
    a->shared = NULL;
    a->entry = parcel->entry;
    a->kind = atomic_load_explicit(&parcel->entry.kind, memory_order_relaxed);
    a->data = parcel->heap != NULL      ? parcel->heap
              : a->kind == ENTRY_INLINE ? parcel->entry.data
                                        : NULL;
}

/* One attempt: 1 if a message was taken or failed (with *BITS), 0 if none matches. */
static int receive_once(accl_device *device, struct communicator *comm, struct peer *peer,
                        struct member *member, const struct wanted *to, uint32_t *bits)
{
    uint32_t tag = to->tag;
    if (peer->parcels != NULL) {
        struct parcel **link = acclib_parcel_find(peer, comm->key);
        if (*link) {
            struct arrival a;
            open_parcel(*link, &a);
            if (!tags_match(&a.entry, tag))
                return 0;
            *bits = take(device, peer, &a, to);
            member->inbound += a.entry.numbers;
            give_back(device, peer, &a.entry, a.kind);
            acclib_parcel_remove(peer, link);
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

    if (peer->flaw == NULL)
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
    struct parcel *parcel = *acclib_parcel_find(peer, comm->key);
    if (parcel != NULL)
        snprintf(next, sizeof next, "its next message has tag %u, sequence %u, %llu bytes",
                 parcel->entry.tag, parcel->entry.sequence,
                 (unsigned long long)parcel->entry.bytes);

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
        if (w.rounds % 64 == 0)
            acclib_transport_progress(device);
        /* Not needed for a message that is here: its sender may have gone on already. */
        reaches_memory(device, peer);
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        receive_timed_out(device, comm, peer, from, tag);

    return bits;
}

void acclib_shm_reset(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        struct arrival a;
        while (head(device, peer, &a) && set_aside(peer, &a))
            ;
        while (peer->parcels != NULL) {
            open_parcel(peer->parcels, &a);
            give_back(device, peer, &a.entry, a.kind);
            acclib_parcel_remove(peer, &peer->parcels);
        }
    }
}

static void show(pending_visit visit, void *argument, uint32_t source,
                 const struct ring_entry *entry, uint32_t kind)
{
    visit(argument, &(struct pending){.source = source,
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
        for (const struct parcel *p = peer->parcels; p != NULL; p = p->next)
            show(visit, argument, i, &p->entry, atomic_load(&p->entry.kind));
        if (peer->in == NULL)
            continue;

        for (uint64_t n = peer->received; n < peer->received + RING_ENTRIES; n++) {
            const struct ring_entry *shared = &peer->in->entries[n % RING_ENTRIES];
            if (atomic_load_explicit(&shared->number, memory_order_acquire) != n + 1)
                break;
            struct ring_entry entry;
            read_entry(&entry, shared);
            show(visit, argument, i, &entry,
                 atomic_load_explicit(&shared->kind, memory_order_relaxed));
        }
    }
}
