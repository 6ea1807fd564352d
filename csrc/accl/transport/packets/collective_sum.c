/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/collective_sum.h"

#include <stdlib.h>
#include <string.h>

#include "accl/arithmetic/order.h"
#include "accl/arithmetic/reduce.h"
#include "accl/base/heap.h"
#include "accl/transport/packets/carrier_short.h"
#include "accl/transport/packets/collective_copy.h"
#include "accl/transport/packets/direct.h"
#include "accl/transport/packets/vector.h"

/* One member adds vectors of up to that many bytes. */
#define ROOT_BYTES (UINT64_C(8) << 10)
/* Between hosts every member adds them all, if the operands of all take up to that many bytes. */
#define SMALL_BYTES (UINT64_C(16) << 10)
/* Parts of a vector begin at multiples of it. */
#define PART_STEP 16

/* The operands of one piece: of this member in its memory, of others as they came. */
struct operands {
    struct piece *pieces;
    const uint8_t **data;
    uint8_t *types;
    uint8_t *sum;        /* room for a piece, if this member has no result */
    uint8_t *room;       /* for a piece of each member, if pieces are short, else NULL */
    uint64_t room_bytes; /* for each */
};

/* Destination of a sum. */
struct place {
    uint8_t *data;
    uint32_t type;
};

static void operands_free(struct operands *o)
{
    free(o->pieces);
}

/* All in one block. */
static uint32_t operands_new(const struct walk *w, struct operands *o)
{
    uint64_t n = w->n, at;
    uint64_t bytes = piece_of(w, w->op->count, 0, &at) * acclib_dtype_bytes(w->wire);
    uint64_t room = bytes <= SHORT_BYTES ? n * bytes : 0, sum = w->op->result == NULL ? bytes : 0;

    o->pieces = malloc(n * (sizeof *o->pieces + sizeof *o->data + sizeof *o->types) + sum + room);
    if (o->pieces == NULL)
        return acclib_call_fail(w->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (operands of %u ranks)", w->n);

    memset(o->pieces, 0, n * sizeof *o->pieces);
    o->data = (const uint8_t **)(void *)(o->pieces + n);
    o->sum = (uint8_t *)(o->data + n);
    o->room = room ? o->sum + sum : NULL;
    o->room_bytes = bytes;
    o->types = o->sum + sum + room;
    return 0;
}

/* The place of element AT of the result. */
static struct place place_of(const struct walk *w, const struct operands *o, uint64_t at)
{
    if (w->op->result == NULL)
        return (struct place){o->sum, w->wire};
    return (struct place){walk_result(w, at), w->op->result_type};
}

/* Adds N elements; those of this member begin at element FROM, and their sum goes to TO. */
static void add(const struct walk *w, const struct operands *o, uint64_t from, struct place to,
                uint64_t n)
{
    const struct operation *op = w->op;
    uint8_t result_type = (uint8_t)to.type;
    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = w->n,
                          .operands = o->data,
                          .operand_types = o->types,
                          .n_results = 1,
                          .results = &to.data,
                          .result_types = &result_type};

    if (op->call->operation == ACCL_REDUCE) {
        r.first = (w->root + 1) % w->n;
        acclib_reduce(&r, 0, n);
    } else if (op->call->operation == ACCL_REDUCE_SCATTER) {
        r.first = (w->me + 1) % w->n;
        acclib_reduce(&r, 0, n);
    } else {
        struct order order =
            acclib_order_of(op->count, w->n, w->device->segment_size, acclib_dtype_bytes(op->wire));
        uint64_t run;
        for (uint64_t done = 0; done < n; done += run) {
            r.first = acclib_order_first(&order, from + done, &run);
            run = run < n - done ? run : n - done;
            acclib_reduce(&r, done, run);
        }
    }
}

