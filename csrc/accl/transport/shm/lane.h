/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: what the members of a communicator show to each other of their collective calls.
 *
 * Every member has a lane in its memory file: a few posts, used in turn, the number of the last
 * call that it is done with, and its notes of calls. A post has its call's signature, so a rank
 * that waits for a post finds out whether the ranks agree. One that does not wait, such as the root
 * of a small broadcast, finds it out from the notes, which stand beside the number that it reads
 * anyway.
 *
 * The executor calls these functions; those that return error bits may wait, but for those about
 * notes.
 */
#ifndef ACCL_LANE_H
#define ACCL_LANE_H

#include "accl/base/operation.h"
#include "accl/transport/shm/peer.h"

/* How long it took others to get arrays of this rank: in rounds, and read where they are. */
#define ARRAY_SIZES 64
struct array_ways {
    uint64_t call; /* the last one that had a choice; 0: none */
    uint8_t size;  /* of its array, by the logarithm */
    bool read;     /* chosen */
    int64_t began;
    uint64_t own_ns; /* until it was posted */
    uint32_t made[ARRAY_SIZES];
    uint64_t ns[ARRAY_SIZES][2]; /* by size and way; 0: not known */
};

/* The lanes of a communicator. */
struct lanes {
    struct lane *own;
    struct lane_entry *entry; /* where others find it */
    uint64_t all_done;        /* known: everybody is done with that many calls */
    uint64_t scratch;         /* of the heap, for the call that is executed; 0 if there is none */
    uint64_t window;          /* of the heap, for calls in rounds; 0 until there is one */
    uint64_t window_call;     /* the last call that used it */
    int64_t read_began;       /* when what is timed could be read in this call; 0: nothing is */
    struct array_ways ways;
    /* By post: memory of the heap that it refers to, if this rank did not wait for its readers. */
    struct lane_block {
        uint64_t offset, bytes;
    } kept[LANE_POSTS];
    struct lane *of[]; /* by member; NULL until found */
};

/* A copy of what another rank posted. */
struct lane_seen {
    uint8_t source_type, result_type;
    uint64_t source, result; /* offsets, which are still to be checked */
    /* By acclib_direct_wait() alone. */
    uint64_t source_copy, result_copy;
    bool timed;
    const uint8_t *data; /* LANE_INLINE bytes in its memory */
};

static inline struct lane_post *lane_post_of(struct lane *lane, uint64_t number)
{
    return &lane->posts[number % LANE_POSTS];
}

/* --- notes of calls --- */

/* Shows the others which call is executed. */
void acclib_lane_show_call(const struct communicator *comm);

/* CALL_MISMATCH_ERROR if some members made different calls, with a text that says which; else 0. */
uint32_t acclib_lane_compare_calls(accl_device *device, const struct communicator *comm);

/* --- waiting for the others ---
 *
 * A rank that sleeps there, and has posted an array that a member cannot read, posts a copy. */

/* Waits until member INDEX has posted call NUMBER: CALL_MISMATCH_ERROR if it has another
 * signature. */
uint32_t acclib_lane_wait_post(accl_device *device, const struct operation *op, uint32_t index,
                               uint64_t number, uint32_t signature, struct lane_seen *seen);

/* Waits until member INDEX has made so many ROUNDS of call NUMBER, by one of the words of its lane,
 * or has got further. */
uint32_t acclib_lane_wait_rounds(accl_device *device, const struct operation *op, uint32_t index,
                                 uint64_t number, const struct lane_rounds *words, uint64_t rounds);

/* Waits until member INDEX, or every member, is done with call NUMBER. */
uint32_t acclib_lane_wait_done_by(accl_device *device, const struct operation *op, uint32_t index,
                                  uint64_t number);
/* Waits until member INDEX has posted a copy of an array that this rank cannot read, and does not
 * use. Posts one of its own array, for which that member may wait. */
uint32_t acclib_lane_ask_copy(accl_device *device, const struct operation *op, uint32_t index,
                              uint64_t number);
/* CALL_MISMATCH_ERROR if member INDEX, which is done with call NUMBER, made another one. */
uint32_t acclib_lane_check_note(accl_device *device, const struct operation *op, uint32_t index,
                                uint64_t number);
uint32_t acclib_lane_wait_done(accl_device *device, const struct operation *op, uint64_t number);

/* --- showing --- */

/* Shows POST, which is filled in but for its note and number. */
void acclib_lane_publish(accl_device *device, const struct operation *op, struct lane_post *post,
                         uint64_t number);

/* Shows that this rank has posted no array for call NUMBER, or no longer. */
void acclib_lane_show_copy(accl_device *device, const struct communicator *comm, uint64_t number);

/* This rank is done with call NUMBER: it reads nothing of the others any more. */
void acclib_lane_finish(accl_device *device, const struct operation *op, uint64_t number);

void acclib_lane_wake_members(accl_device *device, const struct communicator *comm);

#endif
