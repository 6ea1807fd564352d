/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/collective_direct.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/shm/collective_rounds.h"
#include "accl/transport/shm/direct.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_keep.h"
#include "accl/transport/shm/lane_rounds.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/wait.h"
#include "common/copy.h"

/* Of a part that is read where it is. Below, a copy into a slot costs less than the system call. */
#define READ_LEAST (UINT64_C(16) << 10)

/* At the root: until the members are done with BYTES, or have a copy of them to read. */
static uint32_t leave_source(const struct direct *d, uint64_t bytes)
{
    const struct operation *op = d->op;
    uint64_t part = op->count * acclib_dtype_bytes(op->source_type);
    if (!lane_may_keep(d->device, part) || acclib_lane_soon_done(d->device, op, d->number, bytes))
        return acclib_lane_wait_done(d->device, op, d->number);

    uint8_t *copy = acclib_lane_keep(d->device, op->comm, d->number, bytes);
    if (copy == NULL)
        return acclib_lane_wait_done(d->device, op, d->number);

    copy_memory(copy, d->source, bytes);
    return acclib_lane_move_source(d->device, op, d->number, heap_offset(d->device->heap, copy));
}

/* At the root, of an array with BYTES for all. No member waits for the root if the data fit into rx
 * buffers: they are left for all. */
static uint32_t send_array(struct direct *d, uint64_t part, uint64_t bytes)
{
    const struct operation *op = d->op;
    uint8_t *copy = lane_may_keep(d->device, part)
                        ? acclib_lane_keep(d->device, op->comm, d->number, bytes)
                        : NULL;
    if (copy != NULL) {
        copy_memory(copy, d->source, bytes);
        d->source = copy;
    }

    acclib_direct_publish(d);
    acclib_lane_finish(d->device, op, d->number);
    return copy != NULL ? 0 : acclib_rounds_fill_all(d, LANE_ALL_READ);
}

/* Broadcast and scatter at the root. */
static uint32_t send_parts(struct direct *d)
{
    const struct operation *op = d->op;
    uint32_t root = op->comm->me;
    bool scatter = op->call->operation == ACCL_SCATTER;
    uint64_t part = op->count * acclib_dtype_bytes(op->source_type);
    uint64_t bytes = scatter ? part * op->comm->n : part;
    if (direct_has_array(d)) {
        uint32_t bits = send_array(d, part, bytes);
        if (!bits && scatter)
            acclib_direct_put_own(d, root, op->result);
        return bits;
    }

    /* Members that it waits for put their parts into the copy: each reads and writes as much. */
    d->others_copy = scatter && !lane_may_keep(d->device, part);
    acclib_direct_publish(d);
    acclib_lane_finish(d->device, op, d->number);
    if (!d->others_copy)
        acclib_operand_copy_source(op->copies, op->source, bytes);

    /* Its own part at once, unless that overwrites what others still read. */
    bool late = direct_overlaps(d->source, bytes, op->result,
                                op->count * acclib_dtype_bytes(op->result_type));
    if (scatter && !late)
        acclib_direct_put_own(d, root, op->result);
    uint32_t bits = leave_source(d, bytes);
    if (!bits && scatter && late)
        acclib_direct_put_own(d, root, op->result);
    if (!bits)
        direct_has_copied(d);

    return bits;
}

/* Broadcast and scatter. */
static uint32_t from_root(struct direct *d)
{
    const struct operation *op = d->op;
    uint32_t root = op->call->root_src_dst, me = op->comm->me;
    if (me == root)
        return send_parts(d);

    struct lane_seen seen;
    uint32_t bits = acclib_direct_wait(d, root, &seen);
    uint32_t part = op->call->operation == ACCL_SCATTER ? me : 0;
    if (!bits && seen.source == LANE_ARRAY)
        bits = acclib_rounds_fetch_all(d, root, seen.source_type, op->result);
    else if (!bits)
        bits = acclib_direct_fetch(d, root, part, op->result, true);
    if (!bits && seen.source != LANE_ARRAY)
        direct_has_copied(d);
    if (!bits)
        acclib_direct_finish(d);

    return bits;
}

