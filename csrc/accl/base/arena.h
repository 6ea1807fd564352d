/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of a rank's memory file, which the other ranks on its host map.
 *
 * The file has a header, then a heap. Blocks of the heap hold the rings that messages come in, the
 * rx buffers, the lanes of communicators, and the user's buffers. Each word is written by one side
 * only, unless it says otherwise. Offsets count from the start of the file.
 *
 * Any rank of the job may write to any word of it at any time. A word from there is read once
 * (READ_ONCE, or as an atomic), checked, and only the copy is used. What a rank knows of its own
 * file it keeps in ordinary memory.
 */
#ifndef ACCL_ARENA_H
#define ACCL_ARENA_H

#include <stdatomic.h>
#include <stdint.h>

#define ARENA_MAGIC UINT64_C(0x316c636361666f34)
#define ARENA_LINE 64
/* Of a word that other processes may write to. */
#define READ_ONCE(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define ARENA_HEADER_BYTES (64 * 1024)
#define ARENA_LANES 512
#define ARENA_RX_MAX 254
/* One more than there can be messages in flight from one sender. */
#define RING_ENTRIES 256
#define RING_INLINE 64
#define STREAM_TAKEN_BACK UINT32_MAX /* in place of a stream: the sender gave the message up */
#define LANE_POSTS 8
#define LANE_INLINE 4128      /* 4 KiB and more; a post has whole lines */
#define LANE_MEMBERS 1024     /* RANKS_MAX */
#define LANE_ARRAY UINT64_MAX /* in place of an offset: memory that other ranks cannot reach */
/* In an offset, of a lane or a message: the rest is an address in the rank's process. */
#define ARENA_AT (UINT64_C(1) << 63)
#define LANE_NOTES 16 /* as many as a communicator has: CALL_NOTES */

/* Messages: one ring per sender, in the receiver's file. */

enum entry_kind {
    ENTRY_INLINE = 1, /* the data is in the entry */
    ENTRY_POOL,       /* in a chain of rx buffers */
    ENTRY_DIRECT,     /* in the sender's file; the sender waits for it to be taken */
    ENTRY_TAKEN,      /* the receiver copies it from there */
    ENTRY_DONE,       /* it has */
    ENTRY_MOVING,     /* the sender moves it to rx buffers after all */
    ENTRY_LOST,       /* a stream put that the receiver had no memory for */
    ENTRY_UNREAD,     /* the receiver cannot read the array: the sender copies it to its file */
};

struct ring_entry {
    /* Number of the message, from 1: published when it is the awaited one. */
    _Atomic uint64_t number;
    _Atomic uint32_t kind; /* both sides, by compare and exchange, from DIRECT on */
    uint32_t tag;
    uint64_t key;
    uint64_t bytes; /* on the wire */
    uint32_t sequence;
    uint16_t segments;
    uint8_t wire_type;
    uint8_t source_type; /* of what DIRECT refers to */
    uint32_t stream;     /* number + 1 of a stream put, else 0 */
    uint32_t first;      /* POOL: index of the first rx buffer + 1 */
    uint64_t offset;     /* DIRECT: in the sender's file, or its array */
    uint32_t numbers;    /* sequence numbers that it takes */
    /* The sender passed over this entry, which is still offered, instead of using it for the
     * message with this mark; see ring_mark(). */
    _Atomic uint32_t passed;
    uint8_t data[RING_INLINE];
};
_Static_assert(sizeof(struct ring_entry) == 128, "two lines");

/* Of message NUMBER; never 0. */
static inline uint32_t ring_mark(uint64_t number)
{
    return (uint32_t)(number % UINT32_MAX) + 1;
}

struct ring {
    _Alignas(ARENA_LINE) _Atomic uint64_t consumed; /* segments, by the receiver */
    _Atomic uint32_t left;                          /* the sender has closed its device */
    _Alignas(ARENA_LINE) struct ring_entry entries[RING_ENTRIES];
};

