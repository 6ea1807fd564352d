/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/collective.h"

#include <stdlib.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/packets/inspect.h"
#include "accl/transport/packets/receive.h"
#include "accl/transport/packets/send.h"
#include "common/copy.h"

#define PIECE 65536 /* elements that a reduction forwards at a time */

struct ring_walk {
    accl_device *device;
    const struct operation *op;
    struct packet_message message;
    uint32_t n, me, root;
    uint8_t *scratch[3];
    const uint8_t *source; /* of the operation, or a copy of it */
};

static uint32_t put(const struct ring_walk *r, uint32_t to, const void *data, uint32_t type,
                    uint32_t wire, uint64_t count)
{
    uint32_t numbers;
    return acclib_packets_send(r->device, r->op->comm, to % r->n, &r->message, data, type, wire,
                               count, &numbers);
}

static uint32_t get(const struct ring_walk *r, uint32_t from, void *data, uint32_t type,
                    uint32_t wire, uint64_t count)
{
    uint32_t numbers;
    return acclib_packets_receive(r->device, r->op->comm, from % r->n, &r->message, data, type,
                                  wire, count, &numbers);
}

/* To one rank and from another, in the order that cannot get stuck. */
static uint32_t swap(const struct ring_walk *r, uint32_t to, const void *out, uint32_t out_type,
                     uint32_t from, void *in, uint32_t in_type, uint32_t wire, uint64_t count_out,
                     uint64_t count_in)
{
    bool first = to % r->n > r->me;
    uint32_t bits = first ? put(r, to, out, out_type, wire, count_out) : 0;
    bits = bits ? bits : get(r, from, in, in_type, wire, count_in);
    return bits || first ? bits : put(r, to, out, out_type, wire, count_out);
}

static uint8_t *scratch(struct ring_walk *r, int i, uint64_t bytes)
{
    r->scratch[i] = malloc(bytes ? bytes : 1);
    if (r->scratch[i] == NULL)
        acclib_call_fail(r->device, 0, "out of memory (%llu bytes of a collective)",
                         (unsigned long long)bytes);
    return r->scratch[i];
}

/* *INTO = A combined with B, which come in that order. */
static void combine(const struct operation *op, const void *a, uint32_t a_type, const void *b,
                    uint32_t b_type, void *into, uint32_t into_type, uint64_t count)
{
    const uint8_t *operands[] = {a, b};
    const uint8_t types[] = {(uint8_t)a_type, (uint8_t)b_type};
    uint8_t result_type = (uint8_t)into_type;
    uint8_t *result = into;
    struct reduction reduction = {.function = op->call->function,
                                  .type = op->arithmetic,
                                  .n = 2,
                                  .operands = operands,
                                  .operand_types = types,
                                  .n_results = 1,
                                  .results = &result,
                                  .result_types = &result_type};

    acclib_reduce(&reduction, 0, count);
}

static const uint8_t *source_at(const struct ring_walk *r, uint64_t element)
{
    return r->source + element * acclib_dtype_bytes(r->op->source_type);
}

static uint8_t *result_at(const struct ring_walk *r, uint64_t element)
{
    return r->op->result + element * acclib_dtype_bytes(r->op->result_type);
}

static uint32_t barrier(const struct ring_walk *r)
{
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < r->n; k *= 2)
        bits =
            swap(r, r->me + k, NULL, ACCL_INT8, r->me + r->n - k, NULL, ACCL_INT8, ACCL_INT8, 0, 0);
    return bits;
}

/* A binomial tree; on the way the data has the wire's type. */
static uint32_t broadcast(struct ring_walk *r)
{
    const struct operation *op = r->op;
    uint32_t place = (r->me + r->n - r->root) % r->n, step = 1;
    uint8_t *data = place ? op->result : op->source;
    uint32_t type = op->source_type;

    if (place && type != op->wire) {
        type = op->wire;
        if ((data = scratch(r, 0, op->count * acclib_dtype_bytes(type))) == NULL)
            return ACCL_ERROR(DMA_INTERNAL_ERROR);
    }

    while (step < r->n && !(place & step))
        step *= 2;
    uint32_t bits = 0;
    if (place) {
        bits = get(r, r->root + place - step, data, type, op->wire, op->count);
        if (!bits && data != op->result)
            acclib_convert(op->result, op->result_type, data, type, op->count, false);
    }

    for (step /= 2; !bits && step; step /= 2)
        if (place + step < r->n)
            bits = put(r, r->root + place + step, data, type, op->wire, op->count);

    return bits;
}

