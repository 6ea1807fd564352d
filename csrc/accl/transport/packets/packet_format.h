/* SPDX-License-Identifier: BSD-3-Clause */
/* Format of a packet between two ranks: this header, then the payload. Little-endian. */
#ifndef ACCL_PACKET_FORMAT_H
#define ACCL_PACKET_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define PACKET_MAGIC UINT32_C(0x70636c61)
#define PACKET_VERSION 1

/* X(name, value, whether a payload is allowed) */
#define PACKET_KINDS(X) \
    X(HELLO, 1, 0)    /* the sender and its rx buffers; the first packet */ \
    X(EAGER, 2, 1)    /* a message, from its beginning */ \
    X(DATA, 3, 1)     /* more of one */ \
    X(RTS, 4, 0)      /* a message that is too large to be sent eagerly */ \
    X(CTS, 5, 0)      /* it may come */ \
    X(DROP, 6, 0)     /* it is not wanted; its tag says why */ \
    X(CANCEL, 7, 0)   /* its sender gave it up */ \
    X(ACK, 8, 0)      /* nothing but the counts that every packet has */ \
    X(PROBE, 9, 0)    /* the sender waits for such counts */ \
    X(GAVE_UP, 10, 0) /* a collective failed: the communicator's key; its tag and call */ \
    X(BYE, 11, 0)     /* the last of all */ \
    X(READY, 12, 0)   /* a receive waits: see direct.h */ \
    X(DIRECT, 13, 0)  /* a message whose data follow by themselves */

enum packet_kind {
#define PACKET_ENUM(name, value, payload) PACKET_##name = value,
    PACKET_KINDS(PACKET_ENUM)
#undef PACKET_ENUM
};

enum packet_drop { DROP_UNWANTED, DROP_NO_MEMORY };

/* Messages of users, and those that collectives are made of, do not wait for each other. */
enum packet_channel { CHANNEL_USER, CHANNEL_COLLECTIVE, CHANNELS };

struct packet_header {
    uint32_t magic;
    uint8_t version;
    uint8_t kind;
    uint8_t channel;
    uint8_t wire_type;
    uint32_t from;               /* rank */
    uint32_t segments;           /* that the message counts for; HELLO: rx buffers */
    uint64_t consumed[CHANNELS]; /* segments of the destination's messages, so far */
    uint64_t id;                 /* of the message in its channel, from 1 */
    uint64_t key;                /* of the communicator; HELLO: of the list of ranks */
    uint64_t total;              /* bytes of the message; HELLO: of an rx buffer */
    uint64_t offset;             /* DATA: where it goes in the message; READY, DIRECT: a name */
    uint32_t payload;            /* bytes after the header */
    uint32_t tag;                /* HELLO: number of ranks */
    uint32_t sequence;
    uint32_t numbers; /* sequence numbers that the message takes */
    uint32_t stream;  /* number + 1 of a stream put, else 0 */
    uint32_t call;    /* of a collective: the note of its sender's call */
};
_Static_assert(sizeof(struct packet_header) == 88, "no holes");

/* No message is larger. */
#define PACKET_TOTAL_MAX (UINT64_C(1) << 48)

/* Checks a packet of BYTES from rank FROM by itself, without its context: NULL, or what is wrong.
 */
const char *acclib_packet_flaw(const struct packet_header *header, uint64_t bytes, uint32_t from);

#endif
