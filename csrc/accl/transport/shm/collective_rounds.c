/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/collective_rounds.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/shm/lane_rounds.h"

/* --- what is in a slot --- */

/* Each other member gets a part of its own. */
static bool gives_each(const struct operation *op)
{
    return operation_parts_read(op->facts, op->comm->n) > 1;
}

/* The parts of a slot. */
static uint32_t parts_of(const struct operation *op)
{
    return gives_each(op) ? op->comm->n - 1 : 1;
}

/* Elements of a part of a slot, whatever type a member gives. */
static uint64_t piece_of(const struct operation *op)
{
    uint64_t bytes = LANE_ROUND_BYTES / parts_of(op) / ARENA_LINE * ARENA_LINE;
    return bytes / acclib_dtype_bytes(op->type);
}

uint64_t acclib_round_range(const struct operation *op, uint64_t round, uint64_t *at)
{
    uint64_t piece = piece_of(op);
    *at = round * piece;
    uint64_t left = op->count - *at;
    return left < piece ? left : piece;
}

/* Bytes from the start of a slot of member OWNER to what is for READER, of elements of SIZE. */
static uint64_t place_of(const struct operation *op, uint32_t owner, uint32_t reader, size_t size)
{
    uint32_t n = op->comm->n, k = (reader + n - owner - 1) % n;
    return gives_each(op) ? k * piece_of(op) * size : 0;
}

uint64_t acclib_rounds_count(const struct operation *op)
{
    uint64_t piece = piece_of(op);
    return op->count / piece + (op->count % piece != 0);
}

/* --- filling --- */

uint32_t acclib_round_fill(const struct direct *d, uint64_t round, uint32_t reader)
{
    const struct operation *op = d->op;
    uint8_t *room;
    uint32_t bits = acclib_rounds_room(d->device, op, d->number, round, reader, &room);
    if (bits)
        return bits;

    uint32_t type = op->source_type, n = op->comm->n, me = op->comm->me;
    size_t size = acclib_dtype_bytes(type);
    uint64_t at, count = acclib_round_range(op, round, &at);
    for (uint32_t k = 0; k < parts_of(op); k++) {
        uint64_t part = gives_each(op) ? (me + 1 + k) % n : 0;
        acclib_convert(room + k * piece_of(op) * size, type,
                       d->source + (part * op->count + at) * size, type, count, false);
    }

    acclib_rounds_filled(d->device, op, d->number, round);
    return 0;
}

uint32_t acclib_rounds_fill_all(const struct direct *d, uint32_t reader)
{
    uint32_t bits = 0;
    uint64_t n = acclib_rounds_count(d->op);
    for (uint64_t round = 0; !bits && round < n; round++)
        bits = acclib_round_fill(d, round, reader);
    return bits;
}

/* --- copying --- */

uint32_t acclib_round_fetch(const struct direct *d, uint32_t index, uint32_t type, uint64_t round,
                            uint8_t *to)
{
    const struct operation *op = d->op;
    const uint8_t *slot;
    uint32_t bits = acclib_rounds_wait(d->device, op, index, d->number, round, &slot);
    if (bits)
        return bits;

    uint64_t at, count = acclib_round_range(op, round, &at);
    const uint8_t *from = slot + place_of(op, index, op->comm->me, acclib_dtype_bytes(type));
    acclib_convert_piece(to + at * acclib_dtype_bytes(op->result_type), op->result_type, from, type,
                         count, op->count, op->via16);
    return 0;
}

uint32_t acclib_rounds_fetch_all(const struct direct *d, uint32_t index, uint32_t type, uint8_t *to)
{
    uint64_t n = acclib_rounds_count(d->op);
    for (uint64_t round = 0; round < n; round++) {
        uint32_t bits = acclib_round_fetch(d, index, type, round, to);
        if (bits)
            return bits;
        acclib_rounds_taken(d->device, d->op, d->number, round);
    }

    return 0;
}

void acclib_round_copy_own(const struct direct *d, uint32_t part, uint64_t round, uint8_t *to)
{
    const struct operation *op = d->op;
    uint64_t at, count = acclib_round_range(op, round, &at);
    const uint8_t *from = d->source + (part * op->count + at) * acclib_dtype_bytes(op->source_type);
    acclib_convert_piece(to + at * acclib_dtype_bytes(op->result_type), op->result_type, from,
                         op->source_type, count, op->count, false);
}

/* --- reducing --- */

uint32_t acclib_round_operands(const struct direct *d, uint32_t part, uint64_t round,
                               const uint8_t *types, const uint8_t **operands)
{
    const struct operation *op = d->op;
    uint64_t at;
    acclib_round_range(op, round, &at);
    for (uint32_t i = 0; i < op->comm->n; i++) {
        size_t size = acclib_dtype_bytes(types[i]);
        if (i == op->comm->me) {
            operands[i] = d->source + (part * op->count + at) * size;
            continue;
        }
        const uint8_t *slot;
        uint32_t bits = acclib_rounds_wait(d->device, op, i, d->number, round, &slot);
        if (bits)
            return bits;
        operands[i] = slot + place_of(op, i, op->comm->me, size);
    }

    return 0;
}