/* Receives a piece of N elements from all others, and adds. */
static uint32_t get_and_add(const struct walk *w, struct operands *o, uint64_t from,
                            struct place to, uint64_t n)
{
    const struct operation *op = w->op;
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t j = (w->me + w->n - k) % w->n;
        uint8_t *room = o->room != NULL ? o->room + j * o->room_bytes : NULL;
        bool is_here = room != NULL && acclib_piece_catch(w, j, room, w->wire, n);
        if (!is_here)
            bits = acclib_piece_get(w, j, n, &o->pieces[j]);
        o->data[j] = is_here ? room : o->pieces[j].data;
        o->types[j] = (uint8_t)w->wire;
    }

    o->data[w->me] = walk_source(w, from);
    o->types[w->me] = (uint8_t)op->source_type;
    if (!bits && n)
        add(w, o, from, to, n);

    for (uint32_t j = 0; j < w->n; j++)
        acclib_piece_free(&o->pieces[j]);
    return bits;
}

/* N elements from element AT on to all others. */
static uint32_t put_to_all(const struct walk *w, const void *data, uint32_t type, uint64_t n)
{
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++)
        bits = acclib_piece_put(w, (w->me + k) % w->n, data, type, n);
    return bits;
}

/* --- each adds everything, or the root does --- */

static uint32_t whole_to_all(const struct walk *w, struct operands *o)
{
    const struct operation *op = w->op;
    uint64_t pieces = piece_count(w, op->count), at;
    uint64_t n = piece_of(w, op->count, 0, &at);
    uint32_t bits = put_to_all(w, walk_source(w, at), op->source_type, n);

    for (uint64_t i = 0; !bits && i < pieces; i++) {
        if (i + 1 < pieces) {
            n = piece_of(w, op->count, i + 1, &at);
            bits = put_to_all(w, walk_source(w, at), op->source_type, n);
        }
        n = piece_of(w, op->count, i, &at);
        if (!bits)
            bits = get_and_add(w, o, at, place_of(w, o, at), n);
    }

    return bits;
}

static uint32_t whole_to_root(const struct walk *w, struct operands *o)
{
    const struct operation *op = w->op;
    uint32_t bits = 0;
    for (uint64_t i = 0; !bits && i < piece_count(w, op->count); i++) {
        uint64_t at, n = piece_of(w, op->count, i, &at);
        bits = w->me == w->root
                   ? get_and_add(w, o, at, place_of(w, o, at), n)
                   : acclib_piece_put(w, w->root, walk_source(w, at), op->source_type, n);
    }
    return bits;
}

/*
 * The first member adds everything, and sends the sum to all. Ranks on one host may have to share
 * cores, where each message to wait for takes longer than what one member does for all.
 */
static uint32_t by_first(const struct walk *w, struct operands *o)
{
    struct walk sum = *w;
    sum.root = 0;
    uint32_t bits = whole_to_root(&sum, o);
    if (bits)
        return bits;

    struct operation bcast = *w->op;
    bcast.source = bcast.result;
    bcast.source_type = bcast.result_type;
    sum.op = &bcast;
    sum.source = bcast.source;
    return acclib_packets_bcast(&sum);
}

/* --- each adds one part --- */

/* Part J of the vector; elements, and in *AT its first. */
static uint64_t part_of(const struct walk *w, uint32_t j, uint64_t *at)
{
    const struct operation *op = w->op;
    if (op->call->operation == ACCL_REDUCE_SCATTER) {
        *at = j * op->count;
        return op->count;
    }

    uint64_t steps = (op->count + PART_STEP - 1) / PART_STEP;
    uint64_t each = (steps + w->n - 1) / w->n * PART_STEP;
    *at = j * each < op->count ? j * each : op->count;
    return op->count - *at < each ? op->count - *at : each;
}

/* Piece I of part J, in *AT from the beginning of the vector; false if the part has fewer pieces.
 */
