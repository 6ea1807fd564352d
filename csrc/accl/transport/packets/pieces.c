/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/pieces.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/packets/carrier_short.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/packets/receive.h"
#include "accl/transport/packets/send.h"

_Static_assert(PIECE_BYTES <= COLLECTIVE_EAGER, "a piece is sent eagerly");

uint32_t acclib_piece_put(const struct walk *w, uint32_t to, const void *data, uint32_t type,
                          uint64_t n)
{
    uint32_t numbers;
    return acclib_packets_send(w->device, w->op->comm, to, &w->message, data, type, w->wire, n,
                               &numbers);
}

uint32_t acclib_piece_get(const struct walk *w, uint32_t from, uint64_t n, struct piece *piece)
{
    *piece = (struct piece){.data = NULL};
    uint32_t bits = acclib_packets_take_whole(w->device, w->op->comm, from, &w->message, w->wire, n,
                                              &piece->incoming);
    if (bits)
        return bits;

    const struct list_node *first = piece->incoming->parts.first;
    if (first != NULL) {
        const struct packet *part = packet_of(piece->incoming->parts.first);
        piece->data = part->data + part->taken;
    }

    return 0;
}

void acclib_piece_free(struct piece *piece)
{
    if (piece->incoming != NULL)
        acclib_incoming_free(piece->incoming);
    *piece = (struct piece){.data = NULL};
}

static struct awaited awaited_of(const struct walk *w, uint32_t from, void *data, uint32_t type,
                                 uint64_t n)
{
    return (struct awaited){.message = &w->message,
                            .key = w->op->comm->key,
                            .rank = w->op->comm->members[from].rank,
                            .type = type,
                            .wire_type = w->wire,
                            .data = data,
                            .count = n,
                            .bytes = n * acclib_dtype_bytes(w->wire)};
}

bool acclib_piece_catch(const struct walk *w, uint32_t from, void *data, uint32_t type, uint64_t n)
{
    struct awaited a = awaited_of(w, from, data, type, n);
    return a.bytes <= SHORT_BYTES && acclib_carrier_catch(w->device, &a);
}

uint32_t acclib_piece_get_to(const struct walk *w, uint32_t from, void *data, uint32_t type,
                             uint64_t n)
{
    if (acclib_piece_catch(w, from, data, type, n))
        return 0;

    struct piece piece;
    uint32_t bits = acclib_piece_get(w, from, n, &piece);
    if (bits)
        return bits;

    if (n)
        acclib_convert(data, type, piece.data, w->wire, n, false);
    acclib_piece_free(&piece);
    return 0;
}

uint32_t acclib_piece_meet(const struct walk *w, uint32_t to, uint32_t from)
{
    struct awaited a = awaited_of(w, from, NULL, w->wire, 0);
    enum meeting meeting = acclib_carrier_meet(w->device, w->op->comm->members[to].rank, &a);
    uint32_t bits = 0;
    if (meeting == MEETING_NONE)
        bits = acclib_piece_put(w, to, NULL, w->wire, 0);
    if (!bits && meeting != MEETING_DONE)
        bits = acclib_piece_get_to(w, from, NULL, w->wire, 0);
    return bits;
}
