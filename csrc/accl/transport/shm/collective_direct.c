/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/collective_direct.h"

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_calls.h"
#include "accl/transport/shm/lane_keep.h"
#include "accl/transport/shm/lane_use.h"
#include "common/copy.h"

struct direct {
    accl_device *device;
    const struct operation *op;
    uint64_t number;
    uint32_t signature;
    const uint8_t *source;
    struct lane_post *post; /* of this rank */
};

/* No offset of the result from the source is harmless. */
#define NOWHERE UINT64_MAX

/* Memory of member INDEX, of elements of TYPE; NULL if that is not inside its file. */
static uint8_t *member_memory(const struct direct *d, uint32_t index, uint64_t offset,
                              uint64_t count, uint32_t type)
{
    const struct peer *peer = peer_of(d->device, d->op->comm->members[index].rank);
    size_t size = acclib_dtype_bytes(type);
    if (!size || offset % acclib_dtype_alignment(type) || offset > peer->arena_bytes ||
        count > (peer->arena_bytes - offset) / size) {
        acclib_call_fail(d->device, 0, "rank %u posted an address outside its memory", index);
        return NULL;
    }

    return (uint8_t *)peer->arena + offset;
}

static uint64_t offset_of(const struct direct *d, const uint8_t *memory)
{
    return memory != NULL ? (uint64_t)(memory - d->device->heap->base) : 0;
}

/* True if a result of OP can have elements of TYPE, which another rank has written. */
static bool result_fits(const struct operation *op, uint32_t type)
{
    bool mixed = op->type == ACCL_FLOAT32 && op->arithmetic == ACCL_FLOAT16;
    return type == op->type || (mixed && type == ACCL_FLOAT16);
}

static bool overlaps(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes)
{
    return a != NULL && b != NULL && a < b + b_bytes && b < a + a_bytes;
}

/* The offset of part INDEX of the source, if elements of the result are as large. */
static uint64_t part_offset(const struct operation *op, uint64_t index)
{
    size_t size = acclib_dtype_bytes(op->source_type);
    return size == acclib_dtype_bytes(op->result_type) ? index * op->count * size : NOWHERE;
}

/* Gives the others a copy to read if the result would overwrite operands that they still read. A
 * result at OWN_OFFSET from the source overwrites only operands that nobody else reads. */
static uint32_t protect_source(struct direct *d, uint64_t own_offset)
{
    const struct operation *op = d->op;
    uint64_t sources = op->count * operation_parts_read(op->facts, op->comm->n);
    uint64_t results = op->count * operation_parts_written(op->facts, op->comm->n);
    uint64_t source_bytes = sources * acclib_dtype_bytes(op->source_type);
    uint64_t result_bytes = results * acclib_dtype_bytes(op->result_type);
    if (!overlaps(op->source, source_bytes, op->result, result_bytes) ||
        (own_offset != NOWHERE &&
         (uintptr_t)op->result == (uintptr_t)op->source + (uintptr_t)own_offset))
        return 0;

    uint64_t scratch = acclib_heap_get(d->device->heap, source_bytes);
    if (!scratch)
        return acclib_call_fail(d->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes for an operation in place)",
                                (unsigned long long)source_bytes);
    uint8_t *copy = d->device->heap->base + scratch;
    copy_memory(copy, op->source, source_bytes);
    op->comm->lanes->scratch = scratch;
    d->source = copy;

    return 0;
}

static void publish(const struct direct *d)
{
    struct lane_post *post = d->post;
    post->signature = d->signature;
    post->source_type = (uint8_t)d->op->source_type;
    post->result_type = (uint8_t)d->op->result_type;
    post->source = offset_of(d, d->source);
    post->result = offset_of(d, d->op->result);
    acclib_lane_publish(d->device, d->op, post, d->number);
}

static uint32_t wait_for(const struct direct *d, uint32_t index, struct lane_seen *seen)
{
    return acclib_lane_wait_post(d->device, d->op, index, d->number, d->signature, seen);
}

/* Copies part PART of what member INDEX posted to TO. MAY_MOVE: it may put that elsewhere until
 * this rank says that it reads. */
