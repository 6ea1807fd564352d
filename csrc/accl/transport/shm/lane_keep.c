/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_keep.h"

#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/wait.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/spin.h"

/* Time that a rank waits for others that are about to come, or that read its data: as long as a
 * send does, and about as long as copying the data would take. Nobody looks for a deadline, an
 * interrupt or the end of a peer meanwhile, so there is a limit. */
#define MOMENT_NS INT64_C(30000)
#define MOMENT_BYTES_PER_NS 2
#define MOMENT_BYTES_MOST (UINT64_C(20) << 20)
/* Data that are copied in a few microseconds: the wait is about as long, and there is none where
 * ranks share cores, as others would run for longer. */
#define QUICK_BYTES (UINT64_C(64) << 10)
#define QUICK_NS INT64_C(2000)
#define QUICK_BYTES_PER_NS 8
#define ROUNDS_PER_LOOK 32

uint8_t *acclib_lane_keep(accl_device *device, const struct communicator *comm, uint64_t number,
                          uint64_t bytes)
{
    struct lane_block *block = &comm->lanes->kept[number % LANE_POSTS];
    if (!block->offset || block->bytes < bytes) {
        if (block->offset)
            acclib_heap_put(device->heap, block->offset);
        block->bytes = bytes;
        block->offset = acclib_heap_get(device->heap, bytes);
    }

    return block->offset ? device->heap->base + block->offset : NULL;
}

/* Of all members; INDEX is not used. */
static bool all_are_done(const struct communicator *comm, uint32_t index, uint64_t number)
{
    (void)index;
    for (uint32_t i = 0; i < comm->n; i++) {
        const struct lane *lane = comm->lanes->of[i];
        if (lane == NULL || atomic_load_explicit(&lane->done, memory_order_acquire) < number)
            return false;
    }
    return true;
}

bool acclib_lane_has_posted(const struct communicator *comm, uint32_t index, uint64_t number)
{
    struct lane *lane = comm->lanes->of[index];
    return lane != NULL && atomic_load_explicit(&lane_post_of(lane, number)->number,
                                                memory_order_acquire) >= number;
}

/* True if READY becomes true within a moment; ranks that share cores yield meanwhile. */
static bool is_soon(accl_device *device, const struct operation *op, uint32_t index,
                    uint64_t number, uint64_t bytes,
                    bool (*ready)(const struct communicator *comm, uint32_t index, uint64_t number))
{
    const struct communicator *comm = op->comm;
    if (ready(comm, index, number))
        return true;

    acclib_wake_flush(device);
    acclib_lane_look(device, comm);
    bool roomy = acclib_wait_has_room(device), quick = bytes <= QUICK_BYTES;
    if (quick && !roomy)
        return ready(comm, index, number);

    uint64_t counted = bytes < MOMENT_BYTES_MOST ? bytes : MOMENT_BYTES_MOST;
    int64_t moment = MOMENT_NS + (int64_t)(counted / MOMENT_BYTES_PER_NS);
    int64_t end = clock_now() + (quick ? QUICK_NS + (int64_t)(bytes / QUICK_BYTES_PER_NS) : moment);
    for (uint32_t round = 1; !ready(comm, index, number); round++) {
        if (!roomy)
            acclib_wait_yield(device);
        else
            spin_relax();
        if ((!roomy || round % ROUNDS_PER_LOOK == 0) && clock_now() > end)
            return ready(comm, index, number);
    }

    return true;
}

bool acclib_lane_soon_done(accl_device *device, const struct operation *op, uint64_t number,
                           uint64_t bytes)
{
    return is_soon(device, op, 0, number, bytes, all_are_done);
}

bool acclib_lane_soon_posted(accl_device *device, const struct operation *op, uint32_t index,
                             uint64_t number, uint64_t bytes)
{
    return is_soon(device, op, index, number, bytes, acclib_lane_has_posted);
}

/* Either this rank sees that a member uses the first offset, or that member sees the new one. */
uint32_t acclib_lane_move_source(accl_device *device, const struct operation *op, uint64_t number,
                                 uint64_t offset)
{
    struct communicator *comm = op->comm;
    struct lane_post *post = lane_post_of(comm->lanes->own, number);
    __atomic_store_n(&post->source, offset, __ATOMIC_RELEASE);
    acclib_lane_show_copy(device, comm, number);
    atomic_thread_fence(memory_order_seq_cst);

    /* Whoever makes its lane after this sees the new offset too. */
    acclib_lane_look(device, comm);
    uint32_t bits = 0;
    for (uint32_t i = 0; !bits && i < comm->n; i++) {
        const struct lane *lane = comm->lanes->of[i];
        if (i != comm->me && lane != NULL && atomic_load(&lane->uses) == number)
            bits = acclib_lane_wait_done_by(device, op, i, number);
    }

    return bits;
}
