/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/collective.h"

#include <stdlib.h>

#include "accl/arithmetic/dtype.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/packets/carrier_reduce.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/carrier_short.h"
#include "accl/transport/packets/collective_copy.h"
#include "accl/transport/packets/collective_sum.h"
#include "accl/transport/packets/inspect.h"
#include "common/copy.h"

/* True if each element of the result is written after the operands at its place were sent. */
static bool works_in_place(const struct operation *op)
{
    uint32_t kind = op->call->operation;
    return op->source == op->result && op->source_type == op->result_type &&
           (kind == ACCL_ALLREDUCE || kind == ACCL_REDUCE);
}

/* Copies the source if the result would overwrite what is still to be sent. */
static uint32_t protect(struct walk *r)
{
    const struct operation *op = r->op;
    r->source = op->source;
    if (op->source == NULL || op->result == NULL || works_in_place(op))
        return 0;

    uint64_t sources = op->count * operation_parts_read(op->facts, r->n);
    uint64_t results = op->count * operation_parts_written(op->facts, r->n);
    uint64_t source = sources * acclib_dtype_bytes(op->source_type);
    uint64_t result = results * acclib_dtype_bytes(op->result_type);
    if (op->source >= op->result + result || op->result >= op->source + source)
        return 0;

    r->copy = malloc(source);
    if (r->copy == NULL)
        return acclib_call_fail(r->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes of a collective)",
                                (unsigned long long)source);
    copy_memory(r->copy, op->source, source);
    r->source = r->copy;

    return 0;
}

/* Ranks on this host are watched by their processes. */
static uint32_t watch(accl_device *device, const struct communicator *comm)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; !bits && i < comm->n; i++) {
        uint32_t rank = comm->members[i].rank;
        bits = device->world[rank].transport->meet(device, rank);
    }

    return bits;
}

static bool is_near(const accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++)
        if (device->packets->links[comm->members[i].rank].far)
            return false;
    return true;
}

static uint32_t (*const runs[OPERATION_KINDS])(const struct walk *) = {
    [ACCL_BARRIER] = acclib_packets_barrier,
    [ACCL_BCAST] = acclib_packets_bcast,
    [ACCL_SCATTER] = acclib_packets_scatter,
    [ACCL_GATHER] = acclib_packets_gather,
    [ACCL_REDUCE] = acclib_packets_reduce,
    [ACCL_ALLGATHER] = acclib_packets_allgather,
    [ACCL_ALLREDUCE] = acclib_packets_allreduce,
    [ACCL_REDUCE_SCATTER] = acclib_packets_reduce_scatter,
    [ACCL_ALLTOALL] = acclib_packets_alltoall,
};

bool acclib_packets_makes(uint32_t operation)
{
    return runs[operation] != NULL;
}

/* By what carries the messages, which needs neither the walk's copy nor its order. */
static uint32_t reduce(const struct walk *w)
{
    uint32_t bits = acclib_packets_barrier(w);
    return bits ? bits : acclib_carrier_reduce(w->device, w->op);
}

/* A barrier of two is a message each way, which most often is there at once. */
static enum meeting meet(accl_device *device, const struct operation *op,
                         const struct packet_message *message)
{
    const struct communicator *comm = op->comm;
    uint32_t rank = comm->members[1 - comm->me].rank;
    struct awaited a = {.message = message,
                        .key = comm->key,
                        .rank = rank,
                        .type = op->wire,
                        .wire_type = op->wire};
    return acclib_carrier_meet(device, rank, &a);
}

uint32_t acclib_packets_collective(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    acclib_call_begin(op, number);
    uint32_t bits = acclib_packets_gave_up(device, comm);
    if (!bits && !comm->met)
        bits = watch(device, comm);
    comm->met = !bits;

    struct packet_message message = {.channel = CHANNEL_COLLECTIVE,
                                     .tag = (uint32_t)number,
                                     .sequence = comm->signature,
                                     .call = call_note(comm, number)};
    enum meeting meeting = MEETING_NONE;
    if (!bits && comm->n == 2 && op->call->operation == ACCL_BARRIER)
        meeting = meet(device, op, &message);
    if (meeting == MEETING_DONE)
        return 0;

    struct walk w = {.device = device,
                     .op = op,
                     .message = message,
                     .n = comm->n,
                     .me = comm->me,
                     .root = op->call->root_src_dst,
                     .is_near = is_near(device, comm),
                     .wire = op->facts->work == ACCL_WORK_COMPUTES ? op->arithmetic : op->wire};
    if (!bits && acclib_carrier_reduces(device, op))
        return reduce(&w);
    bits = bits ? bits : protect(&w);
    /* Calls carry packets themselves: the carrier's thread would hold its lock while it waits for a
     * core. */
    acclib_carrier_take_over(device);
    if (meeting == MEETING_SENT)
        bits = acclib_piece_get_to(&w, 1 - w.me, NULL, w.wire, 0);
    else
        bits = bits ? bits : runs[op->call->operation](&w);
    acclib_carrier_hand_back(device);

    free(w.copy);
    return bits;
}
