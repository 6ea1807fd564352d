/* SPDX-License-Identifier: BSD-3-Clause */
/* The lanes of a communicator. Called by the executor; the functions that return bits may wait. */
#ifndef ACCL_LANE_H
#define ACCL_LANE_H

#include "accl/engine/engine.h"

/* A copy of what another rank posted. */
struct lane_seen {
    uint8_t source_type, result_type;
    uint64_t source, result; /* offsets, which are still to be checked */
    const uint8_t *data;     /* LANE_INLINE bytes in its memory */
};

struct lane_post *lane_post_of(struct lane *lane, uint64_t number);

/* Of what must be the same on all ranks, in this call and in those before. */
uint32_t lane_signature(const struct operation *op);

/* Before the first call of a communicator: nobody leaves before all have found its lane. */
uint32_t lanes_meet(accl_device *device, const struct operation *op);

/* Call NUMBER is the one that is executed from here on. */
void lane_begin_call(struct communicator *comm, const struct accl_call *call, uint64_t number);
/* The operation and root of that call, as others are told of it: the operation in bits 12 to 15. */
uint32_t lane_call(const struct communicator *comm);
/* What another rank told of a call: its number, lane_call() and signature. */
struct call_told {
    uint64_t number;
    uint32_t note, signature;
};
/* CALL_MISMATCH_ERROR, with a text, if that is another call than this rank made as that number; 0
 * if it is the same, or if it is not known (any more). */
uint32_t lane_compare_call(accl_device *device, const struct communicator *comm, uint32_t index,
                           const struct call_told *told);
/* The others can see which one it is. */
void lane_show_call(const struct communicator *comm);

/* Until member INDEX has posted call NUMBER, with this signature, else CALL_MISMATCH_ERROR. */
uint32_t lane_wait_post(accl_device *device, const struct operation *op, uint32_t index,
                        uint64_t number, uint32_t signature, struct lane_seen *seen);
/* Until member INDEX, or every member, is done with call NUMBER. */
uint32_t lane_wait_done_by(accl_device *device, const struct operation *op, uint32_t index,
                           uint64_t number);
uint32_t lane_wait_done(accl_device *device, const struct operation *op, uint64_t number);

void lane_publish(accl_device *device, const struct operation *op, struct lane_post *post,
                  uint64_t number);
void lane_finish(accl_device *device, const struct operation *op, uint64_t number);
void lane_wake_members(accl_device *device, const struct communicator *comm);

#endif