static uint32_t scatter(const struct ring_walk *r)
{
    const struct operation *op = r->op;
    if (r->me != r->root)
        return get(r, r->root, op->result, op->result_type, op->wire, op->count);

    uint32_t bits = 0;
    for (uint32_t i = 1; !bits && i < r->n; i++) {
        uint32_t to = (r->root + i) % r->n;
        bits = put(r, to, source_at(r, to * op->count), op->source_type, op->wire, op->count);
    }

    if (!bits)
        acclib_convert(op->result, op->result_type, source_at(r, r->root * op->count),
                       op->source_type, op->count, false);

    return bits;
}

static uint32_t gather(const struct ring_walk *r)
{
    const struct operation *op = r->op;
    if (r->me != r->root)
        return put(r, r->root, r->source, op->source_type, op->wire, op->count);

    uint32_t bits = 0;
    acclib_convert(result_at(r, r->root * op->count), op->result_type, r->source, op->source_type,
                   op->count, false);
    for (uint32_t i = 1; !bits && i < r->n; i++) {
        uint32_t from = (r->root + i) % r->n;
        bits = get(r, from, result_at(r, from * op->count), op->result_type, op->wire, op->count);
    }

    return bits;
}

static uint32_t to_everyone(const struct ring_walk *r, bool by_destination)
{
    const struct operation *op = r->op;
    uint32_t bits = 0;
    acclib_convert(result_at(r, r->me * op->count), op->result_type,
                   source_at(r, by_destination ? r->me * op->count : 0), op->source_type, op->count,
                   false);
    for (uint32_t k = 1; !bits && k < r->n; k++) {
        uint32_t to = (r->me + k) % r->n, from = (r->me + r->n - k) % r->n;
        bits =
            swap(r, to, source_at(r, by_destination ? to * op->count : 0), op->source_type, from,
                 result_at(r, from * op->count), op->result_type, op->wire, op->count, op->count);
    }

    return bits;
}

/* From the rank after the root around the ring to the root, piece by piece. */
static uint32_t reduce(struct ring_walk *r)
{
    const struct operation *op = r->op;
    uint32_t type = op->arithmetic, bits = 0;
    uint64_t most = op->count < PIECE ? op->count : PIECE;
    uint8_t *partial = scratch(r, 0, most * acclib_dtype_bytes(type));

    if (partial == NULL)
        return ACCL_ERROR(DMA_INTERNAL_ERROR);

    bool first = r->me == (r->root + 1) % r->n;
    uint64_t at = 0;
    do {
        uint64_t n = op->count - at < most ? op->count - at : most;
        if (!first)
            bits = get(r, r->me + r->n - 1, partial, type, type, n);
        if (!bits && r->me == r->root)
            combine(op, partial, type, source_at(r, at), op->source_type, result_at(r, at),
                    op->result_type, n);
        else if (!bits && !first)
            combine(op, partial, type, source_at(r, at), op->source_type, partial, type, n);
        else if (!bits)
            acclib_convert(partial, type, source_at(r, at), op->source_type, n, false);
        if (!bits && r->me != r->root)
            bits = put(r, r->me + 1, partial, type, type, n);
        at += n;
    } while (!bits && at < op->count);

    return bits;
}

/* Chunks of an allreduce or reduce_scatter: what one rank has the last word on. */

/* Calls VISIT for each run of chunk CHUNK, in order. */
typedef void (*run_visit)(void *argument, uint64_t element, uint64_t in_chunk, uint64_t length);

static uint64_t each_run(const struct ring_walk *r, uint32_t chunk, run_visit visit, void *argument)
{
    const struct operation *op = r->op;
    if (op->call->operation == ACCL_REDUCE_SCATTER) {
        if (visit != NULL)
            visit(argument, chunk * op->count, 0, op->count);
        return op->count;
    }

    struct order order =
        acclib_order_of(op->count, r->n, r->device->segment_size, acclib_dtype_bytes(op->wire));
    uint64_t run, in_chunk = 0;
    for (uint64_t at = 0; at < op->count; at += run) {
        uint32_t first = acclib_order_first(&order, at, &run);
        if (first != chunk)
            continue;
        if (visit != NULL)
            visit(argument, at, in_chunk, run);
        in_chunk += run;
    }

    return in_chunk;
}

struct gathering {
    const struct ring_walk *r;
    uint8_t *partial;
};

static void load_run(void *argument, uint64_t element, uint64_t in_chunk, uint64_t length)
{
    const struct gathering *g = argument;
    const struct operation *op = g->r->op;
    acclib_convert(g->partial + in_chunk * acclib_dtype_bytes(op->arithmetic), op->arithmetic,
                   source_at(g->r, element), op->source_type, length, false);
}

static void add_run(void *argument, uint64_t element, uint64_t in_chunk, uint64_t length)
{
    const struct gathering *g = argument;
    const struct operation *op = g->r->op;
    uint8_t *partial = g->partial + in_chunk * acclib_dtype_bytes(op->arithmetic);
    combine(op, partial, op->arithmetic, source_at(g->r, element), op->source_type, partial,
            op->arithmetic, length);
}