static bool piece_of_part(const struct walk *w, uint32_t j, uint64_t i, uint64_t *at, uint64_t *n)
{
    uint64_t first, count = part_of(w, j, &first);
    if (i >= piece_count(w, count))
        return false;

    *n = piece_of(w, count, i, at);
    *at += first;
    return true;
}

/* Piece I of each part to the one that adds it. */
static uint32_t put_operands(const struct walk *w, uint64_t i)
{
    uint64_t at, n;
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t to = (w->me + k) % w->n;
        if (piece_of_part(w, to, i, &at, &n))
            bits = acclib_piece_put(w, to, walk_source(w, at), w->op->source_type, n);
    }
    return bits;
}

/* The sum of N elements of this member's part, to whoever wants it. */
static uint32_t put_sums(const struct walk *w, struct place sum, uint64_t n)
{
    if (w->op->call->operation == ACCL_ALLREDUCE)
        return put_to_all(w, sum.data, sum.type, n);
    return w->me == w->root ? 0 : acclib_piece_put(w, w->root, sum.data, sum.type, n);
}

static uint32_t get_sums(const struct walk *w, uint64_t i)
{
    uint64_t at, n;
    uint32_t bits = 0;
    if (w->op->call->operation == ACCL_REDUCE && w->me != w->root)
        return 0;

    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t from = (w->me + w->n - k) % w->n;
        if (piece_of_part(w, from, i, &at, &n))
            bits = acclib_piece_get_to(w, from, walk_result(w, at), w->op->result_type, n);
    }
    return bits;
}

/*
 * Between two members operands and sums take turns in the order of their pieces: operands of piece
 * I, sums of piece I, operands of piece I + 1. Operands are sent before sums are waited for.
 */
static uint32_t by_parts(const struct walk *w, struct operands *o)
{
    bool scatters = w->op->call->operation == ACCL_REDUCE_SCATTER;
    uint64_t pieces = 0, at = 0, n = 0;
    for (uint32_t j = 0; j < w->n; j++) {
        uint64_t count = piece_count(w, part_of(w, j, &at));
        pieces = count > pieces ? count : pieces;
    }

    uint32_t bits = put_operands(w, 0);
    for (uint64_t i = 0; !bits && i < pieces; i++) {
        bool mine = piece_of_part(w, w->me, i, &at, &n);
        if (scatters && i + 1 < pieces)
            bits = put_operands(w, i + 1);
        struct place sum = place_of(w, o, scatters ? i * piece_most(w) : at);
        if (!bits && mine)
            bits = get_and_add(w, o, at, sum, n);
        if (!bits && mine && !scatters)
            bits = put_sums(w, sum, n);
        if (!bits && !scatters && i + 1 < pieces)
            bits = put_operands(w, i + 1);
        if (!bits && !scatters)
            bits = get_sums(w, i);
    }

    return bits;
}

/* --- two members: the other's operands come in steps, without a copy if they can --- */

/* Memory for the other member's operands: in the result, at OFFSET of the heap, or in COPY. */
struct room {
    uint8_t *data;
    uint64_t offset;
    uint8_t *copy;
    bool in_result;
};

static uint32_t room_new(const struct walk *w, struct room *room)
{
    const struct operation *op = w->op;
    struct heap *heap = w->device->heap;
    uint64_t at, bytes = vector_step(w, op->count, 0, &at) * acclib_dtype_bytes(w->wire);
    *room = (struct room){.in_result = op->result != w->source && op->result_type == w->wire};
    if (room->in_result)
        return 0;

    room->offset = acclib_heap_get(heap, bytes);
    room->copy = room->offset ? NULL : malloc(bytes);
    room->data = room->offset ? heap->base + room->offset : room->copy;
    if (room->data != NULL)
        return 0;
    return acclib_call_fail(w->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                            "out of memory (operands of a rank)");
}

/* MPI may still write to the room of a collective that FAILED, so the heap does not get it back. */
static void room_free(const struct walk *w, struct room *room, bool failed)
{
    free(room->copy);
    if (room->offset && !failed)
        acclib_heap_put(w->device->heap, room->offset);
}

