/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/collective.h"

#include <string.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/shm/collective_direct.h"
#include "accl/transport/shm/collective_rounds.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/shm/lane_rounds.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/wait.h"

/* --- contributions that fit into a post: no rank waits for the readers of its own --- */

struct small {
    accl_device *device;
    const struct operation *op;
    uint64_t number;
    uint32_t signature;
    const struct lane_post *own;
    bool is_root;
};

/* Allgather and alltoall. */
static uint32_t small_copy_all(const struct small *s)
{
    const struct operation *op = s->op;
    bool by_destination = op->call->operation == ACCL_ALLTOALL;
    struct communicator *comm = op->comm;
    size_t size = acclib_dtype_bytes(op->result_type);
    struct lane_seen seen;

    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t from = (comm->me + i) % comm->n;
        uint32_t bits = acclib_lane_wait_post(s->device, op, from, s->number, s->signature, &seen);
        if (bits)
            return bits;
        size_t skip =
            by_destination ? comm->me * op->count * acclib_dtype_bytes(seen.source_type) : 0;
        acclib_convert(op->result + from * op->count * size, op->result_type, seen.data + skip,
                       seen.source_type, op->count, op->via16 && i > 0);
    }

    return 0;
}

/* Reduce, allreduce and reduce_scatter. */
static uint32_t small_reduce(const struct small *s)
{
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    uint32_t kind = op->call->operation;
    const uint8_t *operands[RANKS_MAX];
    uint8_t types[RANKS_MAX];
    if (kind == ACCL_REDUCE && !s->is_root)
        return 0;

    for (uint32_t i = 0; i < comm->n; i++) {
        if (i == comm->me && kind == ACCL_REDUCE) {
            operands[i] = op->source;
            types[i] = (uint8_t)op->source_type;
            continue;
        }
        struct lane_seen seen;
        uint32_t bits = acclib_lane_wait_post(s->device, op, i, s->number, s->signature, &seen);
        if (bits)
            return bits;
        size_t skip = kind == ACCL_REDUCE_SCATTER ? comm->me * op->count : 0;
        operands[i] = seen.data + skip * acclib_dtype_bytes(seen.source_type);
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
        acclib_reduce(&r, 0, op->count);
        return 0;
    }

    struct order order =
        acclib_order_of(op->count, comm->n, s->device->segment_size, acclib_dtype_bytes(op->wire));
    uint64_t run;
    for (uint64_t at = 0; at < op->count; at += run) {
        r.first = acclib_order_first(&order, at, &run);
        acclib_reduce(&r, at, run);
    }

    return 0;
}

/* With a core per rank, each polls all others. Ranks that share cores wait until the first one is
 * done: it then has the lead, and what it sends next is there when the others get to run. */
static uint32_t small_barrier(const struct small *s)
{
    struct communicator *comm = s->op->comm;
    struct lane_seen seen;
    uint32_t bits = 0;

    if (comm->me > 0 && !acclib_wait_has_room(s->device)) {
        bits = acclib_lane_wait_done_by(s->device, s->op, 0, s->number);
        if (!bits)
            return acclib_lane_wait_post(s->device, s->op, 0, s->number, s->signature, &seen);
        if (bits != ACCL_ERROR(RECEIVE_TIMEOUT_ERROR))
            return bits;
        bits = 0; /* The missing rank is found below. */
    }

    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = acclib_lane_wait_post(s->device, s->op, i, s->number, s->signature, &seen);

    return bits;
}

/* Broadcast and scatter. */
static uint32_t small_from_root(const struct small *s)
{
    const struct operation *op = s->op;
    const struct communicator *comm = op->comm;
    uint32_t root = op->call->root_src_dst;
    bool scatters = op->call->operation == ACCL_SCATTER;
    struct lane_seen seen = {.source_type = (uint8_t)op->source_type, .data = s->own->data};
    if (s->is_root && !scatters)
        return 0;

    if (!s->is_root) {
        uint32_t bits = acclib_lane_wait_post(s->device, op, root, s->number, s->signature, &seen);
        if (bits)
            return bits;
    }

    size_t skip = scatters ? comm->me * op->count : 0;
    acclib_convert(op->result, op->result_type,
                   seen.data + skip * acclib_dtype_bytes(seen.source_type), seen.source_type,
                   op->count, op->via16 && !s->is_root);
    return 0;
}

