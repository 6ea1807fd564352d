/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_meet.h"

#include <stdlib.h>
#include <string.h>

#include "accl/transport/call_notes.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/shm/lane_leave.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

int acclib_lane_join(accl_device *device, struct communicator *comm)
{
    struct lane_entry *entry = device->header->lanes, *end = entry + ARENA_LANES;
    acclib_lanes_reclaim(device);
    while (entry < end && atomic_load(&entry->key))
        entry++;
    if (entry == end)
        return acclib_fail(ACCL_NO_MEMORY,
                           "too many communicators: the limit is %d; of those between hosts each "
                           "counts several times, and those that were freed count until all ranks "
                           "have freed them",
                           ARENA_LANES);

    struct lanes *lanes = calloc(1, sizeof *lanes + comm->n * sizeof *lanes->of);
    uint64_t offset = lanes != NULL ? acclib_heap_get(device->heap, sizeof(struct lane)) : 0;
    if (!offset) {
        free(lanes);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (lane of a communicator)");
    }

    lanes->own = (struct lane *)(void *)(device->heap->base + offset);
    memset(lanes->own, 0, sizeof *lanes->own);
    lanes->of[comm->me] = lanes->own;
    lanes->entry = entry;
    comm->lanes = lanes;

    entry->offset = offset;
    atomic_store(&entry->key, comm->key);

    /* Members may wait for it. */
    for (uint32_t i = 0; i < comm->n; i++)
        if (i != comm->me)
            wake_later(device, comm->members[i].rank);
    acclib_wake_flush(device);

    return ACCL_OK;
}

/* True if the lane of member INDEX is known; searches its file if not. */
static bool look_for_lane(const struct communicator *comm, uint32_t index, const struct peer *peer)
{
    struct lane **lane = &comm->lanes->of[index];
    if (*lane == NULL)
        *lane = acclib_lane_find_in(peer, comm->key);
    return *lane != NULL;
}

bool acclib_lane_look(const accl_device *device, const struct communicator *comm)
{
    bool all = true;
    for (uint32_t i = 0; i < comm->n; i++)
        all &= look_for_lane(comm, i, peer_of(device, comm->members[i].rank));
    return all;
}

/* True if member INDEX has started, and its memory is mapped. */
static bool is_there(const struct communicator *comm, uint32_t index, const struct peer *peer)
{
    (void)comm;
    (void)index;
    return peer->arena != NULL;
}

/* Until READY, which is asked again and again, of member INDEX. */
static uint32_t wait_for_member(accl_device *device, const struct operation *op, uint32_t index,
                                bool (*ready)(const struct communicator *comm, uint32_t index,
                                              const struct peer *peer))
{
    struct communicator *comm = op->comm;
    struct member *member = &comm->members[index];
    struct peer *peer = peer_of(device, member->rank);
    struct waiter w;
    uint32_t bits = 0;
    int64_t tried = 0, pause = ATTACH_FIRST_NS;
    bool noted = false;

    acclib_wait_begin(&w, device, comm, member->rank, true, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!bits && !ready(comm, index, peer)) {
        if (peer->arena == NULL && clock_now() - tried > pause) {
            tried = clock_now();
            pause = pause < ATTACH_LAST_NS ? 2 * pause : pause;
            bits = acclib_attach_try(device, peer);
            continue;
        }
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, op->call->operation, member->rank, 0, (uint32_t)comm->calls,
                             comm->key);
        }
        bits = peer->arena != NULL ? acclib_wait_pause(&w) : acclib_wait_pause_briefly(&w, pause);
        /* A rank that is gone may have left it there. An interrupt stays: its signal was taken. */
        if (bits && bits != ACCL_ERROR(INTERRUPTED_ERROR) && ready(comm, index, peer))
            bits = 0;
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        acclib_call_fail(
            device, bits,
            "%s: rank %u did not %s communicator %u (key %016llx) within the timeout of %u ms%s%s",
            acclib_call_name(comm, op->call), communicator_shown(comm, index),
            peer->arena != NULL ? "make" : "start and join", comm->id,
            (unsigned long long)comm->key, device->timeout_ms,
            peer->arena != NULL ? "" : ", or had ended before any other rank saw it",
            peer->arena != NULL ? "" : acclib_meeting_rule);

    return bits;
}

uint32_t acclib_lane_find(accl_device *device, const struct operation *op, uint32_t index)
{
    return wait_for_member(device, op, index, look_for_lane);
}

uint32_t acclib_lane_meet(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    uint32_t bits = 0;

    /* First those that are already running: their processes are then watched. */
    for (uint32_t i = 0; i < comm->n; i++)
        acclib_attach_try(device, peer_of(device, comm->members[i].rank));

    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = wait_for_member(device, op, i, is_there);
    comm->met = !bits;

    return bits;
}
