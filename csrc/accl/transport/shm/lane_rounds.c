/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_rounds.h"

#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/wake.h"

#define WINDOW_BYTES (LANE_ROUNDS_AHEAD * LANE_ROUND_BYTES)

_Static_assert(LANE_ROUND_BYTES >= UINT64_C(64) * RANKS_MAX, "64 bytes for each member");

/* As acclib_lane_wait_rounds() reads it. */
static void show(accl_device *device, const struct operation *op, struct lane_rounds *words,
                 uint64_t number, uint64_t rounds)
{
    atomic_store_explicit(&words->made, rounds, memory_order_release);
    atomic_store_explicit(&words->call, number, memory_order_release);
    acclib_lane_wake_members(device, op->comm);
    acclib_wake_flush(device);
}

/* Until the readers of the calls before are done with the window. */
static uint32_t begin(accl_device *device, const struct operation *op, uint64_t number)
{
    struct lanes *lanes = op->comm->lanes;
    for (uint32_t i = 0; lanes->window && i < op->comm->n; i++) {
        uint32_t bits =
            i == op->comm->me ? 0 : acclib_lane_wait_done_by(device, op, i, lanes->window_call);
        if (bits)
            return bits;
    }

    if (!lanes->window)
        lanes->window = acclib_heap_get(device->heap, WINDOW_BYTES);
    if (!lanes->window)
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes for arrays without device memory)",
                                (unsigned long long)WINDOW_BYTES);

    lanes->window_call = number;
    lanes->own->window = lanes->window;
    return 0;
}

static uint32_t wait_for_readers(accl_device *device, const struct operation *op, uint64_t number,
                                 uint32_t reader, uint64_t rounds)
{
    for (uint32_t i = 0; i < op->comm->n; i++) {
        if (i == op->comm->me || (reader != LANE_ALL_READ && reader != i))
            continue;
        struct lane *lane = op->comm->lanes->of[i];
        uint32_t bits = 0;
        if (lane == NULL && (bits = acclib_lane_find(device, op, i)))
            return bits;
        lane = op->comm->lanes->of[i];
        if ((bits = acclib_lane_wait_rounds(device, op, i, number, &lane->taken, rounds)))
            return bits;
    }

    return 0;
}

uint32_t acclib_rounds_room(accl_device *device, const struct operation *op, uint64_t number,
                            uint64_t round, uint32_t reader, uint8_t **room)
{
    *room = NULL;
    uint32_t bits = 0;
    if (round == 0)
        bits = begin(device, op, number);
    else if (round >= LANE_ROUNDS_AHEAD)
        bits = wait_for_readers(device, op, number, reader, round - LANE_ROUNDS_AHEAD + 1);
    if (!bits)
        *room = device->heap->base + op->comm->lanes->window +
                round % LANE_ROUNDS_AHEAD * LANE_ROUND_BYTES;

    return bits;
}

void acclib_rounds_filled(accl_device *device, const struct operation *op, uint64_t number,
                          uint64_t round)
{
    show(device, op, &op->comm->lanes->own->filled, number, round + 1);
}

uint32_t acclib_rounds_wait(accl_device *device, const struct operation *op, uint32_t index,
                            uint64_t number, uint64_t round, const uint8_t **slot)
{
    *slot = NULL;
    uint32_t bits = 0;
    if (op->comm->lanes->of[index] == NULL && (bits = acclib_lane_find(device, op, index)))
        return bits;

    struct lane *lane = op->comm->lanes->of[index];
    if ((bits = acclib_lane_wait_rounds(device, op, index, number, &lane->filled, round + 1)))
        return bits;

    const struct peer *peer = peer_of(device, op->comm->members[index].rank);
    uint64_t window = READ_ONCE(lane->window);
    if (peer->arena_bytes < WINDOW_BYTES || window > peer->arena_bytes - WINDOW_BYTES ||
        window % ARENA_LINE)
        return acclib_call_fail(device, ACCL_ERROR(DMA_DECODE_ERROR),
                                "rank %u posted an address outside its memory", index);

    *slot = (const uint8_t *)peer->arena + window + round % LANE_ROUNDS_AHEAD * LANE_ROUND_BYTES;
    return 0;
}

void acclib_rounds_taken(accl_device *device, const struct operation *op, uint64_t number,
                         uint64_t round)
{
    show(device, op, &op->comm->lanes->own->taken, number, round + 1);
}