struct rx_slot {
    _Atomic uint32_t status; /* enum accl_rx_status; senders take idle ones */
    uint32_t tag;
    uint32_t bytes;
    uint32_t source;
    uint32_t sequence;
    _Atomic uint32_t next; /* index + 1 of the message's next part, 0 at its end */
};

/* Collectives: one lane per communicator, in each member's file. */

struct lane_post {
    _Atomic uint64_t number; /* of the collective call, from 1 */
    uint32_t signature;      /* of the call's arguments */
    uint8_t source_type, result_type;
    uint16_t note;           /* the call itself; see lane.c */
    uint64_t source, result; /* offsets */
    union {
        uint8_t data[LANE_INLINE];
        /* Of calls whose data are elsewhere: offsets of operand_copies, or 0; and whether readers
         * show their time. */
        struct {
            uint64_t source_copy, result_copy;
            uint8_t timed;
        };
    };
};

struct lane {
    _Alignas(ARENA_LINE) _Atomic uint64_t done; /* the last call that this rank is done with */
    _Atomic uint16_t notes[LANE_NOTES];         /* which calls the last ones were; see lane.c */
    /* The call for which the owner touches memory that others posted; see shm/lane_use.h. Nobody
     * reads this line unless a call fails, so writing it does not wait for another core. */
    _Alignas(ARENA_LINE) _Atomic uint64_t uses;
    /* Each call reads this line, and few write it. */
    _Alignas(ARENA_LINE) _Atomic uint64_t gave_up; /* the call that failed here; 0: none */
    /* The last call for which the owner could not read another's array, and for which it put a copy
     * of its own into its file in place of one. */
    _Atomic uint64_t unread, copied;
    /* Members that freed the communicator and do not use this lane any more, by bits; each sets its
     * own. */
    _Atomic uint64_t gone[LANE_MEMBERS / 64];
    /* Rounds of a call, as the owner shows them; see shm/lane_rounds.h. */
    _Alignas(ARENA_LINE) uint64_t window; /* offset */
    struct lane_rounds {
        _Atomic uint64_t call, made; /* which call, and how many rounds of it */
    } filled, taken;
    /* How long the owner took for what others posted as timed, and in which call. */
    _Atomic uint64_t read_call, read_ns;
    _Alignas(ARENA_LINE) struct lane_post posts[LANE_POSTS];
};

struct lane_entry {
    _Atomic uint64_t key; /* 0: free */
    uint64_t offset;
};

/* The header. */

struct wait_note {
    _Atomic uint32_t version; /* odd while it is written */
    uint32_t operation;       /* 0xFFFFFFFF: does not wait */
    uint32_t peer;            /* global rank */
    uint32_t tag, sequence, reserved;
    uint64_t key;
    int64_t since;
};

struct arena_header {
    uint64_t magic;
    uint64_t bytes;
    int64_t pid;
    uint32_t rank, ranks;
    _Atomic uint32_t closed;
    _Alignas(ARENA_LINE) _Atomic uint32_t sleepers; /* threads of the owner at the doorbell */
    _Atomic uint32_t core; /* the number of the owner's + 1; 0 while it lets others run */
    _Alignas(ARENA_LINE) _Atomic uint32_t doorbell; /* futex; any process may ring it */
    _Alignas(ARENA_LINE) uint64_t rings;            /* offset of an array by sender */
    uint64_t pool, slots;                           /* offsets */
    uint64_t slot_bytes;
    uint32_t slot_count;
    /* Ranks whose own memory the owner can read, by bits; and a word there for them to try that. */
    _Atomic uint64_t reads[LANE_MEMBERS / 64];
    uint64_t trial_at, trial;
    _Alignas(ARENA_LINE) struct wait_note waits;
    _Alignas(ARENA_LINE) struct lane_entry lanes[ARENA_LANES];
};
_Static_assert(sizeof(struct arena_header) <= ARENA_HEADER_BYTES, "the header has its room");

#endif
