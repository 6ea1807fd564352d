/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/shm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl/base/fork.h"
#include "accl/base/hash.h"
#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/collective.h"
#include "accl/transport/shm/hello.h"
#include "accl/transport/shm/lane.h"
#include "accl/transport/shm/lane_leave.h"
#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/shm/acceptor.h"
#include "accl/transport/shm/peer_memory.h"
#include "accl/transport/shm/receive.h"
#include "accl/transport/shm/send.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/futex.h"
#include "common/list.h"

/* Generation of the device that a rank has open in a job: the first, the second, ...
 *
 * The counts are kept until the process ends, 24 bytes for each name of a job and rank: other ranks
 * compare numbers, and may open their next device of that name at any time. A number that was
 * forgotten would be given again, and its device would be refused, or taken for an earlier one. */
struct generation {
    struct list_node in_process;
    uint64_t job;
    uint32_t rank, used;
};

static struct list generations;

static struct generation *find_generation(uint64_t job, uint32_t rank)
{
    for (struct list_node *at = generations.first; at != NULL; at = at->next) {
        struct generation *g = LIST_ENTRY(at, struct generation, in_process);
        if (g->job == job && g->rank == rank)
            return g;
    }

    return NULL;
}

/* Number of devices that this process has had as RANK of JOB. Any thread. */
static uint32_t generation_of(uint64_t job, uint32_t rank)
{
    acclib_fork_lock();
    const struct generation *g = find_generation(job, rank);
    uint32_t used = g != NULL ? g->used : 0;
    acclib_fork_unlock();
    return used;
}

/* It has one more. */
static void count_generation(uint64_t job, uint32_t rank)
{
    acclib_fork_lock();
    struct generation *g = find_generation(job, rank);
    if (g == NULL && (g = calloc(1, sizeof *g)) != NULL) {
        g->job = job;
        g->rank = rank;
        list_prepend(&generations, &g->in_process);
    }

    if (g != NULL)
        g->used++;
    acclib_fork_unlock();
}

/* The same on all ranks of a job: of its name and of the list of ranks. */
static uint64_t hash_job(const accl_device *device)
{
    uint64_t hash = hash_mix(UINT64_C(0x6a6f6220), device->ranks);
    for (const char *c = device->job; *c; c++)
        hash = hash_mix(hash, (uint8_t)*c);
    for (uint32_t i = 0; i < device->ranks; i++) {
        const struct accl_rank *address = &device->world[i].address;
        hash = hash_mix(hash, (uint64_t)address->ip << 32 | address->port);
    }

    return hash;
}

/* Rings for the messages of all ranks; 0 if out of memory. */
static uint64_t make_rings(accl_device *device)
{
    uint64_t rings = acclib_heap_get(device->heap, device->ranks * sizeof(struct ring));
    if (rings)
        memset(device->heap->base + rings, 0, device->ranks * sizeof(struct ring));
    return rings;
}

static void init_peers(accl_device *device, uint64_t rings)
{
    struct ring *first = (struct ring *)(void *)(device->heap->base + rings);
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        peer->reached = device->world[i].transport == &acclib_shm;
        peer->pidfd = -1;
        peer->handed = NO_FILE;
        peer->in = first + i;
    }

    struct peer *self = peer_of(device, device->rank);
    self->in = NULL;
    self->arena = device->header;
    self->arena_bytes = device->heap->bytes;
    self->pool = device->pool;
}

/* Fills the fields that other ranks check before they use the file; the magic number comes last. */
static void fill_header(accl_device *device, uint64_t rings)
{
    struct arena_header *header = device->header;
    header->bytes = device->heap->bytes;
    header->pid = getpid();
    header->rank = device->rank;
    header->ranks = device->ranks;
    header->rings = rings;
    acclib_peer_memory_offer(device);
    header->magic = ARENA_MAGIC;
}

static int shm_open_device(accl_device *device)
{
    struct shm *shm = calloc(1, sizeof *shm);
    struct peer *peers = calloc(device->ranks, sizeof *peers);
    uint64_t rings = shm != NULL && peers != NULL ? make_rings(device) : 0;

    if (!rings) {
        free(shm);
        free(peers);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (messages of %u ranks)", device->ranks);
    }

    *shm = (struct shm){.peers = peers, .job_hash = hash_job(device), .listener = -1, .waker = -1};
    shm->generation = generation_of(shm->job_hash, device->rank);
    device->shm = shm;
    init_peers(device, rings);
    fill_header(device, rings);
    acclib_wait_show_core(device);

    int status = acclib_acceptor_start(device);
    if (status == ACCL_OK) {
        count_generation(shm->job_hash, device->rank);
    } else {
        device->header->magic = 0;
        acclib_heap_put(device->heap, rings);
        device->shm = NULL;
        free(peers);
        free(shm);
    }

    return status;
}

