/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_calls.h"

#include "accl/transport/call_notes.h"
#include "accl/transport/shm/lane_meet.h"

_Static_assert(LANE_NOTES == CALL_NOTES, "a lane has all notes of its communicator");
_Static_assert(LANE_MEMBERS == RANKS_MAX, "a lane has a bit for each member");

uint16_t acclib_lane_note_of(const struct lane *lane, uint64_t number)
{
    return atomic_load_explicit(&lane->notes[number % LANE_NOTES], memory_order_relaxed);
}

/* A call_note_source. */
static uint16_t note_of_member(const struct communicator *comm, uint32_t index, uint64_t number)
{
    const struct lane *lane = comm->lanes->of[index];
    return lane != NULL ? acclib_lane_note_of(lane, number) : 0;
}

void acclib_lane_show_call(const struct communicator *comm)
{
    uint64_t place = comm->current % LANE_NOTES;
    if (comm->current)
        atomic_store_explicit(&comm->lanes->own->notes[place], comm->notes[place],
                              memory_order_relaxed);
}

uint32_t acclib_lane_compare_calls(accl_device *device, const struct communicator *comm)
{
    uint64_t last = comm->current;
    acclib_lane_look(device, comm);
    for (uint64_t number = last < LANE_NOTES ? 1 : last - LANE_NOTES + 1; number <= last; number++)
        for (uint32_t i = 0; i < comm->n; i++) {
            uint16_t own = call_note(comm, number);
            if (i == comm->me || comm->lanes->of[i] == NULL || !call_note_is_of(own, number))
                continue;

            uint16_t note = note_of_member(comm, i, number);
            if (note != own && call_note_is_of(note, number))
                return acclib_call_tell(device, comm, number, i, note, note_of_member);
        }
    return 0;
}

uint32_t acclib_lane_differs(accl_device *device, const struct communicator *comm, uint32_t index,
                             uint64_t number, uint16_t note)
{
    acclib_lane_show_call(comm);
    uint32_t bits = acclib_lane_compare_calls(device, comm);
    if (bits)
        return bits;

    if (call_note_is_of(note, number) && note != call_note(comm, number))
        return acclib_call_tell(device, comm, number, index, note, note_of_member);
    return acclib_call_differs(device, comm, number, index);
}