/* At the root, whose result is an array: members give their parts, in whatever way. */
static uint32_t gather_array(const struct direct *d)
{
    const struct operation *op = d->op;
    const struct communicator *comm = op->comm;
    uint64_t part = op->count * acclib_dtype_bytes(op->result_type);
    uint64_t n = acclib_rounds_count(op);
    bool in_rounds = true;

    for (uint64_t round = 0; round < n && in_rounds; round++) {
        in_rounds = false;
        for (uint32_t i = 0; i < comm->n; i++) {
            struct lane_seen seen;
            uint8_t *to = op->result + i * part;
            uint32_t bits = i == comm->me ? 0 : acclib_direct_wait(d, i, &seen);
            if (!bits && i != comm->me && seen.source == LANE_ARRAY) {
                in_rounds = true;
                bits = acclib_round_fetch(d, i, seen.source_type, round, to);
            } else if (!bits && i != comm->me && round == 0) {
                bits = acclib_direct_fetch(d, i, 0, to, false);
            }
            if (bits)
                return bits;
        }
        if (in_rounds)
            acclib_rounds_taken(d->device, op, d->number, round);
    }

    acclib_direct_finish(d);
    return 0;
}

/* At the root: members write their parts, or leave them. */
static uint32_t gather_at_root(struct direct *d)
{
    const struct operation *op = d->op;
    const struct communicator *comm = op->comm;
    uint64_t part = op->count * acclib_dtype_bytes(op->result_type);
    uint32_t bits = acclib_direct_protect(d, DIRECT_NOWHERE);
    if (bits)
        return bits;

    acclib_direct_publish(d);
    if (op->result_is_array) {
        acclib_direct_put_own(d, 0, op->result + comm->me * part);
        return gather_array(d);
    }

    acclib_direct_put_own(d, 0, op->result + comm->me * part);
    acclib_lane_show_call(comm);
    for (uint32_t i = 0; !bits && i < comm->n; i++) {
        if (i == comm->me)
            continue;
        bits = acclib_lane_wait_done_by(d->device, op, i, d->number);
        bits = bits ? bits : acclib_lane_check_note(d->device, op, i, d->number);
        if (!bits && acclib_lane_has_posted(comm, i, d->number))
            bits = acclib_direct_fetch(d, i, 0, op->result + i * part, false);
    }

    if (!bits) {
        direct_has_copied(d);
        acclib_direct_finish(d);
    }
    return bits;
}

/* At another member: leaves its part if the root does not come soon. False if it waits. */
static bool leave_part(const struct direct *d)
{
    const struct operation *op = d->op;
    uint64_t bytes = op->count * acclib_dtype_bytes(op->source_type);
    uint32_t root = op->call->root_src_dst;
    if (!lane_may_keep(d->device, bytes) ||
        acclib_lane_soon_posted(d->device, op, root, d->number, bytes))
        return false;

    uint8_t *copy = acclib_lane_keep(d->device, op->comm, d->number, bytes);
    if (copy == NULL)
        return false;

    copy_memory(copy, d->source, bytes);
    struct direct left = *d;
    left.source = copy;
    acclib_direct_publish(&left);
    acclib_lane_finish(d->device, op, d->number);
    return true;
}

/* At another member, for a root whose result is an array: until that has the part. */
static uint32_t give_part(struct direct *d)
{
    const struct operation *op = d->op;
    uint32_t root = op->call->root_src_dst, bits = 0;

    acclib_direct_publish(d);
    if (direct_has_array(d))
        bits = acclib_rounds_fill_all(d, root);
    else
        bits = acclib_lane_wait_done_by(d->device, op, root, d->number);
    if (!bits)
        acclib_lane_finish(d->device, op, d->number);
    return bits;
}

/* Where the root wants the own part: in what it posted at OFFSET. NULL if that is not possible. */
static uint8_t *place_at_root(const struct direct *d, const struct lane_seen *seen, uint64_t offset)
{
    const struct operation *op = d->op;
    uint64_t skip = op->comm->me * op->count * acclib_dtype_bytes(seen->result_type);
    if (!direct_result_fits(op, seen->result_type))
        return NULL;
    return acclib_direct_memory(d, op->call->root_src_dst, offset + skip, op->count,
                                seen->result_type);
}

/* Puts the own part there, and to the root's copy if it wants one. */
static uint32_t put_at_root(const struct direct *d, const struct lane_seen *seen)
{
    const struct operation *op = d->op;
    uint8_t *to = place_at_root(d, seen, seen->result);
    uint8_t *copy = seen->result_copy ? place_at_root(d, seen, seen->result_copy) : NULL;
    if (to == NULL || (seen->result_copy && copy == NULL))
        return ACCL_ERROR(DMA_DECODE_ERROR);

    struct converted made = {.to = to, .copy = copy, .type = seen->result_type, .n = op->count};
    made.copied = op->comm->n * op->count * acclib_dtype_bytes(made.type);
    if (op->copies != NULL)
        made.source_copy = op->copies->source;
    acclib_convert_copies(&made, d->source, op->source_type, op->via16);
    direct_has_copied(d);
    return 0;
}