static void shm_close_device(accl_device *device)
{
    struct shm *shm = device->shm;
    if (shm == NULL)
        return;

    /* Peers see that this rank has left, and tell those that start later. */
    atomic_store(&device->header->closed, 1);
    acclib_acceptor_stop(device);
    acclib_attach_handed(device);
    for (uint32_t i = 0; i < device->ranks; i++) {
        if (i != device->rank && shm->peers[i].arena != NULL)
            atomic_store(&shm->peers[i].out->left, 1);
        wake_later(device, i);
    }

    acclib_wake_flush(device);

    for (uint32_t i = 0; i < device->ranks; i++) {
        while (!list_is_empty(&shm->peers[i].unexpected))
            acclib_unexpected_remove(&shm->peers[i], unexpected_of(shm->peers[i].unexpected.first));
        acclib_shm_forget_offers(&shm->peers[i]);
    }
    acclib_lanes_forget(device);
    acclib_attach_drop(device);
    device->shm = NULL;
    free(shm->peers);
    free(shm);
}

static void shm_forked(accl_device *device)
{
    if (device->shm != NULL && device->shm->listener >= 0)
        close(device->shm->listener);
}

static uint32_t shm_inspect(struct waiter *w, uint32_t rank, bool must_stay)
{
    accl_device *device = w->device;
    struct peer *peer = peer_of(device, rank);
    if (!peer->reached)
        return 0;

    const struct arena_header *arena = peer->arena;
    bool left =
        arena != NULL ? atomic_load(&arena->closed) != 0 : atomic_load(&peer->in->left) != 0;

    /* Messages through another transport may have been sent before. */
    if (must_stay && left && w->transport == &acclib_shm)
        return acclib_call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                                "rank %u (of communicator 0) has closed its device", rank);
    if (arena == NULL && peer->pidfd < 0)
        acclib_acceptor_ask(device);
    if (!left && acclib_peer_is_dead(peer))
        return acclib_call_fail(
            device, ACCL_ERROR(PEER_LOST_ERROR),
            peer->pidfd < 0 && arena == NULL
                ? "rank %u (of communicator 0) had ended before this rank met it"
                : "rank %u (of communicator 0) has died",
            rank);

    return 0;
}

static uint32_t shm_inspect_members(struct waiter *w)
{
    struct communicator *comm = w->comm;
    uint32_t bits = w->peer != NO_RANK ? acclib_wait_inspect_rank(w, w->peer, true) : 0;
    bits = bits ? bits : acclib_wait_inspect_outer(w);
    for (uint32_t i = 0; !bits && i < comm->n; i++) {
        /* It may have left after it was done with the call. */
        bits = acclib_wait_inspect_rank(w, comm->members[i].rank, false);
        bits = bits ? bits : acclib_lane_may_use(w->device, comm, i, comm->calls);
    }

    return bits;
}

static uint32_t shm_core(const accl_device *device, uint32_t rank)
{
    const struct arena_header *arena = peer_of(device, rank)->arena;
    return arena != NULL ? atomic_load_explicit(&arena->core, memory_order_relaxed) : 0;
}

static void wake_peer(const struct peer *peer)
{
    struct arena_header *arena = peer->arena;
    if (arena != NULL && atomic_load_explicit(&arena->sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&arena->doorbell, 1);
        futex_wake_all(&arena->doorbell);
    }
}

static void shm_wake(accl_device *device, uint64_t wakes)
{
    for (; wakes; wakes &= wakes - 1)
        for (uint32_t i = (uint32_t)__builtin_ctzll(wakes); i < device->ranks; i += 64)
            wake_peer(peer_of(device, i));
}

static void shm_describe(accl_device *device, uint32_t rank, struct text *out)
{
    struct peer *peer = peer_of(device, rank);
    const struct arena_header *arena = peer->arena;
    bool left = arena != NULL ? atomic_load(&arena->closed) != 0
                              : peer->in != NULL && atomic_load(&peer->in->left) != 0;
    if (left)
        text_add(out, "rank %u has closed its device\n", rank);
    else if (acclib_peer_is_dead(peer))
        text_add(out, "rank %u has died\n", rank);
    else if (arena != NULL)
        acclib_note_describe(out, rank, arena);
    else
        text_add(out, "rank %u is not attached yet\n", rank);
}

static bool takes_arrays(const accl_device *device, const struct operation *op)
{
    if (operation_is_collective(op->facts))
        return acclib_shm_takes_arrays(device, op);
    return op->call->operation == ACCL_RECV || acclib_shm_sends_array(device, op);
}

const struct transport acclib_shm = {
    .where = "in shared memory",
    .open = shm_open_device,
    .close = shm_close_device,
    .forked = shm_forked,
    .join = acclib_lane_join,
    .leave = acclib_lane_leave,
    .meet = acclib_attach_peer,
    .send = acclib_shm_send,
    .receive = acclib_shm_receive,
    .makes = acclib_shm_makes,
    .takes_arrays = takes_arrays,
    .takes_host_pages = true,
    .collective = acclib_shm_collective,
    .give_up = acclib_shm_give_up,
    .progress = acclib_shm_progress,
    .reset = acclib_shm_reset,
    .visit = acclib_shm_visit,
    .inspect = shm_inspect,
    .inspect_members = shm_inspect_members,
    .core = shm_core,
    .wake = shm_wake,
    .describe = shm_describe,
};
