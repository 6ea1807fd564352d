/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of collectives: what goes between two members in one packet. Sender and receiver split
 * a vector in the same way. A piece is sent eagerly, so whoever sends waits only if
 * many pieces are not received yet; members that all send piece I before they receive piece I
 * cannot get stuck.
 *
 * The executor's; functions that return error bits may wait.
 */
#ifndef ACCL_PACKETS_PIECES_H
#define ACCL_PACKETS_PIECES_H

#include "accl/arithmetic/dtype.h"
#include "accl/base/operation.h"
#include "accl/transport/packets/packet_request.h"

/* A collective that is executed. */
struct walk {
    accl_device *device;
    const struct operation *op;
    struct packet_message message;
    uint32_t n, me, root;
    bool is_near;          /* all members are on this host */
    uint32_t wire;         /* the type of what goes between members */
    const uint8_t *source; /* of the operation, or a copy of it */
    uint8_t *copy;         /* that copy, or NULL */
};

/* Bytes of a piece. */
#define PIECE_BYTES (UINT64_C(64) << 10)

/* A piece that has come. */
struct piece {
    const uint8_t *data; /* of type walk->wire */
    struct incoming *incoming;
};

/* Elements of a piece, of which COUNT elements make piece_count(); the last one may have fewer. A
 * vector of no elements is one piece, as the other side is to come. */
static inline uint64_t piece_most(const struct walk *w)
{
    return PIECE_BYTES / acclib_dtype_bytes(w->wire);
}

static inline uint64_t piece_count(const struct walk *w, uint64_t count)
{
    uint64_t most = piece_most(w);
    return count ? (count + most - 1) / most : 1;
}

/* Elements of piece I, and in *AT its first. */
static inline uint64_t piece_of(const struct walk *w, uint64_t count, uint64_t i, uint64_t *at)
{
    uint64_t most = piece_most(w);
    *at = i * most;
    return count - *at < most ? count - *at : most;
}

/* Sends a piece of N elements of TYPE to member TO. */
uint32_t acclib_piece_put(const struct walk *w, uint32_t to, const void *data, uint32_t type,
                          uint64_t n);

/* Receives the next piece of member FROM, which must have N elements; acclib_piece_free() follows.
 */
uint32_t acclib_piece_get(const struct walk *w, uint32_t from, uint64_t n, struct piece *piece);
void acclib_piece_free(struct piece *piece);

/* Receives it to DATA of TYPE if it is short and comes within some microseconds. */
bool acclib_piece_catch(const struct walk *w, uint32_t from, void *data, uint32_t type, uint64_t n);

/* The same, however long it takes. */
uint32_t acclib_piece_get_to(const struct walk *w, uint32_t from, void *data, uint32_t type,
                             uint64_t n);

/* Sends an empty piece to member TO and receives one of member FROM. */
uint32_t acclib_piece_meet(const struct walk *w, uint32_t to, uint32_t from);

/* Element I of the operands. */
static inline const uint8_t *walk_source(const struct walk *w, uint64_t element)
{
    return w->source + element * acclib_dtype_bytes(w->op->source_type);
}

static inline uint8_t *walk_result(const struct walk *w, uint64_t element)
{
    return w->op->result + element * acclib_dtype_bytes(w->op->result_type);
}

#endif