static uint32_t fetch(const struct direct *d, uint32_t index, uint64_t part, uint8_t *to,
                      bool may_move)
{
    const struct operation *op = d->op;
    struct lane_seen seen;
    uint32_t bits = wait_for(d, index, &seen);
    if (bits)
        return bits;

    acclib_lane_use(op->comm, d->number);
    if ((bits = acclib_lane_may_use(d->device, op->comm, index, d->number)))
        return bits;
    if (may_move)
        seen.source = acclib_lane_source(op->comm, index, d->number);
    size_t size = acclib_dtype_bytes(seen.source_type);
    const uint8_t *from =
        member_memory(d, index, seen.source + part * op->count * size, op->count, seen.source_type);
    if (from == NULL)
        return ACCL_ERROR(DMA_DECODE_ERROR);

    acclib_convert(to, op->result_type, from, seen.source_type, op->count,
                   op->via16 && index != op->comm->me);
    /* A root that moves the source waits for the end of the call. */
    if (!may_move)
        acclib_lane_used(op->comm);

    return 0;
}

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
    return acclib_lane_move_source(d->device, op, d->number, offset_of(d, copy));
}

/* Broadcast and scatter. */
static uint32_t from_root(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    uint32_t root = op->call->root_src_dst;
    bool scatter = op->call->operation == ACCL_SCATTER;

    if (comm->me != root) {
        uint32_t bits = fetch(d, root, scatter ? comm->me : 0, op->result, true);
        if (!bits)
            acclib_lane_finish(d->device, op, d->number);
        return bits;
    }

    publish(d);
    acclib_lane_finish(d->device, op, d->number);
    uint64_t part = op->count * acclib_dtype_bytes(op->source_type);
    uint64_t bytes = scatter ? part * comm->n : part;

    /* Its own part at once, unless that overwrites what others still read. */
    bool late =
        overlaps(d->source, bytes, op->result, op->count * acclib_dtype_bytes(op->result_type));
    if (scatter && !late)
        acclib_convert(op->result, op->result_type, d->source + root * part, op->source_type,
                       op->count, false);
    uint32_t bits = leave_source(d, bytes);
    if (!bits && scatter && late)
        acclib_convert(op->result, op->result_type, d->source + root * part, op->source_type,
                       op->count, false);

    return bits;
}

/* At the root: members write their parts, or leave them. */
static uint32_t gather_at_root(struct direct *d)
{
    const struct operation *op = d->op;
    const struct communicator *comm = op->comm;
    uint64_t part = op->count * acclib_dtype_bytes(op->result_type);
    uint32_t bits = protect_source(d, NOWHERE);
    if (bits)
        return bits;

    publish(d);
    acclib_convert(op->result + comm->me * part, op->result_type, d->source, op->source_type,
                   op->count, false);
    acclib_lane_show_call(comm);
    for (uint32_t i = 0; !bits && i < comm->n; i++) {
        if (i == comm->me)
            continue;
        bits = acclib_lane_wait_done_by(d->device, op, i, d->number);
        bits = bits ? bits : acclib_lane_check_note(d->device, op, i, d->number);
        if (!bits && acclib_lane_has_posted(comm, i, d->number))
            bits = fetch(d, i, 0, op->result + i * part, false);
    }

    if (!bits)
        acclib_lane_finish(d->device, op, d->number);
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
    publish(&left);
    acclib_lane_finish(d->device, op, d->number);
    return true;
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
    uint32_t bits = wait_for(d, root, &seen);
    if (bits)
        return bits;

    acclib_lane_use(comm, d->number);
    if ((bits = acclib_lane_may_use(d->device, comm, root, d->number)))
        return bits;
    size_t size = acclib_dtype_bytes(seen.result_type);
    uint8_t *to = member_memory(d, root, seen.result + comm->me * op->count * size, op->count,
                                seen.result_type);
    if (to == NULL || !result_fits(op, seen.result_type))
        return ACCL_ERROR(DMA_DECODE_ERROR);

    acclib_convert(to, seen.result_type, d->source, op->source_type, op->count, op->via16);
    acclib_lane_finish(d->device, op, d->number);

    return 0;
}

/* Allgather and alltoall. */
static uint32_t everyone_fetches(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    size_t size = acclib_dtype_bytes(op->result_type);
    bool by_destination = op->call->operation == ACCL_ALLTOALL;
    uint64_t own = by_destination ? NOWHERE : part_offset(op, (uint64_t)0 - comm->me);
    uint32_t protection = protect_source(d, own);
    if (protection)
        return protection;

    publish(d);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t from = (comm->me + i) % comm->n;
        uint32_t bits = fetch(d, from, by_destination ? comm->me : 0,
                              op->result + from * op->count * size, false);
        if (bits)
            return bits;
    }

    acclib_lane_finish(d->device, op, d->number);
    return acclib_lane_wait_done(d->device, op, d->number);
}

/* The elements that member INDEX reduces. */
static uint64_t share(const struct operation *op, uint32_t index)
{
    if (index >= op->comm->n)
        return op->count;
    return op->count / op->comm->n * index / 16 * 16;
}

