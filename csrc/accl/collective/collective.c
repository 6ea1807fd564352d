/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over lanes.
 *
 * Every member of a communicator has a lane in its memory file: a few posts, used in turn, and the
 * number of the last call that it is done with. A member publishes what it contributes under the
 * call's number; the others look for it there. Little data is in the post itself, so nobody has to
 * wait for the readers; for more, see collective_direct.c.
 */
#include <string.h>

#include "accl/engine/lane.h"
#include "accl/transport/packets/packets.h"

uint32_t allreduce_first(const accl_device *device, const struct operation *op, uint64_t element,
                         uint64_t *run)
{
    uint64_t n = op->comm->n;
    uint64_t segment = device->segment_size / dtype_bytes(op->wire) / n * n;
    if (segment == 0)
        segment = n;
    uint64_t start = element / segment * segment;
    uint64_t length = op->count - start < segment ? op->count - start : segment;
    uint64_t bulk = (length + n - 1) / n;
    uint64_t in_bulk = (element - start) % bulk;
    uint64_t left = start + length - element;
    *run = bulk - in_bulk < left ? bulk - in_bulk : left;
    return (uint32_t)((element - start) / bulk);
}

/* ------------------------------------------------------------------ little data */

struct small {
    accl_device *device;
    const struct operation *op;
    uint64_t number;
    uint32_t signature;
};

static uint32_t small_copy_all(const struct small *s, bool by_destination)
{
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    size_t size = dtype_bytes(op->result_type);
    struct lane_seen seen;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t from = (comm->me + i) % comm->n;
        uint32_t bits = lane_wait_post(s->device, op, from, s->number, s->signature, &seen);
        if (bits)
            return bits;
        size_t skip = by_destination ? comm->me * op->count * dtype_bytes(seen.source_type) : 0;
        convert_copy(op->result + from * op->count * size, op->result_type, seen.data + skip,
                     seen.source_type, op->count, op->via16 && i > 0);
    }
    return 0;
}

static uint32_t small_reduce(const struct small *s)
{
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    uint32_t kind = op->call->operation;
    const uint8_t *operands[RANKS_MAX];
    uint8_t types[RANKS_MAX];
    for (uint32_t i = 0; i < comm->n; i++) {
        if (i == comm->me && kind == ACCL_REDUCE) {
            operands[i] = op->source;
            types[i] = (uint8_t)op->source_type;
            continue;
        }
        struct lane_seen seen;
        uint32_t bits = lane_wait_post(s->device, op, i, s->number, s->signature, &seen);
        if (bits)
            return bits;
        size_t skip = kind == ACCL_REDUCE_SCATTER ? comm->me * op->count : 0;
        operands[i] = seen.data + skip * dtype_bytes(seen.source_type);
        types[i] = seen.source_type;
    }
    uint8_t result_type = (uint8_t)op->result_type;
    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = comm->n,
                          .operands = operands,
                          .operand_types = types,
                          .first = (comm->me + 1) % comm->n,
                          .n_results = 1,
                          .results = &(uint8_t *){op->result},
                          .result_types = &result_type};
    if (kind != ACCL_ALLREDUCE) {
        reduce_range(&r, 0, op->count);
        return 0;
    }
    uint64_t run;
    for (uint64_t at = 0; at < op->count; at += run) {
        r.first = allreduce_first(s->device, op, at, &run);
        reduce_range(&r, at, run);
    }
    return 0;
}

/* Ranks with a core each look at all others. Ranks that share cores wait until the first is
 * through: it then has the lead, and what it sends next is there when the others come to run. */
static uint32_t small_barrier(const struct small *s)
{
    struct communicator *comm = s->op->comm;
    struct lane_seen seen;
    uint32_t bits = 0;
    if (comm->me > 0 && !wait_has_room(s->device)) {
        bits = lane_wait_done_by(s->device, s->op, 0, s->number);
        if (!bits)
            return lane_wait_post(s->device, s->op, 0, s->number, s->signature, &seen);
        if (bits != ACCL_ERROR(RECEIVE_TIMEOUT_ERROR))
            return bits;
        bits = 0; /* Who is missing is found below. */
    }
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = lane_wait_post(s->device, s->op, i, s->number, s->signature, &seen);
    return bits;
}

