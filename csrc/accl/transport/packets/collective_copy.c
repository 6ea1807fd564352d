/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/collective_copy.h"

#include <stdlib.h>

#include "accl/arithmetic/convert.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/packets/direct.h"
#include "accl/transport/packets/vector.h"

/* Up to that many members meet at the first one. */
#define MEET_MOST 4
/* Up to that many members get up to that many bytes from the root itself. */
#define FROM_ROOT_MOST 16
#define FROM_ROOT_BYTES (UINT64_C(4) << 10)

static uint32_t put_nothing(const struct walk *w, uint32_t to)
{
    return acclib_piece_put(w, to, NULL, w->wire, 0);
}

static uint32_t get_nothing(const struct walk *w, uint32_t from)
{
    return acclib_piece_get_to(w, from, NULL, w->wire, 0);
}

/* All tell the first member, which then tells all. */
static uint32_t meet_at_first(const struct walk *w)
{
    uint32_t bits = 0;
    if (w->me) {
        bits = put_nothing(w, 0);
        return bits ? bits : get_nothing(w, 0);
    }

    for (uint32_t k = 1; !bits && k < w->n; k++)
        bits = get_nothing(w, k);
    for (uint32_t k = 1; !bits && k < w->n; k++)
        bits = put_nothing(w, k);
    return bits;
}

/* log2(n) rounds; in each one a message goes twice as far. Few members take as many steps if they
 * meet at one, and wait once each: with fewer cores than ranks a wait is what takes time. */
uint32_t acclib_packets_barrier(const struct walk *w)
{
    uint32_t bits = 0;
    if (w->n > 2 && w->n <= MEET_MOST)
        return meet_at_first(w);

    for (uint32_t k = 1; !bits && k < w->n; k *= 2)
        bits = acclib_piece_meet(w, (w->me + k) % w->n, (w->me + w->n - k) % w->n);
    return bits;
}

/* N elements of the operands from element FIRST on, element AT of the vector that they are of. */
static struct vector source_of(const struct walk *w, uint64_t first, uint64_t at, uint64_t n)
{
    return (struct vector){.at = at * acclib_dtype_bytes(w->wire),
                           .data = (uint8_t *)(uintptr_t)walk_source(w, first + at),
                           .type = w->op->source_type,
                           .count = n};
}

static struct vector result_of(const struct walk *w, uint64_t first, uint64_t at, uint64_t n)
{
    return (struct vector){.at = at * acclib_dtype_bytes(w->wire),
                           .data = walk_result(w, first + at),
                           .type = w->op->result_type,
                           .count = n};
}

static uint32_t get(const struct walk *w, uint32_t from, const struct vector *v)
{
    struct vector_get expected;
    acclib_vector_expect(&expected, w, from, v);
    return acclib_vector_get(&expected);
}

/* Puts what a member keeps for itself in its place. */
static void keep(const struct walk *w, uint64_t result, uint64_t source)
{
    const struct operation *op = w->op;
    acclib_convert(walk_result(w, result), op->result_type, walk_source(w, source), op->source_type,
                   op->count, false);
}

/* --- one to all, all to one --- */

/* True if the root sends to all: a few short messages take less time than waiting for a core
 * twice. */
static bool is_from_root(const struct walk *w)
{
    return w->is_near && w->n <= FROM_ROOT_MOST &&
           w->op->count * acclib_dtype_bytes(w->wire) <= FROM_ROOT_BYTES;
}

static uint32_t bcast_from_root(const struct walk *w)
{
    uint64_t count = w->op->count;
    if (w->me != w->root)
        return acclib_piece_get_to(w, w->root, walk_result(w, 0), w->op->result_type, count);

    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++)
        bits =
            acclib_piece_put(w, (w->root + k) % w->n, walk_source(w, 0), w->op->source_type, count);
    return bits;
}

/* Sends elements to the members below this one in a binomial tree, whose lowest bit is STEP. */
static uint32_t pass_on(const struct walk *w, uint32_t place, uint32_t step, const struct vector *v)
{
    uint32_t bits = 0;
    for (step /= 2; !bits && step; step /= 2)
        if (place + step < w->n)
            bits = acclib_vector_put(w, (w->root + place + step) % w->n, v);
    return bits;
}

/* A binomial tree, through which parts of the vector follow each other. */
uint32_t acclib_packets_bcast(const struct walk *w)
{
    const struct operation *op = w->op;
    if (is_from_root(w))
        return bcast_from_root(w);

    uint32_t place = (w->me + w->n - w->root) % w->n, step = 1, bits = 0;
    while (step < w->n && !(place & step))
        step *= 2;
    uint32_t above = (w->root + place - step) % w->n;

    /* Nobody waits for a part of what two members have. */
    uint64_t steps = w->n == 2 ? 1 : vector_steps(w, op->count);
    for (uint64_t i = 0; !bits && i < steps; i++) {
        uint64_t at = 0, n = w->n == 2 ? op->count : vector_step(w, op->count, i, &at);
        struct vector v = place ? result_of(w, 0, at, n) : source_of(w, 0, at, n);
        if (place)
            bits = get(w, above, &v);
        if (!bits)
            bits = pass_on(w, place, step, &v);
    }

    return bits;
}

static uint32_t no_memory(const struct walk *w)
{
    return acclib_call_fail(w->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                            "out of memory (messages of %u ranks)", w->n);
}