/* Operands and results of a reduction, of all members. */
struct parts {
    const uint8_t *operands[RANKS_MAX];
    uint8_t *results[RANKS_MAX];
    uint8_t operand_types[RANKS_MAX], result_types[RANKS_MAX];
    uint32_t n_results;
};

/* Adds those of member INDEX, once it has posted them. */
static uint32_t add_part(const struct direct *d, uint32_t index, struct parts *p)
{
    const struct operation *op = d->op;
    uint32_t kind = op->call->operation, me = op->comm->me;
    struct lane_seen seen;
    uint32_t bits = wait_for(d, index, &seen);
    if (bits)
        return bits;

    size_t size = acclib_dtype_bytes(seen.source_type);
    uint64_t skip = kind == ACCL_REDUCE_SCATTER ? me * op->count : 0;
    p->operands[index] =
        member_memory(d, index, seen.source + skip * size, op->count, seen.source_type);
    p->operand_types[index] = seen.source_type;
    if (p->operands[index] == NULL)
        return ACCL_ERROR(DMA_DECODE_ERROR);

    bool gets_result = kind == ACCL_ALLREDUCE || index == op->call->root_src_dst;
    if (kind == ACCL_REDUCE_SCATTER)
        gets_result = index == me;
    if (!gets_result)
        return 0;

    uint8_t *result = member_memory(d, index, seen.result, op->count, seen.result_type);
    if (result == NULL || !result_fits(op, seen.result_type))
        return ACCL_ERROR(DMA_DECODE_ERROR);
    p->results[p->n_results] = result;
    p->result_types[p->n_results++] = seen.result_type;
    return 0;
}

/* Computes this rank's share of a reduce or allreduce, in the order of the original. */
static void reduce_share(const struct direct *d, struct reduction *r)
{
    const struct operation *op = d->op;
    const struct communicator *comm = op->comm;
    struct order order =
        acclib_order_of(op->count, comm->n, d->device->segment_size, acclib_dtype_bytes(op->wire));
    uint64_t from = share(op, comm->me), to = share(op, comm->me + 1), run;

    for (uint64_t at = from; at < to; at += run) {
        run = to - at;
        r->first = (op->call->root_src_dst + 1) % comm->n;
        if (op->call->operation == ACCL_ALLREDUCE)
            r->first = acclib_order_first(&order, at, &run);
        /* The order of two operands makes no difference to a sum or product. */
        bool commutes = r->function == ACCL_SUM || r->function == ACCL_PROD;
        if (run > to - at || (comm->n == 2 && commutes))
            run = to - at;
        acclib_reduce(r, at, run);
    }
}

/* Reduce, allreduce and reduce_scatter. */
static uint32_t reduce_parts(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    uint32_t kind = op->call->operation;
    struct parts p;
    p.n_results = 0;

    if (kind != ACCL_REDUCE || comm->me == op->call->root_src_dst) {
        uint64_t own = part_offset(op, kind == ACCL_REDUCE_SCATTER ? comm->me : 0);
        uint32_t bits = protect_source(d, own);
        if (bits)
            return bits;
    }

    publish(d);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t bits = add_part(d, i, &p);
        if (bits)
            return bits;
    }

    acclib_lane_use(comm, d->number);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t bits = acclib_lane_may_use(d->device, comm, i, d->number);
        if (bits)
            return bits;
    }

    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = comm->n,
                          .operands = p.operands,
                          .operand_types = p.operand_types,
                          .first = (comm->me + 1) % comm->n,
                          .n_results = p.n_results,
                          .results = p.results,
                          .result_types = p.result_types};
    if (kind == ACCL_REDUCE_SCATTER)
        acclib_reduce(&r, 0, op->count);
    else
        reduce_share(d, &r);

    acclib_lane_finish(d->device, op, d->number);
    return acclib_lane_wait_done(d->device, op, d->number);
}

uint32_t (*const acclib_direct_collectives[OPERATION_KINDS])(struct direct *) = {
    [ACCL_BCAST] = from_root,
    [ACCL_SCATTER] = from_root,
    [ACCL_GATHER] = gather,
    [ACCL_REDUCE] = reduce_parts,
    [ACCL_ALLGATHER] = everyone_fetches,
    [ACCL_ALLREDUCE] = reduce_parts,
    [ACCL_REDUCE_SCATTER] = reduce_parts,
    [ACCL_ALLTOALL] = everyone_fetches,
};

uint32_t acclib_collective_direct(accl_device *device, const struct operation *op, uint64_t number)
{
    struct direct d = {.device = device,
                       .op = op,
                       .number = number,
                       .signature = op->comm->signature,
                       .source = op->source,
                       .post = lane_post_of(op->comm->lanes->own, number)};

    return acclib_direct_collectives[op->call->operation](&d);
}
