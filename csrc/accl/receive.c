/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving. Messages of one sender are taken from its ring in order; what belongs to another
 * communicator, or has another tag than the awaited one, is set aside as a parcel (its rx buffers
 * stay taken). A message of the awaited communicator is never overtaken by a later one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/message.h"
#include "accl_transport/packets.h"

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

/* Where a message goes to. */
struct target {
    uint8_t *data;
    uint32_t type, wire_type;
    uint64_t count;
};

/* The sender may have so many more segments under way again. */
static void give_back(accl_device *device, struct peer *peer, const struct ring_entry *entry)
{
    if (entry->first)
        slots_release(device->header, entry->first);
    if (peer->in && entry->segments) {
        atomic_fetch_add_explicit(&peer->in->consumed, entry->segments, memory_order_release);
        wake_later(device, peer);
    }
}

/* Copies from a chain of rx buffers; false if the chain is not what the entry says. */
static bool copy_chain(accl_device *device, const struct ring_entry *entry, const struct target *to)
{
    const struct arena_header *own = device->header;
    struct rx_slot *slots = (struct rx_slot *)(void *)(device->heap->base + own->slots);
    size_t wire = dtype_bytes(to->wire_type), size = dtype_bytes(to->type);
    uint64_t at = 0;
    uint32_t chain = entry->first;
    for (uint32_t k = 0; at < to->count && k < own->slot_count; k++) {
        if (!chain || chain > own->slot_count)
            return false;
        const struct rx_slot *slot = &slots[chain - 1];
        uint64_t n = slot->bytes / wire;
        if (slot->bytes > own->slot_bytes || n > to->count - at)
            return false;
        convert_copy(to->data + at * size, to->type,
                     device->heap->base + own->pool + (chain - 1) * own->slot_bytes, to->wire_type,
                     n, false);
        at += n;
        chain = atomic_load(&slots[chain - 1].next);
    }
    return at == to->count;
}

static bool copy_direct(struct peer *peer, const struct ring_entry *entry, const struct target *to)
{
    size_t from = dtype_bytes(entry->source_type);
    if (!from || entry->offset > peer->arena_bytes ||
        to->count > (peer->arena_bytes - entry->offset) / from)
        return false;
    convert_copy(to->data, to->type, (const uint8_t *)peer->arena + entry->offset,
                 entry->source_type, to->count, to->wire_type == ACCL_FLOAT16);
    return true;
}

/* Takes ENTRY (in the ring, a copy of one, or one of a parcel with HEAP data). */
static uint32_t take(accl_device *device, struct peer *peer, struct ring_entry *entry,
                     uint32_t kind, const uint8_t *heap, const struct target *to)
{
    bool fits = to && entry->wire_type == to->wire_type &&
                entry->bytes == to->count * dtype_bytes(to->wire_type);
    bool good = true;
    if (fits && heap)
        convert_copy(to->data, to->type, heap, to->wire_type, to->count, false);
    else if (fits && kind == ENTRY_INLINE)
        convert_copy(to->data, to->type, entry->data, to->wire_type,
                     entry->bytes <= RING_INLINE ? to->count : 0, false);
    else if (fits && kind == ENTRY_POOL)
        good = copy_chain(device, entry, to);
    else if (fits)
        good = copy_direct(peer, entry, to);
    if (to && !fits)
        return call_fail(device, ACCL_ERROR(DMA_SIZE_ERROR),
                         "the message has %llu bytes (tag %u, sequence %u%s), the receive call "
                         "wants %llu%s",
                         (unsigned long long)entry->bytes, entry->tag, entry->sequence,
                         entry->wire_type == ACCL_FLOAT16 ? ", float16" : "",
                         (unsigned long long)(to->count * dtype_bytes(to->wire_type)),
                         to->wire_type == ACCL_FLOAT16 ? " of float16" : "");
    if (!good)
        return call_fail(device, ACCL_ERROR(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR),
                         "a message has rx buffers that do not belong to it");
    return 0;
}

static bool tags_match(const struct ring_entry *entry, uint32_t tag)
{
    return entry->tag == tag || entry->tag == ACCL_TAG_ANY || tag == ACCL_TAG_ANY;
}

/* The next entry of PEER's ring if there is one, with its kind. */
static struct ring_entry *head(struct peer *peer, uint32_t *kind)
{
    if (!peer->in)
        return NULL;
    struct ring_entry *entry = &peer->in->entries[peer->received % RING_ENTRIES];
    if (atomic_load_explicit(&entry->number, memory_order_acquire) != peer->received + 1)
        return NULL;
    *kind = atomic_load_explicit(&entry->kind, memory_order_acquire);
    return entry;
}

static bool claim_direct(const struct peer *peer, struct ring_entry *entry)
{
    uint32_t posted = ENTRY_DIRECT;
    return peer->arena && atomic_compare_exchange_strong(&entry->kind, &posted, ENTRY_TAKEN);
}

/* Done with the head, which was taken by KIND. */
static void pass_head(accl_device *device, struct peer *peer, struct ring_entry *entry,
                      uint32_t kind)
{
    peer->received++;
    struct ring_entry copy = {.segments = entry->segments,
                              .first = kind == ENTRY_POOL ? entry->first : 0};
    if (kind == ENTRY_DIRECT) {
        wake_later(device, peer);
        atomic_store_explicit(&entry->kind, ENTRY_DONE, memory_order_release);
    }
    give_back(device, peer, &copy);
}

