/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/direct.h"
#include "accl/transport/packets/inspect.h"
#include "accl/transport/packets/queue.h"

/* Of data in a packet: whole elements of any type. */
#define PART_BYTES (UINT64_C(64) << 10)
/* Data of a message that may leave at once. */
#define SHORT_MOST (INBOX_BYTES - sizeof(struct packet_header))
/* Bytes that may wait to be carried before senders wait. */
#define OUT_MOST (UINT64_C(8) << 20)

static bool is_greeted(struct packet_request *w)
{
    return w->link->greeted;
}

static bool has_room(struct packet_request *w)
{
    uint64_t limit = w->message->channel == CHANNEL_USER ? w->link->slot_count : COLLECTIVE_WINDOW;
    bool room = w->state->sent - w->state->acknowledged + w->segments <= limit;
    if (!room && !w->state->probed)
        w->state->probed =
            acclib_packet_put_plain(w->device, w->rank, PACKET_PROBE, w->message->channel, 0, 0);
    return room;
}

/* One RTS to a rank is open at a time. */
static bool may_send_rts(struct packet_request *w)
{
    return !w->state->requested && has_room(w);
}

static bool is_answered(struct packet_request *w)
{
    return w->state->cleared || w->state->dropped;
}

static bool may_put(struct packet_request *w)
{
    return atomic_load(&w->device->packets->out_bytes) < OUT_MOST;
}

static uint32_t no_memory(accl_device *device)
{
    return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (packets)");
}

struct payload {
    const uint8_t *data;
    uint32_t source_type, wire_type;
    uint64_t count;
};

/* Puts HEADER with elements [AT, AT+N). Without the lock. */
static bool put_part(const struct packet_request *w, struct packet_header header,
                     const struct payload *from, uint64_t at, uint64_t n)
{
    size_t wire = acclib_dtype_bytes(from->wire_type);
    struct packet *packet = acclib_packet_make(w->device, w->rank, header, n * wire);
    if (packet == NULL)
        return false;

    acclib_convert(packet->data + sizeof header, from->wire_type,
                   from->data + at * acclib_dtype_bytes(from->source_type), from->source_type, n,
                   false);
    request_lock(w);
    acclib_packet_put(w->device, packet);
    request_unlock(w);

    return true;
}

/* The rest of a message, from element AT on. */
static uint32_t put_rest(struct packet_request *w, struct packet_header header,
                         const struct payload *from, uint64_t at)
{
    size_t wire = acclib_dtype_bytes(from->wire_type);
    while (at < from->count) {
        uint32_t bits = acclib_packet_request_wait(w, may_put);
        if (bits)
            return bits;
        request_unlock(w);
        uint64_t n = from->count - at < PART_BYTES / wire ? from->count - at : PART_BYTES / wire;
        header.kind = PACKET_DATA;
        header.offset = at * wire;
        if (!put_part(w, header, from, at, n))
            return no_memory(w->device);
        at += n;
    }

    return 0;
}

static uint32_t put_refused(struct packet_request *w, const struct packet_header *header)
{
    request_lock(w);
    w->state->requested = 0;
    request_unlock(w);
    return acclib_transport_put_lost(w->device, w->comm, w->index, header->stream - 1,
                                     header->total);
}

static uint32_t send_rendezvous(struct packet_request *w, struct packet_header header,
                                const struct payload *from)
{
    header.kind = PACKET_RTS;
    request_lock(w);
    w->state->requested = header.id;
    w->state->cleared = w->state->dropped = w->state->refused = false;
    bool good = acclib_packet_put(w->device, acclib_packet_make(w->device, w->rank, header, 0));
    request_unlock(w);
    uint32_t bits = good ? acclib_packet_request_wait(w, is_answered) : no_memory(w->device);
    if (!bits) {
        bool dropped = w->state->dropped, refused = w->state->refused;
        request_unlock(w);
        if (refused)
            return put_refused(w, &header);
        bits = dropped ? 0 : put_rest(w, header, from, 0);
    }

    request_lock(w);
    w->state->requested = 0;
    if (bits)
        acclib_packet_put_plain(w->device, w->rank, PACKET_CANCEL, header.channel, header.id,
                                header.key);
    request_unlock(w);

    return bits;
}

static uint32_t send_eager(struct packet_request *w, struct packet_header header,
                           const struct payload *from)
{
    size_t wire = acclib_dtype_bytes(from->wire_type);
    uint64_t most = PART_BYTES / wire;
    uint64_t n = from->count < most ? from->count : most;

    header.kind = PACKET_EAGER;
    if (!put_part(w, header, from, 0, n))
        return no_memory(w->device);

    /* The receiver has room, so all of it goes out; it cannot be withdrawn. */
    for (uint64_t at = n; at < from->count; at += n) {
        n = from->count - at < most ? from->count - at : most;
        header.kind = PACKET_DATA;
        header.offset = at * wire;
        if (put_part(w, header, from, at, n))
            continue;
        request_lock(w);
        w->link->lost = true;
        snprintf(w->link->why, sizeof w->link->why, "a message to it could not be completed");
        request_unlock(w);
        return no_memory(w->device);
    }

    return 0;
}

/* Sends a message that fits one short packet, if that may leave at once; with the lock, which it
 * releases then. */
static bool send_at_once(const struct packet_request *w, const struct packet_header *header,
                         const struct payload *from)
{
    struct packet *packet = acclib_carrier_claim(w->device);
    if (packet == NULL)
        return false;

    packet->rank = w->rank;
    packet->bytes = sizeof *header + header->total;
    *packet_header_of(packet) = *header;
    acclib_packet_seal(w->device, packet);
    request_unlock(w);
    acclib_convert(packet->data + sizeof *header, from->wire_type, from->data, from->source_type,
                   from->count, false);
    acclib_carrier_send_claimed(w->device);
    return true;
}

