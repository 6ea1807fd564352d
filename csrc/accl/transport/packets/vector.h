/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors that collectives copy from one member to another: in one message without a copy between
 * where both sides are ready (direct.h), else in pieces (pieces.h). Which it is may change after
 * each piece; the sender decides, and the receiver takes what comes.
 *
 * The executor's. A vector is named by AT, which is different for all vectors from one member to
 * another in a collective.
 */
#ifndef ACCL_PACKETS_VECTOR_H
#define ACCL_PACKETS_VECTOR_H

#include "accl/transport/packets/pieces.h"

/* Bytes that members exchange, or pass on, before they go on to the next ones: few enough that all
 * of it may be sent before any is received. */
#define VECTOR_STEP (UINT64_C(1) << 20)

struct vector {
    uint64_t at;
    uint8_t *data;
    uint32_t type;
    uint64_t count;
};

/* A vector that is to be received. */
struct vector_get {
    const struct walk *walk;
    struct vector vector;
    uint32_t from;
    struct packet_request request;
    struct packet_message message;
};

/* A vector that is being sent. */
struct vector_put {
    const struct walk *walk;
    struct vector vector;
    uint32_t to;
    uint64_t done; /* elements that were sent or lent to MPI */
    uint64_t lent; /* bytes of them that MPI may still read */
    struct packet_request request;
    struct packet_message message;
};

/* Begins to send a vector to member TO. Unless there are error bits, acclib_vector_put_end() or
 * acclib_vector_put_drop() follows with *PUT at the same place, and the vector stays as it is until
 * then. */
uint32_t acclib_vector_put_begin(struct vector_put *put, const struct walk *w, uint32_t to,
                                 const struct vector *v);

/* Waits until all of it has left. */
uint32_t acclib_vector_put_end(struct vector_put *put);

/* The rest of it will not be sent. */
void acclib_vector_put_drop(struct vector_put *put);

/* Sends a vector to member TO. */
uint32_t acclib_vector_put(const struct walk *w, uint32_t to, const struct vector *v);

/* Tells member FROM that there is room; acclib_vector_get() or acclib_vector_drop() follows. */
void acclib_vector_expect(struct vector_get *get, const struct walk *w, uint32_t from,
                          const struct vector *v);

/* Receives what was expected. */
uint32_t acclib_vector_get(struct vector_get *get);

/* It will not be received. */
void acclib_vector_drop(struct vector_get *get);

/* Elements of step I of a vector of COUNT, and in *AT the first; there is one step at least. */
static inline uint64_t vector_steps(const struct walk *w, uint64_t count)
{
    uint64_t most = VECTOR_STEP / acclib_dtype_bytes(w->wire);
    return count ? (count + most - 1) / most : 1;
}

static inline uint64_t vector_step(const struct walk *w, uint64_t count, uint64_t i, uint64_t *at)
{
    uint64_t most = VECTOR_STEP / acclib_dtype_bytes(w->wire);
    *at = i * most;
    return count - *at < most ? count - *at : most;
}

#endif
