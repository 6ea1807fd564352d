/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/vector.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/packets/direct.h"
#include "accl/transport/packets/queue.h"
#include "accl/transport/packets/receive.h"
#include "accl/transport/packets/send.h"

/* Elements of the rest of V, from DONE on, that may go at once, and in *BYTES what they take. */
static uint64_t rest_of(const struct walk *w, const struct vector *v, uint64_t done,
                        uint64_t *bytes)
{
    size_t size = acclib_dtype_bytes(w->wire);
    uint64_t rest = v->count - done, most = DIRECT_MOST / size;
    rest = rest < most ? rest : most;
    *bytes = rest * size;
    return rest;
}

static uint8_t *element(const struct vector *v, uint64_t i)
{
    return v->data + i * acclib_dtype_bytes(v->type);
}

/* Whether the rest may go without a copy, and then its message. */
static bool suits(const struct walk *w, const struct vector *v, uint64_t done, uint64_t bytes,
                  struct packet_message *message)
{
    *message = w->message;
    message->at = v->at + done * acclib_dtype_bytes(w->wire);
    return v->type == w->wire && acclib_direct_suits(w->device, element(v, done), bytes);
}

uint32_t acclib_vector_put(const struct walk *w, uint32_t to, const struct vector *v)
{
    uint64_t done = 0;
    uint32_t bits = 0;

    do {
        struct packet_message message;
        uint64_t bytes, n = rest_of(w, v, done, &bytes);
        bool sent = false;
        if (suits(w, v, done, bytes, &message))
            bits = acclib_packets_send_direct(w->device, w->op->comm, to, &message,
                                              element(v, done), w->wire, n, !done, &sent);
        if (!bits && !sent) {
            n = n < piece_most(w) ? n : piece_most(w);
            bits = acclib_piece_put(w, to, n ? element(v, done) : NULL, v->type, n);
        }
        done += n;
    } while (!bits && done < v->count);

    return bits;
}

/* Tells the sender that there is room for the rest from DONE on, if it may go without a copy. */
static void expect_rest(struct vector_get *g, uint64_t done)
{
    const struct walk *w = g->walk;
    uint64_t bytes;
    rest_of(w, &g->vector, done, &bytes);
    bool direct = suits(w, &g->vector, done, bytes, &g->message);

    acclib_wish_make(&g->wish, w->device, w->op->comm, g->from, &g->message, ACCL_RECV,
                     ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    if (direct)
        acclib_direct_expect(&g->wish, element(&g->vector, done), w->wire, bytes);
}

void acclib_vector_expect(struct vector_get *g, const struct walk *w, uint32_t from,
                          const struct vector *v)
{
    *g = (struct vector_get){.walk = w, .vector = *v, .from = from};
    expect_rest(g, 0);
}

void acclib_vector_drop(struct vector_get *g)
{
    acclib_direct_withdraw(&g->wish);
}

uint32_t acclib_vector_get(struct vector_get *g)
{
    const struct walk *w = g->walk;
    const struct vector *v = &g->vector;
    uint64_t done = 0;
    uint32_t bits = 0;

    do {
        if (done)
            expect_rest(g, done);
        uint64_t bytes, rest = rest_of(w, v, done, &bytes);
        uint64_t most = piece_most(w), n = rest < most ? rest : most;
        struct incoming *m;
        bits = acclib_packets_take_next(&g->wish, w->wire, n, rest, &m);
        if (bits)
            break;
        struct list_node *part = m->parts.first;
        if (m->direct)
            n = rest;
        if (part != NULL)
            acclib_convert(element(v, done), v->type, post_of(part)->data + post_of(part)->taken,
                           w->wire, n, false);
        acclib_incoming_free(m);
        done += n;
    } while (done < v->count);

    return bits;
}
