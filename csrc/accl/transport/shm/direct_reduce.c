/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of much data. */
#include "accl/transport/shm/direct.h"

#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/shm/collective_rounds.h"
#include "accl/transport/shm/lane_rounds.h"
#include "accl/transport/shm/lane_use.h"
#include "common/copy.h"

/* The elements that member INDEX reduces. */
static uint64_t share(const struct operation *op, uint32_t index)
{
    if (index >= op->comm->n)
        return op->count;
    return op->count / op->comm->n * index / 16 * 16;
}

/* Elements that are reduced before their copies are made. */
#define PIECE (UINT64_C(8) << 10)

/* Operands and results of a reduction, of all members. */
struct parts {
    const uint8_t *operands[RANKS_MAX];
    uint8_t *results[RANKS_MAX];
    uint8_t operand_types[RANKS_MAX], result_types[RANKS_MAX];
    uint32_t n_results;
    /* Of operands and results: copied while they are in a near cache. */
    struct pair {
        const uint8_t *from;
        uint8_t *to;
        size_t size;
    } pairs[2 * RANKS_MAX];
    uint32_t n_pairs;
    bool in_rounds; /* a member has an array where others would read or write */
};

/* True if member INDEX gets what this rank computes. */
static bool gets_result(const struct operation *op, uint32_t index)
{
    uint32_t kind = op->call->operation;
    if (kind == ACCL_REDUCE_SCATTER)
        return index == op->comm->me;
    return kind == ACCL_ALLREDUCE || index == op->call->root_src_dst;
}

/* FROM, of elements of TYPE, has a copy in the file of member INDEX if OFFSET is not 0. */
static uint32_t add_pair(const struct direct *d, struct parts *p, uint32_t index,
                         const uint8_t *from, uint64_t offset, uint32_t type)
{
    if (!offset)
        return 0;

    uint8_t *to = acclib_direct_memory(d, index, offset, d->op->count, type);
    if (to == NULL)
        return ACCL_ERROR(DMA_DECODE_ERROR);
    p->pairs[p->n_pairs++] = (struct pair){from, to, acclib_dtype_bytes(type)};
    return 0;
}

/* Adds those of member INDEX, once it has posted them. */
static uint32_t add_part(const struct direct *d, uint32_t index, struct parts *p)
{
    const struct operation *op = d->op;
    uint32_t kind = op->call->operation, me = op->comm->me;
    struct lane_seen seen;
    uint32_t bits = acclib_direct_wait(d, index, &seen);
    if (bits)
        return bits;

    bool gets = gets_result(op, index);
    p->operand_types[index] = seen.source_type;
    p->in_rounds |= seen.source == LANE_ARRAY ||
                    (gets && kind != ACCL_REDUCE_SCATTER && seen.result == LANE_ARRAY);
    if (p->in_rounds)
        return 0;

    size_t size = acclib_dtype_bytes(seen.source_type);
    uint64_t skip = kind == ACCL_REDUCE_SCATTER ? me * op->count : 0;
    p->operands[index] =
        acclib_direct_memory(d, index, seen.source + skip * size, op->count, seen.source_type);
    if (p->operands[index] == NULL)
        return ACCL_ERROR(DMA_DECODE_ERROR);
    uint64_t copy = seen.source_copy ? seen.source_copy + skip * size : 0;
    bits = add_pair(d, p, index, p->operands[index], copy, seen.source_type);
    if (bits || !gets)
        return bits;

    bool own_array = index == me && op->result_is_array;
    uint8_t *result =
        own_array ? op->result
                  : acclib_direct_memory(d, index, seen.result, op->count, seen.result_type);
    if (result == NULL || !direct_result_fits(op, seen.result_type))
        return ACCL_ERROR(DMA_DECODE_ERROR);
    p->results[p->n_results] = result;
    p->result_types[p->n_results++] = seen.result_type;
    return add_pair(d, p, index, result, seen.result_copy, seen.result_type);
}

/* Computes the elements [FROM, TO) of a reduction, in the order of the original. Operands and
 * results begin with element FROM. */
static void reduce_range(const struct direct *d, struct reduction *r, uint64_t from, uint64_t to)
{
    const struct operation *op = d->op;
    const struct communicator *comm = op->comm;
    if (op->call->operation == ACCL_REDUCE_SCATTER) {
        r->first = (comm->me + 1) % comm->n;
        acclib_reduce(r, 0, to - from);
        return;
    }

    struct order order =
        acclib_order_of(op->count, comm->n, d->device->segment_size, acclib_dtype_bytes(op->wire));
    uint64_t run;
    for (uint64_t at = from; at < to; at += run) {
        run = to - at;
        r->first = (op->call->root_src_dst + 1) % comm->n;
        if (op->call->operation == ACCL_ALLREDUCE)
            r->first = acclib_order_first(&order, at, &run);
        /* The order of two operands makes no difference to a sum or product. */
        bool commutes = r->function == ACCL_SUM || r->function == ACCL_PROD;
        if (run > to - at || (comm->n == 2 && commutes))
            run = to - at;
        acclib_reduce(r, at - from, run);
    }
}