/* Handles what is at the head and is no message for a receive call. True if there was such. */
static bool pass_other(accl_device *device, struct peer *peer, struct ring_entry *entry,
                       uint32_t kind)
{
    if (entry->stream == 0)
        return false;
    if (kind != ENTRY_INLINE && kind != ENTRY_POOL && kind != ENTRY_DIRECT)
        return false;
    if (entry->stream != UINT32_MAX) { /* that one was taken back by its sender */
        uint64_t size = dtype_bytes(entry->wire_type);
        if (!stream_has_room(device, entry->bytes))
            return false;
        uint8_t *data = malloc(entry->bytes ? entry->bytes : 1);
        if (!data)
            return false;
        if (kind == ENTRY_DIRECT && !claim_direct(peer, entry)) {
            free(data);
            return false;
        }
        struct target to = {.data = data,
                            .type = entry->wire_type,
                            .wire_type = entry->wire_type,
                            .count = size ? entry->bytes / size : 0};
        if (size && take(device, peer, entry, kind, NULL, &to) == 0)
            stream_deliver(device, entry->stream - 1, data, entry->bytes);
        free(data);
    }
    pass_head(device, peer, entry, kind);
    return true;
}

/* Moves the head aside; false if that cannot be. */
static bool set_aside(struct peer *peer, struct ring_entry *entry, uint32_t kind)
{
    if (kind != ENTRY_INLINE && kind != ENTRY_POOL)
        return false;
    struct parcel *parcel = malloc(sizeof *parcel);
    if (!parcel)
        return false;
    memcpy(&parcel->entry, entry, sizeof *entry);
    atomic_init(&parcel->entry.kind, kind);
    if (kind == ENTRY_INLINE)
        parcel->entry.first = 0;
    parcel->heap = NULL;
    parcel_append(peer, parcel);
    peer->received++;
    return true;
}

void message_progress_streams(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = &device->peers[i];
        uint32_t kind;
        struct ring_entry *entry;
        while ((entry = head(peer, &kind))) {
            if (pass_other(device, peer, entry, kind))
                continue;
            if (entry->stream || !set_aside(peer, entry, kind))
                break;
        }
    }
    packets_progress_streams(device);
}

static struct parcel **find_parcel(struct peer *peer, uint64_t key)
{
    struct parcel **link = &peer->parcels;
    while (*link && (*link)->entry.key != key)
        link = &(*link)->next;
    return link;
}

/* One look: 1 taken (with *BITS), 0 nothing that matches. */
static int receive_once(accl_device *device, struct communicator *comm, struct peer *peer,
                        struct member *member, uint32_t tag, const struct target *to,
                        uint32_t *bits)
{
    if (peer->parcels) {
        struct parcel **link = find_parcel(peer, comm->key);
        if (*link) {
            struct ring_entry *entry = &(*link)->entry;
            if (!tags_match(entry, tag))
                return 0;
            *bits = take(device, peer, entry, atomic_load(&entry->kind), (*link)->heap, to);
            member->inbound += entry->numbers;
            give_back(device, peer, entry);
            parcel_remove(peer, link);
            return 1;
        }
    }
    uint32_t kind;
    struct ring_entry *entry;
    while ((entry = head(peer, &kind))) {
        if (entry->stream) {
            if (!pass_other(device, peer, entry, kind))
                return 0;
            continue;
        }
        if (entry->key != comm->key || !tags_match(entry, tag)) {
            bool same = entry->key == comm->key;
            if (!set_aside(peer, entry, kind) || same)
                return 0;
            continue;
        }
        if (kind == ENTRY_DIRECT ? !claim_direct(peer, entry)
                                 : kind != ENTRY_INLINE && kind != ENTRY_POOL)
            return 0;
        *bits = take(device, peer, entry, kind, NULL, to);
        member->inbound += entry->numbers;
        pass_head(device, peer, entry, kind);
        return 1;
    }
    return 0;
}

static uint32_t receive_timed_out(accl_device *device, const struct communicator *comm,
                                  struct peer *peer, uint32_t from, uint32_t tag)
{
    const struct arena_header *own = device->header;
    const struct rx_slot *slots =
        (const struct rx_slot *)(const void *)(device->heap->base + own->slots);
    uint32_t held = 0;
    for (uint32_t i = 0; i < own->slot_count; i++)
        held += atomic_load(&slots[i].status) == ACCL_RX_RESERVED;
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
                     comm->members[from].inbound, device->timeout_ms, next, held, own->slot_count);
}

uint32_t message_receive(accl_device *device, struct communicator *comm, uint32_t from,
                         uint8_t *data, uint32_t type, uint32_t wire_type, uint64_t count,
                         uint32_t tag)
{
    struct member *member = &comm->members[from];
    struct peer *peer = &device->peers[member->rank];
    uint32_t bits = 0;
    int64_t tried = 0;
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
        if (!peer->arena && clock_now() - tried > 2 * CLOCK_MILLISECOND) {
            attach_try(device, peer);
            tried = clock_now();
        }
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
        uint32_t kind;
        struct ring_entry *entry;
        while ((entry = head(peer, &kind)) && set_aside(peer, entry, kind))
            ;
        while (peer->parcels) {
            give_back(device, peer, &peer->parcels->entry);
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
            struct ring_entry *entry = &peer->in->entries[n % RING_ENTRIES];
            if (atomic_load_explicit(&entry->number, memory_order_acquire) != n + 1)
                break;
            visit(argument, i, entry);
        }
    }
}