static uint32_t small_gather(const struct small *s)
{
    const struct operation *op = s->op;
    const struct communicator *comm = op->comm;
    size_t part = op->count * acclib_dtype_bytes(op->result_type);
    struct lane_seen seen;
    if (!s->is_root)
        return 0;

    acclib_convert(op->result + comm->me * part, op->result_type, op->source, op->source_type,
                   op->count, false);

    for (uint32_t i = 1; i < comm->n; i++) {
        uint32_t from = (comm->me + i) % comm->n;
        uint32_t bits = acclib_lane_wait_post(s->device, op, from, s->number, s->signature, &seen);
        if (bits)
            return bits;
        acclib_convert(op->result + from * part, op->result_type, seen.data, seen.source_type,
                       op->count, op->via16);
    }
    return 0;
}

static void post_contribution(const struct small *s, struct lane_post *post, uint64_t posted)
{
    const struct operation *op = s->op;
    post->signature = s->signature;
    post->source_type = (uint8_t)op->source_type;
    if (posted)
        memcpy(post->data, op->source, posted * acclib_dtype_bytes(op->source_type));
    acclib_lane_publish(s->device, op, post, s->number);
}

/* By operation; collective_direct.h makes those that have none here, whatever their size. */
static uint32_t (*const smalls[OPERATION_KINDS])(const struct small *) = {
    [ACCL_BARRIER] = small_barrier,   [ACCL_BCAST] = small_from_root,
    [ACCL_SCATTER] = small_from_root, [ACCL_GATHER] = small_gather,
    [ACCL_REDUCE] = small_reduce,     [ACCL_ALLGATHER] = small_copy_all,
    [ACCL_ALLREDUCE] = small_reduce,  [ACCL_REDUCE_SCATTER] = small_reduce,
    [ACCL_ALLTOALL] = small_copy_all,
};

/* True if members wait for the contribution of this rank: only the root's goes to others that read
 * nothing, and the root needs no post of its own. */
static bool contributes(const struct small *s)
{
    const struct accl_operation_facts *facts = s->op->facts;
    if (facts->kind != ACCL_KIND_ROOTED)
        return true;
    return s->is_root == (facts->reads == ACCL_SHARE_NONE);
}

/* Executes call NUMBER, of which a rank posts POSTED elements. */
static uint32_t run_small(accl_device *device, const struct operation *op, uint64_t number,
                          uint64_t posted)
{
    const struct communicator *comm = op->comm;
    struct lane_post *post = lane_post_of(comm->lanes->own, number);
    struct small s = {.device = device,
                      .op = op,
                      .number = number,
                      .signature = comm->signature,
                      .own = post,
                      .is_root = comm->me == op->call->root_src_dst};

    if (contributes(&s))
        post_contribution(&s, post, posted);

    uint32_t bits = smalls[op->call->operation](&s);
    if (!bits)
        acclib_lane_finish(device, op, number);
    return bits;
}

/* --- any --- */

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
    if (posted * acclib_dtype_bytes(op->type) > LANE_INLINE || smalls[kind] == NULL)
        return acclib_collective_direct(device, op, number);

    return run_small(device, op, number, posted);
}

/* Operations with elements may have too many for a post. */
bool acclib_shm_makes(uint32_t operation)
{
    bool reads = operation_parts_read(operation_facts(operation), 1) != 0;
    return acclib_direct_collectives[operation].run != NULL ||
           (smalls[operation] != NULL && !reads);
}

/* In rounds every rank with a result computes all of it, which pays for few ranks only. */
#define SUMMANDS_MOST 4

/* Ranks that share cores would have to be exchanged again and again for a slot to become free. */
bool acclib_shm_takes_arrays(const accl_device *device, const struct operation *op)
{
    uint32_t kind = op->call->operation;
    bool sums = kind == ACCL_REDUCE || kind == ACCL_ALLREDUCE;
    if (!acclib_direct_collectives[kind].has_rounds)
        return false;
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

    if (lanes->scratch && device->lingers)
        acclib_heap_hold(device->heap, lanes->scratch);
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