static uint32_t send_failed(accl_device *device, const struct packet_request *w, uint32_t bits,
                            uint64_t bytes)
{
    if (bits != w->timeout_bits || device->text[0])
        return bits;

    return acclib_call_fail(
        device, bits,
        "send of %llu bytes to rank %u of communicator %u, tag %u: no rx buffer became "
        "free, or it was not received, in %u ms (the receiver has %u rx buffers of "
        "%llu bytes, and is reached by packets)",
        (unsigned long long)bytes, w->index, w->comm->id, w->message->tag, device->timeout_ms,
        w->link->slot_count, (unsigned long long)w->link->slot_bytes);
}

static uint32_t not_there(accl_device *device, const struct packet_request *w, uint32_t bits)
{
    if (bits != w->timeout_bits || device->text[0])
        return bits;

    return acclib_call_fail(device, bits | ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
                            "rank %u, which is reached by packets, did not start in %u ms: do "
                            "both sides carry packets?",
                            w->rank, device->timeout_ms);
}

/* Waits until the other side has started: 0, with the lock held. Error bits without it. */
static uint32_t begin(struct packet_request *w, accl_device *device, struct communicator *comm,
                      uint32_t to, const struct packet_message *message)
{
    acclib_packet_request_make(w, device, comm, to, message, ACCL_SEND,
                               ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED));
    uint32_t bits =
        message->channel == CHANNEL_COLLECTIVE ? acclib_packets_gave_up(device, comm) : 0;
    if (bits)
        return bits;

    request_lock(w);
    bool is_there = w->link->greeted && !w->link->lost && !w->link->left;
    if (!is_there) {
        request_unlock(w);
        bits = acclib_packets_inspect_rank(device, w->rank, true);
        if (bits)
            return bits;
        if ((bits = acclib_packet_request_wait(w, is_greeted)))
            return not_there(device, w, bits);
    }

    w->timeout_bits = message->channel == CHANNEL_USER ? ACCL_ERROR(DEQUEUE_BUFFER_TIMEOUT_ERROR)
                                                       : ACCL_ERROR(RECEIVE_TIMEOUT_ERROR);
    return 0;
}

uint32_t acclib_packets_direct_begin(struct packet_request *w, accl_device *device,
                                     struct communicator *comm, uint32_t to,
                                     const struct packet_message *message, const uint8_t *data,
                                     uint32_t wire_type, uint64_t bytes, bool patient, bool *sent)
{
    uint32_t bits = begin(w, device, comm, to, message);
    *sent = false;
    if (bits)
        return bits;

    request_unlock(w);
    bits = acclib_direct_begin(w, data, wire_type, bytes, patient, 0, sent);
    return send_failed(device, w, bits, bytes);
}

uint32_t acclib_packets_direct_end(struct packet_request *w, uint64_t bytes)
{
    return send_failed(w->device, w, acclib_direct_end(w), bytes);
}

uint32_t acclib_packets_send(accl_device *device, struct communicator *comm, uint32_t to,
                             const struct packet_message *message, const uint8_t *data,
                             uint32_t source_type, uint32_t wire_type, uint64_t count,
                             uint32_t *numbers)
{
    struct packet_request w;
    uint32_t bits = begin(&w, device, comm, to, message);
    if (bits)
        return bits;

    uint64_t segment =
        device->segment_size < w.link->slot_bytes ? device->segment_size : w.link->slot_bytes;
    uint64_t slots = w.link->slot_count;
    segment = acclib_dtype_segment(wire_type, segment);
    uint64_t bytes = count * acclib_dtype_bytes(wire_type);
    uint64_t segments = bytes ? (bytes + segment - 1) / segment : 1;
    bool user = message->channel == CHANNEL_USER;
    bool rendezvous = user ? segments > slots : bytes > COLLECTIVE_EAGER;
    *numbers = message->stream ? 0 : (uint32_t)segments;
    if (user && source_type == wire_type && !message->stream &&
        acclib_direct_suits(device, w.rank, data, bytes)) {
        bool sent;
        request_unlock(&w);
        bits = acclib_direct_begin(&w, data, wire_type, bytes, true, *numbers, &sent);
        if (!bits && sent)
            bits = acclib_direct_end(&w);
        if (bits || sent)
            return send_failed(device, &w, bits, bytes);
        request_lock(&w);
    }

    bool (*ready)(struct packet_request *w) = rendezvous ? may_send_rts : has_room;
    w.segments = rendezvous || !user ? 1 : segments;
    if (!ready(&w)) {
        request_unlock(&w);
        if ((bits = acclib_packet_request_wait(&w, ready)))
            return send_failed(device, &w, bits, bytes);
    }

    struct packet_header header;
    acclib_message_begin(&header, w.state, comm->key, message, wire_type, bytes,
                         (uint32_t)w.segments, *numbers);
    if (rendezvous)
        w.state->requested = header.id;
    struct payload from = {
        .data = data, .source_type = source_type, .wire_type = wire_type, .count = count};
    if (bytes <= SHORT_MOST && !rendezvous && send_at_once(&w, &header, &from))
        return 0;

    request_unlock(&w);
    bits = rendezvous ? send_rendezvous(&w, header, &from) : send_eager(&w, header, &from);

    return send_failed(device, &w, bits, bytes);
}
