/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are reached by packets: what is known of them, and the messages that came.
 *
 * Two threads use this: the executor, and the one that carries packets. All of it is guarded by the
 * lock of `struct packets`, except the memory of a message that was taken off its list.
 */
#ifndef ACCL_PACKETS_STATE_H
#define ACCL_PACKETS_STATE_H

#include <pthread.h>

#include "accl/base/device.h"
#include "accl/transport/mpi/mpi.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/packets/packet_format.h"
#include "accl/transport/packets/packet_pool.h"

/* Messages of collectives that may be in flight to a rank, and the largest eager one. */
#define COLLECTIVE_WINDOW 64
#define COLLECTIVE_EAGER (UINT64_C(128) << 10)

/* A packet in memory: to go out, being carried, being filled, or the data of a message. */
struct packet {
    struct list_node in_list;
    uint64_t id;
    uint32_t rank;
    uint64_t bytes, taken;
    union mpi_request request; /* while an MPI library carries it */
    struct packet_pool *pool;  /* that its memory returns to, or NULL */
    /* Data without a header: see direct.h. */
    void *lent;                /* where BYTES are, or NULL: in this packet */
    struct heap *heap;         /* that LENT belongs to, or NULL */
    struct incoming *incoming; /* that they are received for */
    bool *left;                /* set when they have been sent */
    /* See carrier_receive.c and carrier_move.c. */
    bool here;                /* has come, after a packet that is not complete yet */
    bool has_length;          /* its length was sent before it, and MPI has that message */
    union mpi_request length; /* that message */
    _Alignas(8) uint8_t data[];
};

static inline struct packet *packet_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct packet, in_list);
}

struct incoming {
    struct list_node in_channel;
    struct packet_header header; /* of its first packet */
    bool rendezvous;             /* it came as an RTS */
    bool cleared, cancelled, discarded;
    bool direct;               /* its data come without packets */
    bool lost;                 /* a stream put that there was no memory for */
    uint64_t have;             /* bytes that have come */
    struct list parts;         /* struct packet */
    struct stream_chunk *room; /* of a stream put */
};

static inline struct incoming *incoming_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct incoming, in_channel);
}

/* Returns the call of the sender, as the header of a collective's packet describes it. */
static inline struct call_told packet_told(const struct packet_header *h)
{
    return (struct call_told){.number = h->tag, .note = h->call, .signature = h->sequence};
}

struct packet_link {
    bool greeted, left, lost;
    bool far; /* on another host, as both sides know */
    char why[160];
    uint32_t slot_count; /* its rx buffers */
    uint64_t slot_bytes;
    struct packet_channel_state {
        /* outgoing */
        uint64_t sent, acknowledged;    /* segments */
        uint64_t last_id;               /* of messages */
        uint64_t requested;             /* the one that waits for an answer, else 0 */
        bool cleared, dropped, refused; /* for lack of memory */
        bool probed;
        /* incoming */
        uint64_t came, consumed; /* segments */
        uint64_t told;           /* of CONSUMED, with the last packet */
        uint64_t next_id;
        bool wants_count;         /* it waits for what is consumed */
        struct list messages;     /* struct incoming, in the order of their ids */
        struct incoming *partial; /* eager, and not complete yet */
        /* struct posted of this rank and struct ready of the other one: direct.h */
        struct list posted, ready;
    } channel[CHANNELS];
};

struct gave_up {
    struct list_node in_packets;
    uint64_t key;
    uint32_t rank;
    struct call_told told; /* of the collective at which it did */
};

static inline struct gave_up *gave_up_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct gave_up, in_packets);
}

struct carrier;

struct packets {
    struct carrier *_Atomic carrier; /* or NULL: the caller carries */
    struct packet_pool pool;
    pthread_mutex_t lock;
    pthread_cond_t changed;            /* something to carry, or a wake-up */
    uint64_t list_key;                 /* of the list of ranks: the same for all */
    struct packet_link *links;         /* by rank */
    struct list out, carried, filling; /* struct packet */
    struct list announced;             /* the same, for data to come; the carrier's */
    uint64_t next_id, wakes;
    uint32_t shared_yields; /* see packet_request.c; the executor's */
    _Atomic uint32_t crowd; /* yields that let others run, less those that did not; the same */
    bool has_left;          /* the last packets are queued: nothing may follow them */
    _Atomic uint64_t outstanding;
    _Atomic uint64_t out_bytes;
    _Atomic uint32_t queued;   /* packets of OUT */
    _Atomic uint32_t failures; /* entries of GAVE_UP */
    struct list gave_up;       /* struct gave_up */
};

#define CROWD_MOST 16
/* True if most of the recent yields let another thread run, as ranks share cores. Any thread. */
static inline bool packets_are_crowded(const struct packets *p)
{
    return atomic_load_explicit(&p->crowd, memory_order_relaxed) > CROWD_MOST / 2;
}

#endif