static void store_run(void *argument, uint64_t element, uint64_t in_chunk, uint64_t length)
{
    const struct gathering *g = argument;
    const struct operation *op = g->r->op;
    uint64_t to = op->call->operation == ACCL_REDUCE_SCATTER ? in_chunk : element;

    acclib_convert(result_at(g->r, to), op->result_type,
                   g->partial + in_chunk * acclib_dtype_bytes(op->arithmetic), op->arithmetic,
                   length, false);
}

static uint32_t reduce_round(struct ring_walk *r)
{
    const struct operation *op = r->op;
    uint32_t n = r->n, type = op->arithmetic, bits = 0;
    bool everywhere = op->call->operation == ACCL_ALLREDUCE;

    /* The chunk that this rank starts: its own for an allreduce, otherwise the one before it. */
    uint32_t start = everywhere ? r->me : (r->me + n - 1) % n;
    uint64_t most = 0;

    for (uint32_t c = 0; c < n; c++) {
        uint64_t length = each_run(r, c, NULL, NULL);
        most = length > most ? length : most;
    }

    uint8_t *mine = scratch(r, 0, most * acclib_dtype_bytes(type));
    uint8_t *theirs = scratch(r, 1, most * acclib_dtype_bytes(type));
    if (mine == NULL || theirs == NULL)
        return ACCL_ERROR(DMA_INTERNAL_ERROR);

    uint64_t length = each_run(r, start, load_run, &(struct gathering){r, mine});
    uint32_t steps = everywhere ? 2 * (n - 1) : n - 1;
    for (uint32_t s = 1; !bits && s <= steps; s++) {
        uint32_t chunk = (start + 2 * n - s) % n;
        uint64_t next = each_run(r, chunk, NULL, NULL);
        bits = swap(r, r->me + 1, mine, type, r->me + n - 1, theirs, type, type, length, next);
        if (bits)
            break;
        uint8_t *other = mine;
        mine = theirs;
        theirs = other;
        length = next;
        struct gathering g = {r, mine};
        if (s < n)
            each_run(r, chunk, add_run, &g);
        /* From here on chunks are complete. */
        if (s >= n - 1)
            each_run(r, chunk, store_run, &g);
    }

    return bits;
}

/* Copies the source if the result would overwrite what is still to be sent. */
static uint32_t protect(struct ring_walk *r)
{
    const struct operation *op = r->op;
    uint32_t kind = op->call->operation;
    bool parts = kind == ACCL_SCATTER || kind == ACCL_REDUCE_SCATTER || kind == ACCL_ALLTOALL;
    bool all = kind == ACCL_GATHER || kind == ACCL_ALLGATHER || kind == ACCL_ALLTOALL;
    uint64_t source = op->count * (parts ? r->n : 1) * acclib_dtype_bytes(op->source_type);
    uint64_t result = op->count * (all ? r->n : 1) * acclib_dtype_bytes(op->result_type);

    r->source = op->source;
    if (op->source == NULL || op->result == NULL || op->source >= op->result + result ||
        op->result >= op->source + source)
        return 0;
    if (scratch(r, 2, source) == NULL)
        return ACCL_ERROR(DMA_INTERNAL_ERROR);

    copy_memory(r->scratch[2], op->source, source);
    r->source = r->scratch[2];

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

uint32_t acclib_packets_collective(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    acclib_call_begin(comm, op->call, number);
    struct ring_walk r = {.device = device,
                          .op = op,
                          .message = {.channel = CHANNEL_COLLECTIVE,
                                      .tag = (uint32_t)number,
                                      .sequence = comm->signature,
                                      .call = call_note(comm, number)},
                          .n = comm->n,
                          .me = comm->me,
                          .root = op->call->root_src_dst};
    uint32_t bits = acclib_packets_gave_up(device, comm);

    if (!bits && !comm->met)
        bits = watch(device, comm);
    comm->met = !bits;
    bits = bits ? bits : protect(&r);
    if (!bits) {
        switch (op->call->operation) {
        case ACCL_BARRIER: bits = barrier(&r); break;
        case ACCL_BCAST: bits = broadcast(&r); break;
        case ACCL_SCATTER: bits = scatter(&r); break;
        case ACCL_GATHER: bits = gather(&r); break;
        case ACCL_ALLGATHER: bits = to_everyone(&r, false); break;
        case ACCL_ALLTOALL: bits = to_everyone(&r, true); break;
        case ACCL_REDUCE: bits = reduce(&r); break;
        default: bits = reduce_round(&r); break;
        }
    }

    for (int i = 0; i < 3; i++)
        free(r.scratch[i]);

    return bits;
}
