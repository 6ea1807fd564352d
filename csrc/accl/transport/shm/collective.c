/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/collective.h"

#include "accl/arithmetic/dtype.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/shm/collective_direct.h"
#include "accl/transport/shm/collective_rounds.h"
#include "accl/transport/shm/collective_small.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/shm/lane_rounds.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/wait.h"

static uint32_t run(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    uint32_t bits = comm->met ? 0 : acclib_lane_meet(device, op);

    /* The post of this call was that of an earlier one. */
    if (!bits && number > LANE_POSTS && comm->lanes->all_done < number - LANE_POSTS)
        bits = acclib_lane_wait_done(device, op, number - LANE_POSTS);
    if (bits)
        return bits;

    acclib_call_begin(op, number);

    uint32_t kind = op->call->operation;
    uint64_t posted = op->count * operation_parts_read(op->facts, comm->n);
    if (posted * acclib_dtype_bytes(op->type) > LANE_INLINE ||
        acclib_small_collectives[kind] == NULL)
        return acclib_collective_direct(device, op, number);

    return acclib_collective_small(device, op, number, posted);
}

/* Operations with elements may have too many for a post. */
bool acclib_shm_makes(uint32_t operation)
{
    bool reads = operation_parts_read(operation_facts(operation), 1) != 0;
    return acclib_direct_collectives[operation] != NULL ||
           (acclib_small_collectives[operation] != NULL && !reads);
}

/* In rounds every rank with a result computes all of it, which pays for few ranks only. */
#define SUMMANDS_MOST 4

/* Ranks that share cores would have to be exchanged again and again for a slot to become free. */
bool acclib_shm_takes_arrays(const accl_device *device, const struct operation *op)
{
    uint32_t kind = op->call->operation;
    bool sums = kind == ACCL_REDUCE || kind == ACCL_ALLREDUCE;
    if (op->facts->work != ACCL_WORK_COMPUTES && acclib_peer_memory_is_read(device, op->comm))
        return true;
    return (!sums || op->comm->n <= SUMMANDS_MOST) &&
           (acclib_wait_has_room(device) || acclib_rounds_count(op) <= LANE_ROUNDS_AHEAD);
}

uint32_t acclib_shm_collective(accl_device *device, const struct operation *op, uint64_t number)
{
    struct lanes *lanes = op->comm->lanes;
    uint32_t bits = run(device, op, number);
    if (bits)
        acclib_lane_withdraw(device, op->comm, number);

    if (lanes->scratch)
        acclib_heap_put(device->heap, lanes->scratch);
    lanes->scratch = 0;

    return bits;
}

/* The calls before succeeded here: their posts stay. */
void acclib_shm_give_up(accl_device *device, struct communicator *comm)
{
    if (!atomic_load(&comm->lanes->own->gave_up))
        acclib_lane_withdraw(device, comm, comm->calls + 1);
}
