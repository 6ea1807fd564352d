/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are reached by packets: what is known of them, and the messages that came.
 *
 * Two threads are at this: the executor, and whoever carries. All of it is guarded by the lock of
 * `struct packets`, but for the memory of a message that was taken off its list.
 */
#ifndef ACCL_PACKETS_H
#define ACCL_PACKETS_H

#include "accl/engine/engine.h"
#include "accl/engine/lane.h"
#include "accl/transport/packets/packet_format.h"

/* Messages of collectives that may be under way to a rank, and the largest that goes unasked. */
#define COLLECTIVE_WINDOW 64
#define COLLECTIVE_EAGER (UINT64_C(128) << 10)

/* A packet in memory: to go out, being carried, being filled, or the data of a message. */
struct parcel_post {
    struct parcel_post *next;
    uint64_t id;
    uint32_t rank;
    uint64_t bytes, taken;
    _Alignas(8) uint8_t data[];
};

struct incoming {
    struct incoming *next;
    struct packet_header header; /* of its first packet */
    bool asked;                  /* came as a request */
    bool granted, cancelled, discarded;
    bool lost;     /* a stream put that there was no memory for */
    uint64_t have; /* bytes that have come */
    struct parcel_post *parts, **parts_end;
    struct stream_chunk *room; /* of a stream put */
};

struct packet_link {
    bool greeted, left, lost;
    char why[160];
    uint32_t slot_count; /* its rx buffers */
    uint64_t slot_bytes;
    struct packet_channel_state {
        /* outgoing */
        uint64_t sent, acknowledged;    /* segments */
        uint64_t last_id;               /* of messages */
        uint64_t requested;             /* the one that waits for an answer, else 0 */
        bool granted, dropped, refused; /* for lack of memory */
        bool probed;
        /* incoming */
        uint64_t came, consumed; /* segments */
        uint64_t next_id;
        bool wants_count; /* it waits for what is consumed */
        struct incoming *first, **end;
        struct incoming *partial; /* unasked, and the rest of it is to come */
    } channel[CHANNELS];
};

struct gave_up {
    struct gave_up *next;
    uint64_t key;
    uint32_t rank;
    struct call_told told; /* of the collective at which it did */
};

struct packets {
    pthread_mutex_t lock;
    pthread_cond_t changed;    /* something to carry, or a wake-up */
    uint64_t list_key;         /* of the list of ranks: the same for all */
    struct packet_link *links; /* by rank */
    struct parcel_post *out, **out_end, *carried, *filling;
    uint64_t next_id, outstanding, wakes;
    _Atomic uint64_t out_bytes;
    _Atomic uint64_t news; /* grows with everything that came */
    struct gave_up *gave_up;
};

/* packets.c */
int packets_open(accl_device *device, const struct accl_rank *ranks, uint32_t n);
void packets_close(accl_device *device);
static inline bool packets_reach(const accl_device *device, uint32_t rank)
{
    return device->packets && device->peers[rank].address.reach == ACCL_REACH_PACKETS;
}
/* A packet to RANK with this header and room for PAYLOAD bytes behind it; NULL without memory. */
struct parcel_post *packet_make(const accl_device *device, uint32_t rank,
                                struct packet_header header, uint64_t payload);
static inline struct packet_header *packet_header_of(struct parcel_post *post)
{
    return (struct packet_header *)(void *)post->data;
}
/* With the lock held: the packet goes out. NULL is a packet that could not be made: false. */
bool packet_put(accl_device *device, struct parcel_post *post);
/* With the lock held: one without payload. */
bool packet_put_plain(accl_device *device, uint32_t rank, enum packet_kind kind, uint32_t channel,
                      uint64_t id, uint64_t key);
void incoming_free(struct incoming *incoming);

/* packet_arrive.c: handles a packet, which it takes; with the lock held. NULL, or what is wrong. */
const char *packet_handle(accl_device *device, uint32_t rank, struct parcel_post *post);

/* With the lock held: off its list. */
void incoming_unlink(struct packet_channel_state *state, struct incoming *incoming);
/* With the lock held: its rx buffers are free again. */
void incoming_consumed(accl_device *device, uint32_t rank, const struct incoming *incoming);

/* packet_message.c */
struct packet_message {
    uint32_t channel, tag, sequence, stream;
    uint32_t call; /* of a collective */
};
/* COUNT elements to member TO; *NUMBERS gets the sequence numbers that were used. */
uint32_t packets_send(accl_device *device, struct communicator *comm, uint32_t to,
                      const struct packet_message *message, const uint8_t *data,
                      uint32_t source_type, uint32_t wire_type, uint64_t count, uint32_t *numbers);
/* The next message of member FROM. In the collectives' channel tag and sequence must be equal, else
 * CALL_MISMATCH_ERROR. */
uint32_t packets_receive(accl_device *device, struct communicator *comm, uint32_t from,
                         const struct packet_message *message, uint8_t *data, uint32_t type,
                         uint32_t wire_type, uint64_t count, uint32_t *numbers);

/* One side of a message that is being sent or received. */
struct wish {
    accl_device *device;
    struct communicator *comm;
    uint32_t index, rank; /* the other side */
    struct packet_link *link;
    struct packet_channel_state *state;
    const struct packet_message *message;
    uint32_t operation, timeout_bits;
    uint64_t segments;
    struct incoming *found;
};

void wish_make(struct wish *w, accl_device *device, struct communicator *comm, uint32_t index,
               const struct packet_message *message, uint32_t operation, uint32_t timeout_bits);
/* Until READY, which is called with the lock held, says so: 0, with the lock held. Else bits. */
uint32_t wish_wait(struct wish *w, bool (*ready)(struct wish *w));
static inline void wish_lock(const struct wish *w)
{
    pthread_mutex_lock(&w->device->packets->lock);
}
static inline void wish_unlock(const struct wish *w)
{
    pthread_mutex_unlock(&w->device->packets->lock);
}

/* packet_receive.c */
void packets_visit(accl_device *device, parcel_visit visit, void *argument);
void packets_progress_streams(accl_device *device);
void packets_reset(accl_device *device);
/* Tells the members of COMM that this rank gave it up. */
void packets_give_up(accl_device *device, const struct communicator *comm);
/* What ends a wait for RANK: error bits, with a text; 0 if it is there. */
uint32_t packets_inspect(accl_device *device, uint32_t rank, bool must_stay);
uint32_t packets_gave_up(accl_device *device, const struct communicator *comm);

#endif