static uint32_t small_run(const struct small *s, uint64_t posted)
{
    accl_device *device = s->device;
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    uint32_t root = op->call->root_src_dst, kind = op->call->operation;
    bool is_root = comm->me == root;
    bool from_root = kind == ACCL_BCAST || kind == ACCL_SCATTER;
    bool to_root = kind == ACCL_GATHER || kind == ACCL_REDUCE;
    struct lane_post *post = lane_post_of(comm->lane, s->number);
    if (from_root ? is_root : !to_root || !is_root) {
        post->signature = s->signature;
        post->source_type = (uint8_t)op->source_type;
        if (posted)
            memcpy(post->data, op->source, posted * dtype_bytes(op->source_type));
        lane_publish(device, op, post, s->number);
    }
    uint32_t bits = 0;
    struct lane_seen seen = {.source_type = (uint8_t)op->source_type, .data = post->data};
    switch (kind) {
    case ACCL_BARRIER: bits = small_barrier(s); break;
    case ACCL_BCAST:
    case ACCL_SCATTER: {
        if (!is_root)
            bits = lane_wait_post(device, op, root, s->number, s->signature, &seen);
        else if (kind == ACCL_BCAST)
            break;
        size_t skip = kind == ACCL_SCATTER ? comm->me * op->count : 0;
        if (!bits)
            convert_copy(op->result, op->result_type,
                         seen.data + skip * dtype_bytes(seen.source_type), seen.source_type,
                         op->count, op->via16 && !is_root);
        break;
    }
    case ACCL_GATHER: {
        if (!is_root)
            break;
        size_t size = dtype_bytes(op->result_type);
        convert_copy(op->result + root * op->count * size, op->result_type, op->source,
                     op->source_type, op->count, false);
        for (uint32_t i = 1; !bits && i < comm->n; i++) {
            uint32_t from = (root + i) % comm->n;
            bits = lane_wait_post(device, op, from, s->number, s->signature, &seen);
            if (!bits)
                convert_copy(op->result + from * op->count * size, op->result_type, seen.data,
                             seen.source_type, op->count, op->via16);
        }
        break;
    }
    case ACCL_ALLGATHER: bits = small_copy_all(s, false); break;
    case ACCL_ALLTOALL: bits = small_copy_all(s, true); break;
    case ACCL_REDUCE:
        if (is_root)
            bits = small_reduce(s);
        break;
    default: bits = small_reduce(s); break;
    }
    if (!bits)
        lane_finish(device, op, s->number);
    return bits;
}

/* ------------------------------------------------------------------ any */

static uint32_t run_alone(const struct operation *op)
{
    if (op->call->operation != ACCL_BCAST && op->call->operation != ACCL_BARRIER)
        convert_copy(op->result, op->result_type, op->source, op->source_type, op->count, false);
    return 0;
}

static uint32_t run_together(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    uint32_t bits = comm->met ? 0 : lanes_meet(device, op);
    if (!bits && number > LANE_POSTS && comm->all_done < number - LANE_POSTS)
        bits = lane_wait_done(device, op, number - LANE_POSTS);
    if (bits)
        return bits;

    lane_begin_call(comm, op->call, number);
    uint32_t kind = op->call->operation;
    bool parts = kind == ACCL_SCATTER || kind == ACCL_REDUCE_SCATTER || kind == ACCL_ALLTOALL;
    uint64_t posted = parts ? op->count * comm->n : op->count;
    if (kind == ACCL_BARRIER)
        posted = 0;
    if (posted * dtype_bytes(op->type) > LANE_INLINE)
        return collective_direct(device, op, lane_post_of(comm->lane, number), number);
    struct small s = {.device = device, .op = op, .number = number, .signature = comm->signature};
    return small_run(&s, posted);
}

uint32_t collective_run(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    if (comm->n == 1)
        return run_alone(op);
    if (comm->broken)
        return call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                         "an earlier collective on communicator %u failed here (code 0x%x), so its "
                         "ranks are no longer in step: make a new communicator",
                         comm->id, comm->broken);
    uint64_t number = ++comm->calls;
    comm->signature = lane_signature(op);
    uint32_t bits = comm->by_packets ? collective_packets(device, op, number)
                                     : run_together(device, op, number);
    if (bits && comm->by_packets) {
        comm->broken = bits;
        packets_give_up(device, comm);
    } else if (bits) {
        comm->broken = bits;
        lane_show_call(comm);
        atomic_store(&comm->lane->gave_up, 1);
        lane_wake_members(device, comm);
    }
    return bits;
}
