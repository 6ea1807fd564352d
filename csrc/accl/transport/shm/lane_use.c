/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_use.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "accl/transport/shm/hello.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/wait.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

/* A member that runs ends soon; one that does not is asked now and then. */
#define YIELD_NS (2 * CLOCK_MILLISECOND)
#define PAUSE_NS CLOCK_MILLISECOND

void acclib_lane_use(const struct communicator *comm, uint64_t number)
{
    atomic_store_explicit(&comm->lanes->own->uses, number, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

uint32_t acclib_lane_may_use(accl_device *device, struct communicator *comm, uint32_t index,
                             uint64_t number)
{
    const struct lane *lane = comm->lanes->of[index];
    uint64_t gave_up =
        lane != NULL ? atomic_load_explicit(&lane->gave_up, memory_order_acquire) : 0;
    if (!gave_up || gave_up > number)
        return 0;

    uint32_t bits = acclib_lane_compare_calls(device, comm);
    if (bits)
        return bits;
    return acclib_call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                            "rank %u (of communicator 0) gave up communicator %u after an error of "
                            "its own",
                            comm->members[index].rank, comm->id);
}

uint64_t acclib_lane_source(const struct communicator *comm, uint32_t index, uint64_t number)
{
    const struct lane_post *post = lane_post_of(comm->lanes->of[index], number);
    return __atomic_load_n(&post->source, __ATOMIC_ACQUIRE);
}

void acclib_lane_used(const struct communicator *comm)
{
    atomic_store_explicit(&comm->lanes->own->uses, 0, memory_order_release);
}

/* True while member INDEX touches what was posted for call NUMBER. */
static bool is_used(accl_device *device, const struct communicator *comm, uint32_t index,
                    uint64_t number)
{
    const struct lane *lane = comm->lanes->of[index];
    if (index == comm->me || lane == NULL || atomic_load(&lane->uses) != number ||
        atomic_load(&lane->done) >= number)
        return false;

    return !acclib_peer_is_dead(peer_of(device, comm->members[index].rank));
}

static void wait_until_unused(accl_device *device, const struct communicator *comm, uint32_t index,
                              uint64_t number, int64_t began)
{
    while (is_used(device, comm, index, number)) {
        int64_t waited = clock_now() - began;
        if (waited > COPY_ENDS_NS) {
            size_t length = strlen(device->text);
            snprintf(device->text + length, sizeof device->text - length,
                     "; rank %u still uses the buffers of this call (is it stopped?)",
                     communicator_shown(comm, index));
            device->lingers = true;
            return;
        }
        if (waited < YIELD_NS)
            acclib_wait_yield(device);
        else
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

void acclib_lane_withdraw(accl_device *device, struct communicator *comm, uint64_t number)
{
    struct lane *own = comm->lanes->own;
    acclib_lane_used(comm);
    acclib_lane_show_call(comm);
    atomic_store_explicit(&own->gave_up, number, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    acclib_lane_wake_members(device, comm);
    acclib_wake_flush(device);

    /* A member whose lane is not there yet has used nothing, and sees it. */
    acclib_lane_look(device, comm);
    int64_t began = clock_now();
    for (uint32_t i = 0; i < comm->n; i++)
        wait_until_unused(device, comm, i, number, began);
}