static uint32_t gather(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    uint32_t root = op->call->root_src_dst;

    if (comm->me == root)
        return gather_at_root(d);
    if (leave_part(d))
        return 0;

    struct lane_seen seen;
    uint32_t bits = acclib_direct_wait(d, root, &seen);
    if (bits)
        return bits;

    if (seen.result == LANE_ARRAY)
        return give_part(d);

    acclib_lane_use(comm, d->number);
    if ((bits = acclib_lane_may_use(d->device, comm, root, d->number)))
        return bits;
    bits = put_at_root(d, &seen);
    if (!bits)
        acclib_lane_finish(d->device, op, d->number);

    return bits;
}

/* Copies what member FROM gives to its place; of an array, what it gives in ROUND. *IN_ROUNDS: it
 * gives an array. */
static uint32_t fetch_part(const struct direct *d, uint32_t from, uint64_t round, bool *in_rounds)
{
    const struct operation *op = d->op;
    uint32_t me = op->comm->me;
    uint32_t part = op->call->operation == ACCL_ALLTOALL ? me : 0;
    uint8_t *to = op->result + from * op->count * acclib_dtype_bytes(op->result_type);
    if (from == me && direct_has_array(d)) {
        acclib_round_copy_own(d, part, round, to);
        return 0;
    }

    struct lane_seen seen;
    uint32_t bits = acclib_direct_wait(d, from, &seen);
    if (bits)
        return bits;
    if (seen.source == LANE_ARRAY) {
        *in_rounds = true;
        return acclib_round_fetch(d, from, seen.source_type, round, to);
    }
    return round == 0 ? acclib_direct_fetch(d, from, part, to, false) : 0;
}

/* Allgather and alltoall. */
static uint32_t everyone_fetches(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    bool by_destination = op->call->operation == ACCL_ALLTOALL;
    uint64_t own = by_destination ? DIRECT_NOWHERE : direct_part_offset(op, (uint64_t)0 - comm->me);
    uint32_t bits = acclib_direct_protect(d, own);
    if (bits)
        return bits;

    d->others_copy = by_destination;
    acclib_direct_publish(d);
    bool array = direct_has_array(d), in_rounds = array;
    uint64_t n = acclib_rounds_count(op);
    for (uint64_t round = 0; round < n && (round == 0 || in_rounds); round++) {
        if (array && (bits = acclib_round_fill(d, round, LANE_ALL_READ)))
            return bits;
        for (uint32_t i = 0; i < comm->n; i++)
            if ((bits = fetch_part(d, (comm->me + i) % comm->n, round, &in_rounds)))
                return bits;
        if (in_rounds)
            acclib_rounds_taken(d->device, op, d->number, round);
    }

    acclib_direct_finish(d);
    if (array)
        return 0;

    if (!in_rounds)
        direct_has_copied(d);
    return acclib_lane_wait_done(d->device, op, d->number);
}

const struct direct_collective acclib_direct_collectives[OPERATION_KINDS] = {
    [ACCL_BCAST] = {from_root, true},
    [ACCL_SCATTER] = {from_root, true},
    [ACCL_GATHER] = {gather, true},
    [ACCL_REDUCE] = {acclib_direct_reduce, true},
    [ACCL_ALLGATHER] = {everyone_fetches, true},
    [ACCL_ALLREDUCE] = {acclib_direct_reduce, true},
    [ACCL_REDUCE_SCATTER] = {acclib_direct_reduce, true},
    [ACCL_ALLTOALL] = {everyone_fetches, true},
};

/* True if the source, an array, is read where it is. That takes a system call for each reader, but
 * one copy instead of two, and no rounds that ranks which share cores wait for. */
static bool is_read(struct direct *d)
{
    const struct operation *op = d->op;
    if (!op->source_is_array || op->facts->work == ACCL_WORK_COMPUTES ||
        !acclib_peer_memory_is_read(d->device, op->comm))
        return false;
    if (!acclib_wait_has_room(d->device))
        return true;
    return op->count * acclib_dtype_bytes(op->source_type) >= READ_LEAST &&
           acclib_direct_choose_read(d);
}

uint32_t acclib_collective_direct(accl_device *device, const struct operation *op, uint64_t number)
{
    struct direct d = {.device = device,
                       .op = op,
                       .number = number,
                       .signature = op->comm->signature,
                       .source = op->source,
                       .post = lane_post_of(op->comm->lanes->own, number)};

    d.is_read = is_read(&d);
    op->comm->lanes->read_began = 0;

    return acclib_direct_collectives[op->call->operation].run(&d);
}
