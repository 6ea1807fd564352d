/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/packets.h"

#include <stdlib.h>

#include "accl/base/hash.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/carrier_reduce.h"
#include "accl/transport/packets/collective.h"
#include "accl/transport/packets/direct_names.h"
#include "accl/transport/packets/inspect.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/packets/receive.h"
#include "accl/transport/packets/send.h"

static int packets_open(accl_device *device)
{
    uint32_t n = device->ranks;
    struct packets *p = calloc(1, sizeof *p);
    if (p != NULL)
        p->links = calloc(n, sizeof *p->links);
    if (p == NULL || p->links == NULL) {
        free(p);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (packets of %u ranks)", n);
    }

    acclib_packet_pool_init(&p->pool);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    p->list_key = UINT64_C(0x6c697374);
    for (uint32_t i = 0; i < n; i++) {
        const struct accl_rank *address = &device->world[i].address;
        uint64_t word = (uint64_t)address->ip << 32 | address->port;
        p->list_key = hash_mix(p->list_key, word);
        p->links[i].far = address->ip != device->world[device->rank].address.ip;
        for (uint32_t c = 0; c < CHANNELS; c++)
            p->links[i].channel[c].next_id = 1;
    }

    device->packets = p;
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        if (i == device->rank)
            continue;
        struct packet_header hello = {.kind = PACKET_HELLO,
                                      .segments = device->rx_count,
                                      .total = device->rx_bytes,
                                      .key = p->list_key,
                                      .tag = n};
        good = good && acclib_packet_put(device, acclib_packet_make(device, i, hello, 0));
    }

    return good ? ACCL_OK : acclib_fail(ACCL_NO_MEMORY, "out of memory (packets of %u ranks)", n);
}

static void packets_close(accl_device *device)
{
    struct packets *p = device->packets;
    struct list_node *node;
    if (p == NULL)
        return;

    acclib_carrier_free(device);
    for (uint32_t i = 0; i < device->ranks; i++) {
        for (uint32_t c = 0; c < CHANNELS; c++) {
            while ((node = list_pop(&p->links[i].channel[c].messages)) != NULL)
                acclib_incoming_free(incoming_of(node));
            acclib_direct_clear(&p->links[i].channel[c]);
        }
    }

    while ((node = list_pop(&p->gave_up)) != NULL)
        free(gave_up_of(node));

    acclib_packets_free(&p->out);
    acclib_packets_free(&p->carried);
    acclib_packets_free(&p->filling);
    acclib_packets_free(&p->announced);
    acclib_packet_pool_destroy(&p->pool);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    free(p->links);
    free(p);
    device->packets = NULL;
}

static void packets_forked(accl_device *device)
{
    (void)device;
}

static int packets_join(accl_device *device, struct communicator *comm)
{
    (void)device;
    (void)comm;
    return ACCL_OK;
}

static void packets_leave(accl_device *device, struct communicator *comm)
{
    if (device->packets != NULL)
        acclib_packets_forget_failures(device, comm);
}

static uint32_t packets_meet(accl_device *device, uint32_t rank)
{
    (void)device;
    (void)rank;
    return 0;
}

static uint32_t send_message(accl_device *device, struct communicator *comm, uint32_t to,
                             const struct outgoing *message)
{
    struct member *member = &comm->members[to];
    struct packet_message packet = {.channel = CHANNEL_USER,
                                    .tag = message->tag,
                                    .sequence = member->outbound,
                                    .stream = message->stream};
    uint32_t numbers = 0;
    acclib_carrier_take_over(device);
    uint32_t bits =
        acclib_packets_send(device, comm, to, &packet, message->data, message->source_type,
                            message->wire_type, message->count, &numbers);
    acclib_carrier_hand_back(device);

    if (!bits)
        member->outbound += numbers;

    return bits;
}

static uint32_t receive_message(accl_device *device, struct communicator *comm, uint32_t from,
                                const struct wanted *message)
{
    struct member *member = &comm->members[from];
    struct packet_message packet = {
        .channel = CHANNEL_USER, .tag = message->tag, .sequence = member->inbound};
    uint32_t numbers;
    acclib_carrier_take_over(device);
    uint32_t bits =
        acclib_packets_receive(device, comm, from, &packet, message->data, message->type,
                               message->wire_type, message->count, &numbers);
    acclib_carrier_hand_back(device);

    member->inbound += numbers;
    return bits;
}

static void packets_describe(accl_device *device, uint32_t rank, struct text *out)
{
    struct packets *p = device->packets;
    if (p == NULL)
        return;

    const struct packet_link *link = &p->links[rank];
    pthread_mutex_lock(&p->lock);
    if (link->lost)
        text_add(out, "rank %u is lost: %s\n", rank, link->why);
    else if (link->left)
        text_add(out, "rank %u has closed its device\n", rank);
    else
        text_add(out, "rank %u is reached by packets\n", rank);
    pthread_mutex_unlock(&p->lock);
}

const struct transport acclib_packets = {
    .where = "by packets",
    .open = packets_open,
    .close = packets_close,
    .forked = packets_forked,
    .join = packets_join,
    .leave = packets_leave,
    .meet = packets_meet,
    .send = send_message,
    .receive = receive_message,
    .makes = acclib_packets_makes,
    .collective = acclib_packets_collective,
    .reduces = acclib_carrier_reduces,
    .reduce = acclib_carrier_reduce,
    .give_up = acclib_packets_give_up,
    .progress = acclib_packets_progress,
    .carry = acclib_carrier_turn,
    .flush = acclib_carrier_flush,
    .reset = acclib_packets_reset,
    .visit = acclib_packets_visit,
    .inspect = acclib_packets_inspect,
    .inspect_members = acclib_packets_inspect_members,
    .describe = packets_describe,
};
