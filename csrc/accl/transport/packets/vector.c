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

/* True if the rest may go to a member, or come from it, without a copy; fills in its message. */
static bool suits(const struct walk *w, uint32_t with, const struct vector *v, uint64_t done,
                  uint64_t bytes, struct packet_message *message)
{
    uint32_t rank = w->op->comm->members[with].rank;
    *message = w->message;
    message->at = v->at + done * acclib_dtype_bytes(w->wire);
    return v->type == w->wire && acclib_direct_suits(w->device, rank, element(v, done), bytes);
}

/* Sends the next part of the vector; what is lent to MPI for it is noted in p->lent. */
static uint32_t put_part(struct vector_put *p)
{
    const struct walk *w = p->walk;
    const struct vector *v = &p->vector;
    uint64_t bytes, n = rest_of(w, v, p->done, &bytes);
    uint32_t bits = 0;
    bool sent = false;

    if (suits(w, p->to, v, p->done, bytes, &p->message))
        bits = acclib_packets_direct_begin(&p->request, w->device, w->op->comm, p->to, &p->message,
                                           element(v, p->done), w->wire, bytes, !p->done, &sent);
    if (!bits && !sent) {
        n = n < piece_most(w) ? n : piece_most(w);
        bits = acclib_piece_put(w, p->to, n ? element(v, p->done) : NULL, v->type, n);
    }
    if (!bits)
        p->done += n;
    p->lent = sent ? bytes : 0;

    return bits;
}

/* Until the first part that is lent, which may be the last. */
uint32_t acclib_vector_put_begin(struct vector_put *p, const struct walk *w, uint32_t to,
                                 const struct vector *v)
{
    *p = (struct vector_put){.walk = w, .vector = *v, .to = to};
    uint32_t bits = 0;
    do {
        bits = put_part(p);
    } while (!bits && !p->lent && p->done < v->count);

    return bits;
}

uint32_t acclib_vector_put_end(struct vector_put *p)
{
    uint32_t bits = p->lent ? acclib_packets_direct_end(&p->request, p->lent) : 0;
    while (!bits && p->done < p->vector.count) {
        bits = put_part(p);
        if (p->lent)
            bits = acclib_packets_direct_end(&p->request, p->lent);
    }

    return bits;
}

void acclib_vector_put_drop(struct vector_put *p)
{
    if (p->lent)
        acclib_direct_drop(&p->request);
}

uint32_t acclib_vector_put(const struct walk *w, uint32_t to, const struct vector *v)
{
    struct vector_put p;
    uint32_t bits = acclib_vector_put_begin(&p, w, to, v);
    return bits ? bits : acclib_vector_put_end(&p);
}

/* Tells the sender that there is room for the rest from DONE on, if it may go without a copy. */
static void expect_rest(struct vector_get *g, uint64_t done)
{
    const struct walk *w = g->walk;
    uint64_t bytes;
    rest_of(w, &g->vector, done, &bytes);
    bool direct = suits(w, g->from, &g->vector, done, bytes, &g->message);

    acclib_packet_request_make(&g->request, w->device, w->op->comm, g->from, &g->message, ACCL_RECV,
                               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    if (direct)
        acclib_direct_expect(&g->request, element(&g->vector, done), w->wire, bytes);
}

void acclib_vector_expect(struct vector_get *g, const struct walk *w, uint32_t from,
                          const struct vector *v)
{
    *g = (struct vector_get){.walk = w, .vector = *v, .from = from};
    expect_rest(g, 0);
}

void acclib_vector_drop(struct vector_get *g)
{
    acclib_direct_withdraw(&g->request);
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
        if (rest == v->count && g->request.posted == NULL &&
            acclib_piece_catch(w, g->from, v->data, v->type, n))
            break;
        struct incoming *m;
        bits = acclib_packets_take_next(&g->request, w->wire, n, rest, &m);
        if (bits)
            break;
        struct list_node *part = m->parts.first;
        if (m->direct)
            n = rest;
        if (part != NULL)
            acclib_convert(element(v, done), v->type,
                           packet_of(part)->data + packet_of(part)->taken, w->wire, n, false);
        acclib_incoming_free(m);
        done += n;
    } while (done < v->count);

    return bits;
}
