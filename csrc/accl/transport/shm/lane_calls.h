/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of calls in lanes.
 *
 * A post has its call's signature, so a rank that waits for a post finds out whether the ranks
 * agree. A rank that does not wait, such as the root of a small broadcast, does not: therefore each
 * rank also shows its notes of calls beside the number that it is done with, which the others read
 * anyway.
 *
 * The executor calls these functions; none waits.
 */
#ifndef ACCL_LANE_CALLS_H
#define ACCL_LANE_CALLS_H

#include "accl/transport/shm/lane.h"

/* Shows the others which call is executed. */
void acclib_lane_show_call(const struct communicator *comm);

/* The note that LANE has of call NUMBER, if it is of that call. */
uint16_t acclib_lane_note_of(const struct lane *lane, uint64_t number);

/* CALL_MISMATCH_ERROR if some members made different calls, with a text that says which; else 0. */
uint32_t acclib_lane_compare_calls(accl_device *device, const struct communicator *comm);

/* CALL_MISMATCH_ERROR: member INDEX made another call, by its NOTE or by its signature. */
uint32_t acclib_lane_differs(accl_device *device, const struct communicator *comm, uint32_t index,
                             uint64_t number, uint16_t note);

#endif