/* Sends OUT, receives IN; either may be NULL. */
static uint32_t exchange(const struct walk *w, const struct vector *out, const struct vector *in)
{
    struct vector_get expected;
    uint32_t other = 1 - w->me, bits = 0;
    if (in != NULL)
        acclib_vector_expect(&expected, w, other, in);
    if (out != NULL)
        bits = acclib_vector_put(w, other, out);
    if (in == NULL)
        return bits;
    if (!bits)
        return acclib_vector_get(&expected);

    acclib_vector_drop(&expected);
    return bits;
}

/* Step by step: operands to the other member, its operands to the room, and the sum. */
static uint32_t exchange_and_add(const struct walk *w, struct operands *o, const struct room *room)
{
    const struct operation *op = w->op;
    bool scatters = op->call->operation == ACCL_REDUCE_SCATTER;
    bool to_root = op->call->operation == ACCL_REDUCE;
    bool puts = !to_root || w->me != w->root, gets = !to_root || w->me == w->root;
    uint64_t theirs = scatters ? (1 - w->me) * op->count : 0;
    uint64_t mine = scatters ? w->me * op->count : 0;
    uint32_t bits = 0;

    for (uint64_t i = 0; !bits && i < vector_steps(w, op->count); i++) {
        uint64_t at, n = vector_step(w, op->count, i, &at);
        struct vector out = {.at = at * acclib_dtype_bytes(w->wire),
                             .data = (uint8_t *)(uintptr_t)walk_source(w, theirs + at),
                             .type = op->source_type,
                             .count = n};
        struct vector in = {.at = out.at,
                            .data = room->in_result ? walk_result(w, at) : room->data,
                            .type = w->wire,
                            .count = n};

        bits = exchange(w, puts ? &out : NULL, gets ? &in : NULL);
        if (bits || !gets)
            continue;
        o->data[1 - w->me] = in.data;
        o->types[1 - w->me] = (uint8_t)w->wire;
        o->data[w->me] = walk_source(w, mine + at);
        o->types[w->me] = (uint8_t)op->source_type;
        add(w, o, mine + at, place_of(w, o, at), n);
    }

    return bits;
}

static uint32_t between_two(const struct walk *w, struct operands *o)
{
    struct room room = {.data = NULL};
    bool gets = w->op->result != NULL;
    uint32_t bits = gets ? room_new(w, &room) : 0;
    if (bits)
        return bits;

    bits = exchange_and_add(w, o, &room);
    room_free(w, &room, bits != 0);
    return bits;
}

/* --- */

static uint64_t bytes_of(const struct walk *w)
{
    return w->op->count * acclib_dtype_bytes(w->wire);
}

static bool is_between_two(const struct walk *w)
{
    return w->n == 2 && bytes_of(w) >= DIRECT_LEAST;
}

static uint32_t with_operands(const struct walk *w,
                              uint32_t (*run)(const struct walk *w, struct operands *o))
{
    struct operands o;
    uint32_t bits = operands_new(w, &o);
    if (bits)
        return bits;

    bits = is_between_two(w) ? between_two(w, &o) : run(w, &o);
    operands_free(&o);
    return bits;
}

uint32_t acclib_packets_reduce(const struct walk *w)
{
    return with_operands(w, w->n == 2 || bytes_of(w) <= ROOT_BYTES ? whole_to_root : by_parts);
}

uint32_t acclib_packets_allreduce(const struct walk *w)
{
    if (w->n == 2 || (!w->is_near && bytes_of(w) <= SMALL_BYTES / w->n))
        return with_operands(w, whole_to_all);
    return with_operands(w, w->is_near && bytes_of(w) <= ROOT_BYTES ? by_first : by_parts);
}

uint32_t acclib_packets_reduce_scatter(const struct walk *w)
{
    return with_operands(w, by_parts);
}