/* Goes on by COUNT elements. */
static void go_on(struct parts *p, uint32_t ranks, uint64_t count)
{
    for (uint32_t i = 0; i < ranks; i++)
        p->operands[i] += count * acclib_dtype_bytes(p->operand_types[i]);
    for (uint32_t i = 0; i < p->n_results; i++)
        p->results[i] += count * acclib_dtype_bytes(p->result_types[i]);
    for (uint32_t i = 0; i < p->n_pairs; i++) {
        p->pairs[i].from += count * p->pairs[i].size;
        p->pairs[i].to += count * p->pairs[i].size;
    }
}

/* The elements that this rank computes of buffers: its share. */
static void reduce_share(const struct direct *d, struct parts *p, struct reduction *r)
{
    const struct operation *op = d->op;
    uint32_t n = op->comm->n;
    uint64_t from = 0, to = op->count;
    if (op->call->operation != ACCL_REDUCE_SCATTER) {
        from = share(op, op->comm->me);
        to = share(op, op->comm->me + 1);
    }

    go_on(p, n, from);
    uint64_t step = p->n_pairs ? PIECE : to - from;
    for (uint64_t at = from, count; at < to; at += count) {
        count = to - at < step ? to - at : step;
        reduce_range(d, r, at, at + count);
        for (uint32_t i = 0; i < p->n_pairs; i++) {
            const struct pair *pair = &p->pairs[i];
            copy_piece(pair->to, pair->from, count * pair->size, op->count * n * pair->size);
        }
        go_on(p, n, count);
    }
}

/* The same of arrays: whoever has a result computes all of it. */
static uint32_t reduce_rounds(const struct direct *d, struct parts *p, struct reduction *r)
{
    const struct operation *op = d->op;
    uint32_t kind = op->call->operation, me = op->comm->me;
    uint32_t reader = kind == ACCL_REDUCE ? op->call->root_src_dst : LANE_ALL_READ;
    bool computes = gets_result(op, me);
    p->result_types[0] = (uint8_t)op->result_type;
    r->n_results = 1;

    uint64_t n = acclib_rounds_count(op);
    for (uint64_t round = 0; round < n; round++) {
        uint32_t bits = reader != me ? acclib_round_fill(d, round, reader) : 0;
        if (!bits && computes)
            bits = acclib_round_operands(d, kind == ACCL_REDUCE_SCATTER ? me : 0, round,
                                         p->operand_types, p->operands);
        if (bits)
            return bits;
        if (!computes)
            continue;

        uint64_t at, count = acclib_round_range(op, round, &at);
        p->results[0] = op->result + at * acclib_dtype_bytes(op->result_type);
        reduce_range(d, r, at, at + count);
        acclib_rounds_taken(d->device, op, d->number, round);
    }

    acclib_lane_finish(d->device, op, d->number);
    return 0;
}

uint32_t acclib_direct_reduce(struct direct *d)
{
    const struct operation *op = d->op;
    struct communicator *comm = op->comm;
    uint32_t kind = op->call->operation;
    struct parts p;
    p.n_results = 0;
    p.in_rounds = false;
    p.n_pairs = 0;

    if (kind != ACCL_REDUCE || comm->me == op->call->root_src_dst) {
        uint64_t own = direct_part_offset(op, kind == ACCL_REDUCE_SCATTER ? comm->me : 0);
        uint32_t bits = acclib_direct_protect(d, own);
        if (bits)
            return bits;
    }

    d->others_copy = true;
    acclib_direct_publish(d);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t bits = add_part(d, i, &p);
        if (bits)
            return bits;
    }

    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = comm->n,
                          .operands = p.operands,
                          .operand_types = p.operand_types,
                          .n_results = p.n_results,
                          .results = p.results,
                          .result_types = p.result_types};
    if (p.in_rounds)
        return reduce_rounds(d, &p, &r);

    acclib_lane_use(comm, d->number);
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t bits = acclib_lane_may_use(d->device, comm, i, d->number);
        if (bits)
            return bits;
    }

    reduce_share(d, &p, &r);
    acclib_lane_finish(d->device, op, d->number);
    uint32_t bits = acclib_lane_wait_done(d->device, op, d->number);
    if (!bits)
        direct_has_copied(d);
    return bits;
}
