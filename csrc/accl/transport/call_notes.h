/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of the collective calls that the members of a communicator made, for error messages.
 *
 * A call's signature covers its arguments and all calls before it: with it ranks find out whether
 * they agree. It does not say how they differ, so each rank also notes operation and root of its
 * last calls (comm->notes), and transports show these notes to the other members.
 *
 * The executor calls these functions; none waits.
 */
#ifndef ACCL_CALL_NOTES_H
#define ACCL_CALL_NOTES_H

#include "accl/base/device.h"
#include "accl/base/operation.h"

/* Call of another rank, as that rank described it. */
struct call_told {
    uint64_t number;
    uint32_t note, signature;
};

/* Returns the note of member INDEX on call NUMBER; any value if it is not known. */
typedef uint16_t (*call_note_source)(const struct communicator *comm, uint32_t index,
                                     uint64_t number);

/* OP is executed from here on, as call NUMBER of its communicator. */
void acclib_call_begin(const struct operation *op, uint64_t number);

/* True if NOTE is one of call NUMBER. */
static inline bool call_note_is_of(uint32_t note, uint64_t number)
{
    return note >> 12 && (note & 3) == (number / CALL_NOTES & 3);
}

/* This rank's note of call NUMBER, which may be of an earlier one. */
static inline uint16_t call_note(const struct communicator *comm, uint64_t number)
{
    return comm->notes[number % CALL_NOTES];
}

/* An enum accl_operation. */
static inline uint32_t call_note_operation(uint32_t note)
{
    return note >> 12;
}

static inline uint32_t call_note_root(uint32_t note)
{
    return note >> 2 & 1023;
}

/* The name of the user's call that is executed on COMM, or that a step on it is part of. */
const char *acclib_call_name(const struct communicator *comm, const struct accl_call *call);

/* CALL_MISMATCH_ERROR, with a text of what the members call as number NUMBER: member INDEX noted
 * NOTE, and the others what SOURCE (may be NULL) says. */
uint32_t acclib_call_tell(accl_device *device, const struct communicator *comm, uint64_t number,
                          uint32_t index, uint16_t note, call_note_source source);

/* Describes this rank's executed call, in parentheses; returns TEXT, which may be empty. */
#define CALL_HERE_BYTES 96
const char *acclib_call_here(const accl_device *device, char text[CALL_HERE_BYTES]);

/* CALL_MISMATCH_ERROR: call NUMBER of member INDEX differs in what notes do not have. */
uint32_t acclib_call_differs(accl_device *device, const struct communicator *comm, uint64_t number,
                             uint32_t index);

/* CALL_MISMATCH_ERROR, with a text, if member INDEX told of another call than this rank made as
 * that number; 0 if it is the same, or if it is not known (any more). */
uint32_t acclib_call_compare(accl_device *device, const struct communicator *comm, uint32_t index,
                             const struct call_told *told);

#endif
