/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/hosts/hosts.h"

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/hosts/layout.h"
#include "accl/transport/hosts/move.h"
#include "common/copy.h"

/* Operands or results of another type than the one that is moved; those of move.c come first. */
enum { BLOCK_SOURCE = 3, BLOCK_RESULT };

#define NO_MEMORY ACCL_ERROR(DMA_INTERNAL_ERROR)
/* Up to this size of all operands an allreduce gives them to all ranks, which takes fewer steps. */
#define OPERANDS_EVERYWHERE (64 << 10)

typedef uint32_t move_fn(const struct move *m);

static uint8_t *block(const struct move *m, uint32_t number, uint64_t elements)
{
    return acclib_hosts_block(m->device, m->op->comm, number,
                              elements * acclib_dtype_bytes(m->type));
}

/* m->source: PARTS of the operand, as elements of m->type. */
static uint32_t stage_source(struct move *m, uint64_t parts)
{
    const struct operation *op = m->op;
    m->source = op->source;
    if (op->source == NULL || op->source_type == m->type)
        return 0;

    m->source = block(m, BLOCK_SOURCE, parts * op->count);
    if (m->source == NULL)
        return NO_MEMORY;
    acclib_convert(m->source, m->type, op->source, op->source_type, parts * op->count, false);

    return 0;
}

/* m->result: room for PARTS of the result, as elements of m->type. */
static uint32_t stage_result(struct move *m, uint64_t parts)
{
    const struct operation *op = m->op;
    m->result = op->result;
    if (op->result != NULL && op->result_type != m->type)
        m->result = block(m, BLOCK_RESULT, parts * op->count);
    return op->result != NULL && m->result == NULL ? NO_MEMORY : 0;
}

static uint64_t parts_read(const struct operation *op)
{
    return operation_parts_read(op->facts, op->comm->n);
}

static uint64_t parts_written(const struct operation *op)
{
    return operation_parts_written(op->facts, op->comm->n);
}

/* --- what is only moved --- */

/* The result from its parts, as they travelled; a rank's part for itself has not. */
static uint32_t unstage_result(const struct move *m, uint64_t parts)
{
    const struct operation *op = m->op;
    const struct communicator *comm = op->comm;
    size_t in = acclib_dtype_bytes(op->source_type), out = acclib_dtype_bytes(op->result_type);
    bool has_own = op->source != NULL && (parts > 1 || comm->me == m->root);
    uint64_t from = parts_read(op) > 1 ? comm->me : 0, to = parts > 1 ? comm->me : 0;
    uint8_t *own = NULL;

    /* The result may overlap the source. */
    if (has_own) {
        own = block(m, BLOCK_SOURCE, op->count * in);
        if (own == NULL)
            return NO_MEMORY;
        copy_memory(own, op->source + from * op->count * in, op->count * in);
    }

    acclib_convert(op->result, op->result_type, m->result, m->type, parts * op->count, false);
    if (has_own)
        acclib_convert(op->result + to * op->count * out, op->result_type, own, op->source_type,
                       op->count, false);

    return 0;
}

static uint32_t move_parts(struct move *m, move_fn *run)
{
    const struct operation *op = m->op;
    uint32_t bits = stage_source(m, parts_read(op));
    bits = bits ? bits : stage_result(m, parts_written(op));
    if (bits)
        return bits;

    bits = run(m);
    if (!bits && m->result != op->result)
        bits = unstage_result(m, parts_written(op));
    return bits;
}

/* --- sums in any order --- */

static uint32_t reduce_in_any_order(struct move *m, move_fn *run)
{
    const struct operation *op = m->op;
    uint32_t bits = stage_source(m, parts_read(op));
    bits = bits ? bits : stage_result(m, 1);
    if (bits)
        return bits;

    bits = run(m);
    if (!bits && m->result != op->result)
        acclib_convert(op->result, op->result_type, m->result, m->type, op->count, false);
    return bits;
}

/* --- sums in the order of the original --- */