/* Receives what N members were expected to send, unless BITS say that the call has failed. */
static uint32_t get_all(struct vector_get *expected, uint32_t n, uint32_t bits)
{
    for (uint32_t k = 0; k < n; k++) {
        if (bits)
            acclib_vector_drop(&expected[k]);
        else
            bits = acclib_vector_get(&expected[k]);
    }

    return bits;
}

/* Waits until what was begun to be sent to N members has left, likewise. */
static uint32_t end_all(struct vector_put *puts, uint32_t n, uint32_t bits)
{
    for (uint32_t k = 0; k < n; k++) {
        if (bits)
            acclib_vector_put_drop(&puts[k]);
        else
            bits = acclib_vector_put_end(&puts[k]);
    }

    return bits;
}

uint32_t acclib_packets_scatter(const struct walk *w)
{
    const struct operation *op = w->op;
    uint32_t bits = 0;
    if (w->me != w->root) {
        struct vector v = result_of(w, 0, 0, op->count);
        return get(w, w->root, &v);
    }

    struct vector_put *puts = calloc(w->n, sizeof *puts);
    if (puts == NULL)
        return no_memory(w);
    uint32_t begun = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t to = (w->root + k) % w->n;
        struct vector v = source_of(w, to * op->count, 0, op->count);
        bits = acclib_vector_put_begin(&puts[begun], w, to, &v);
        begun += !bits;
    }

    if (!bits) {
        /* While the others take what is lent. */
        if (puts[0].lent)
            acclib_carrier_turn(w->device);
        keep(w, 0, w->root * op->count);
    }

    bits = end_all(puts, begun, bits);
    free(puts);
    return bits;
}

uint32_t acclib_packets_gather(const struct walk *w)
{
    const struct operation *op = w->op;
    if (w->me != w->root) {
        struct vector v = source_of(w, 0, 0, op->count);
        return acclib_vector_put(w, w->root, &v);
    }

    struct vector_get *expected = calloc(w->n, sizeof *expected);
    if (expected == NULL)
        return no_memory(w);
    for (uint32_t k = 1; k < w->n; k++) {
        uint32_t from = (w->root + k) % w->n;
        struct vector v = result_of(w, from * op->count, 0, op->count);
        acclib_vector_expect(&expected[k - 1], w, from, &v);
    }

    keep(w, w->root * op->count, 0);
    uint32_t bits = get_all(expected, w->n - 1, 0);
    free(expected);
    return bits;
}

/* --- all to all --- */

/* Sends each other member its part, which fits into one piece, and receives theirs. */
static uint32_t exchange_pieces(const struct walk *w, bool by_destination)
{
    const struct operation *op = w->op;
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t to = (w->me + k) % w->n;
        const uint8_t *data = walk_source(w, by_destination ? to * op->count : 0);
        bits = acclib_piece_put(w, to, data, op->source_type, op->count);
    }

    keep(w, w->me * op->count, by_destination ? w->me * op->count : 0);
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t from = (w->me + w->n - k) % w->n;
        bits = acclib_piece_get_to(w, from, walk_result(w, from * op->count), op->result_type,
                                   op->count);
    }

    return bits;
}

/* Vectors to all others, and theirs. */
struct exchange {
    struct vector_get *gets;
    struct vector_put *puts;
};

/* N elements from element AT on. All are under way at once, so nobody waits for one pair after the
 * other. */
static uint32_t exchange_step(const struct walk *w, const struct exchange *x, bool by_destination,
                              uint64_t at, uint64_t n)
{
    uint64_t count = w->op->count;
    uint32_t others = w->n - 1, begun = 0, bits = 0;
    for (uint32_t k = 0; k < others; k++) {
        uint32_t from = (w->me + others - k) % w->n;
        struct vector in = result_of(w, from * count, at, n);
        acclib_vector_expect(&x->gets[k], w, from, &in);
    }

    for (uint32_t k = 0; !bits && k < others; k++) {
        uint32_t to = (w->me + 1 + k) % w->n;
        struct vector out = source_of(w, by_destination ? to * count : 0, at, n);
        bits = acclib_vector_put_begin(&x->puts[k], w, to, &out);
        begun += !bits;
    }

    bits = get_all(x->gets, others, bits);
    return end_all(x->puts, begun, bits);
}

/* Everyone to everyone, step by step. */
static uint32_t to_everyone(const struct walk *w, bool by_destination)
{
    const struct operation *op = w->op;
    uint32_t bits = 0;
    if (op->count * acclib_dtype_bytes(w->wire) < DIRECT_LEAST)
        return exchange_pieces(w, by_destination);

    struct exchange x = {.gets = calloc(w->n, sizeof *x.gets),
                         .puts = calloc(w->n, sizeof *x.puts)};
    if (x.gets == NULL || x.puts == NULL)
        bits = no_memory(w);
    for (uint64_t i = 0; !bits && i < vector_steps(w, op->count); i++) {
        uint64_t at, n = vector_step(w, op->count, i, &at);
        bits = exchange_step(w, &x, by_destination, at, n);
    }
    free(x.gets);
    free(x.puts);

    if (!bits)
        keep(w, w->me * op->count, by_destination ? w->me * op->count : 0);
    return bits;
}

uint32_t acclib_packets_allgather(const struct walk *w)
{
    return to_everyone(w, false);
}

uint32_t acclib_packets_alltoall(const struct walk *w)
{
    return to_everyone(w, true);
}
