/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/collective_copy.h"

#include "accl/arithmetic/convert.h"

/* log2(n) rounds; in each one a message goes twice as far. */
uint32_t acclib_packets_barrier(const struct walk *w)
{
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k *= 2) {
        bits = acclib_piece_put(w, (w->me + k) % w->n, NULL, w->wire, 0);
        if (!bits)
            bits = acclib_piece_get_to(w, (w->me + w->n - k) % w->n, NULL, w->wire, 0);
    }
    return bits;
}

/* Sends a piece to the members below this one in a binomial tree, whose lowest bit is STEP. */
static uint32_t pass_on(const struct walk *w, uint32_t place, uint32_t step, const void *data,
                        uint32_t type, uint64_t n)
{
    uint32_t bits = 0;
    for (step /= 2; !bits && step; step /= 2)
        if (place + step < w->n)
            bits = acclib_piece_put(w, (w->root + place + step) % w->n, data, type, n);
    return bits;
}

/* A binomial tree, through which pieces follow each other. */
uint32_t acclib_packets_bcast(const struct walk *w)
{
    const struct operation *op = w->op;
    uint32_t place = (w->me + w->n - w->root) % w->n, step = 1, bits = 0;
    while (step < w->n && !(place & step))
        step *= 2;
    uint32_t above = (w->root + place - step) % w->n;

    for (uint64_t i = 0; !bits && i < piece_count(w, op->count); i++) {
        uint64_t at, n = piece_of(w, op->count, i, &at);
        struct piece piece;
        if (!place) {
            bits = pass_on(w, place, step, walk_source(w, at), op->source_type, n);
            continue;
        }
        bits = acclib_piece_get(w, above, n, &piece);
        if (bits)
            break;
        bits = pass_on(w, place, step, piece.data, w->wire, n);
        if (n)
            acclib_convert(walk_result(w, at), op->result_type, piece.data, w->wire, n, false);
        acclib_piece_free(&piece);
    }

    return bits;
}

uint32_t acclib_packets_scatter(const struct walk *w)
{
    const struct operation *op = w->op;
    bool is_root = w->me == w->root;
    uint32_t bits = 0;

    for (uint64_t i = 0; !bits && i < piece_count(w, op->count); i++) {
        uint64_t at, n = piece_of(w, op->count, i, &at);
        if (!is_root)
            bits = acclib_piece_get_to(w, w->root, walk_result(w, at), op->result_type, n);
        for (uint32_t k = 1; is_root && !bits && k < w->n; k++) {
            uint32_t to = (w->root + k) % w->n;
            bits = acclib_piece_put(w, to, walk_source(w, to * op->count + at), op->source_type, n);
        }
    }

    if (is_root && !bits)
        acclib_convert(op->result, op->result_type, walk_source(w, w->root * op->count),
                       op->source_type, op->count, false);

    return bits;
}

uint32_t acclib_packets_gather(const struct walk *w)
{
    const struct operation *op = w->op;
    bool is_root = w->me == w->root;
    uint32_t bits = 0;
    if (is_root)
        acclib_convert(walk_result(w, w->root * op->count), op->result_type, w->source,
                       op->source_type, op->count, false);

    for (uint64_t i = 0; !bits && i < piece_count(w, op->count); i++) {
        uint64_t at, n = piece_of(w, op->count, i, &at);
        if (!is_root)
            bits = acclib_piece_put(w, w->root, walk_source(w, at), op->source_type, n);
        for (uint32_t k = 1; is_root && !bits && k < w->n; k++) {
            uint32_t from = (w->root + k) % w->n;
            bits = acclib_piece_get_to(w, from, walk_result(w, from * op->count + at),
                                       op->result_type, n);
        }
    }

    return bits;
}

/* Piece I of what this member has for each other one. */
static uint32_t put_to_all(const struct walk *w, uint64_t i, bool by_destination)
{
    const struct operation *op = w->op;
    uint64_t at, n = piece_of(w, op->count, i, &at);
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t to = (w->me + k) % w->n;
        uint64_t from = by_destination ? to * op->count : 0;
        bits = acclib_piece_put(w, to, walk_source(w, from + at), op->source_type, n);
    }
    return bits;
}

static uint32_t get_from_all(const struct walk *w, uint64_t i)
{
    const struct operation *op = w->op;
    uint64_t at, n = piece_of(w, op->count, i, &at);
    uint32_t bits = 0;
    for (uint32_t k = 1; !bits && k < w->n; k++) {
        uint32_t from = (w->me + w->n - k) % w->n;
        bits =
            acclib_piece_get_to(w, from, walk_result(w, from * op->count + at), op->result_type, n);
    }
    return bits;
}

/* Pieces of everyone to everyone; one is under way while the one before is received. */
static uint32_t to_everyone(const struct walk *w, bool by_destination)
{
    const struct operation *op = w->op;
    uint64_t pieces = piece_count(w, op->count);
    uint32_t bits = put_to_all(w, 0, by_destination);

    acclib_convert(walk_result(w, w->me * op->count), op->result_type,
                   walk_source(w, by_destination ? w->me * op->count : 0), op->source_type,
                   op->count, false);
    for (uint64_t i = 0; !bits && i < pieces; i++) {
        if (i + 1 < pieces)
            bits = put_to_all(w, i + 1, by_destination);
        if (!bits)
            bits = get_from_all(w, i);
    }

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