/* Operands of all members, one after the other. */
struct operands {
    const uint8_t *at[RANKS_MAX];
    uint8_t types[RANKS_MAX], result_type;
    uint8_t *result;
    struct reduction r;
};

static void list_operands(struct operands *o, const struct move *m, const uint8_t *first,
                          uint64_t count, uint8_t *result, uint32_t result_type)
{
    uint32_t n = m->op->comm->n;
    for (uint32_t i = 0; i < n; i++) {
        o->at[i] = first + i * count * acclib_dtype_bytes(m->type);
        o->types[i] = (uint8_t)m->type;
    }

    o->result = result;
    o->result_type = (uint8_t)result_type;
    o->r = (struct reduction){.function = m->op->call->function,
                              .type = m->type,
                              .n = n,
                              .operands = o->at,
                              .operand_types = o->types,
                              .n_results = 1,
                              .results = &o->result,
                              .result_types = &o->result_type};
}

/* Elements [FROM, TO) of an allreduce; the operands begin with element FROM. */
static void add_in_order(const struct move *m, struct operands *o, uint64_t from, uint64_t to)
{
    const struct operation *op = m->op;
    struct order order = acclib_order_of(op->count, op->comm->n, m->device->segment_size,
                                         acclib_dtype_bytes(op->wire));
    uint64_t run;
    for (uint64_t at = from; at < to; at += run) {
        o->r.first = acclib_order_first(&order, at, &run);
        run = run < to - at ? run : to - at;
        acclib_reduce(&o->r, at - from, run);
    }
}

/* A reduce, or a reduce_scatter: one rank adds what all have for it. */
static uint32_t reduce_in_order(struct move *m)
{
    const struct operation *op = m->op;
    const struct communicator *comm = op->comm;
    bool scatters = op->call->operation == ACCL_REDUCE_SCATTER;
    uint32_t last = scatters ? comm->me : m->root;
    bool adds = last == comm->me;
    uint32_t bits = stage_source(m, scatters ? comm->n : 1);
    m->result = adds ? block(m, BLOCK_RESULT, comm->n * op->count) : NULL;
    if (bits || (adds && m->result == NULL))
        return NO_MEMORY;

    bits = scatters ? acclib_hosts_alltoall(m) : acclib_hosts_gather(m);
    if (bits || !adds)
        return bits;

    struct operands o;
    list_operands(&o, m, m->result, op->count, op->result, op->result_type);
    o.r.first = (last + 1) % comm->n;
    acclib_reduce(&o.r, 0, op->count);

    return 0;
}

static uint32_t allreduce_small(struct move *m)
{
    const struct operation *op = m->op;
    uint32_t bits = stage_source(m, 1);
    m->result = block(m, BLOCK_RESULT, op->comm->n * op->count);
    if (bits || m->result == NULL)
        return NO_MEMORY;

    bits = acclib_hosts_allgather(m);
    if (bits)
        return bits;

    struct operands o;
    list_operands(&o, m, m->result, op->count, op->result, op->result_type);
    add_in_order(m, &o, 0, op->count);

    return 0;
}

/* Each rank adds a share of the elements, and gives it to all. */
static uint32_t allreduce_shared(struct move *m)
{
    const struct operation *op = m->op;
    uint64_t n = op->comm->n, share = (op->count + n - 1) / n;
    bool even = share * n == op->count;
    uint8_t *source = op->source, *sums = block(m, BLOCK_SOURCE, share * n);
    uint8_t *operands = block(m, BLOCK_RESULT, share * n);
    if (sums == NULL || operands == NULL)
        return NO_MEMORY;

    if (!even || op->source_type != m->type) {
        source = sums;
        acclib_convert(source, m->type, op->source, op->source_type, op->count, false);
    }
    m->count = share;
    m->source = source;
    m->result = operands;
    uint32_t bits = acclib_hosts_alltoall(m);
    if (bits)
        return bits;

    uint64_t from = op->comm->me * share, to = from + share;
    struct operands o;
    list_operands(&o, m, operands, share, sums, m->type);
    add_in_order(m, &o, from, to < op->count ? to : op->count);

    bool direct = even && op->result_type == m->type;
    m->source = sums;
    m->result = direct ? op->result : operands;
    bits = acclib_hosts_allgather(m);
    if (!bits && !direct)
        acclib_convert(op->result, op->result_type, operands, m->type, op->count, false);

    return bits;
}

static uint32_t allreduce_in_order(struct move *m)
{
    const struct operation *op = m->op;
    uint64_t bytes = op->comm->n * op->count * acclib_dtype_bytes(m->type);
    return bytes <= OPERANDS_EVERYWHERE ? allreduce_small(m) : allreduce_shared(m);
}

/* --- all --- */

/* Functions of an operation: for elements that are moved or added in any order, and for those that
 * are added in the order of the original. */
static const struct {
    move_fn *run;
    uint32_t (*run_in_order)(struct move *m);
} ways[OPERATION_KINDS] = {
    [ACCL_BARRIER] = {acclib_hosts_barrier, NULL},
    [ACCL_BCAST] = {acclib_hosts_bcast, NULL},
    [ACCL_SCATTER] = {acclib_hosts_scatter, NULL},
    [ACCL_GATHER] = {acclib_hosts_gather, NULL},
    [ACCL_REDUCE] = {acclib_hosts_reduce, reduce_in_order},
    [ACCL_ALLGATHER] = {acclib_hosts_allgather, NULL},
    [ACCL_ALLREDUCE] = {acclib_hosts_allreduce, allreduce_in_order},
    [ACCL_REDUCE_SCATTER] = {acclib_hosts_reduce_scatter, reduce_in_order},
    [ACCL_ALLTOALL] = {acclib_hosts_alltoall, NULL},
};

static bool hosts_makes(uint32_t operation)
{
    return ways[operation].run != NULL && (operation_facts(operation)->work == ACCL_WORK_MOVES ||
                                           ways[operation].run_in_order != NULL);
}

static uint32_t reduce(struct move *m)
{
    uint32_t kind = m->op->call->operation;
    return acclib_dtype_arithmetic(m->type) == ACCL_ARITHMETIC_EXACT
               ? reduce_in_any_order(m, ways[kind].run)
               : ways[kind].run_in_order(m);
}

static uint32_t hosts_collective(accl_device *device, const struct operation *op, uint64_t number)
{
    uint32_t kind = op->call->operation;
    bool computes = op->facts->work == ACCL_WORK_COMPUTES;
    struct move m = {.device = device,
                     .op = op,
                     .type = computes ? op->arithmetic : op->wire,
                     .count = op->count,
                     .root = op->facts->kind == ACCL_KIND_ROOTED ? op->call->root_src_dst : 0};

    acclib_call_begin(op, number);

    /* Without elements there may be no memory either: ranks only compare their calls. */
    if (kind == ACCL_BARRIER || op->count == 0)
        return acclib_hosts_barrier(&m);
    if (!computes)
        return move_parts(&m, ways[kind].run);

    const struct transport *reducer = acclib_transport_reducer(device, op);
    if (reducer == NULL)
        return reduce(&m);
    uint32_t bits = acclib_hosts_barrier(&m);
    return bits ? bits : reducer->reduce(device, op);
}

/* --- the transport --- */

static void give_up_inner(accl_device *device, struct communicator *inner)
{
    if (inner != NULL)
        inner->transport->give_up(device, inner);
}

/* The members of inner communicators pass it on, as their calls fail. */
static void hosts_give_up(accl_device *device, struct communicator *comm)
{
    give_up_inner(device, comm->hosts->local);
    for (uint32_t i = 0; i < comm->hosts->most; i++)
        give_up_inner(device, comm->hosts->leaders[i]);
}

const struct transport acclib_hosts = {
    .where = "between hosts",
    .join = acclib_hosts_join,
    .leave = acclib_hosts_leave,
    .makes = hosts_makes,
    .collective = hosts_collective,
    .give_up = hosts_give_up,
};
