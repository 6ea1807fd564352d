/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for words that other ranks write: looking for a moment, then yielding, then sleeping at
 * this rank's bell. Who writes rings the bell only of those that sleep. The price of that check, a
 * full fence, is paid when the writer waits itself or ends its call, not at the write.
 *
 * Where there are more ranks than cores, a yield costs as much as several short calls, and whoever
 * is awaited may need this very core: a rank shows which one it has, and others look on only while
 * that is another than theirs.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "accl/transport/packets/packets.h"
#include "common/futex.h"
#include "common/spin.h"

enum {
    LOOK_ROUNDS = 60, /* looks before the first yield, where there are cores */
    WAKE_ROUND = 10,
    LOOK_ROUNDS_SHORT = 2, /* where there are not */
    LOOK_ROUNDS_AT_RUNNING = 100,
    WAKE_ROUND_SHORT = 1,
};
#define YIELD_NS INT64_C(200000)
#define SLEEP_NS INT64_C(50000000)
#define INSPECT_NS INT64_C(50000000)

void wait_begin(struct waiter *w, accl_device *device, struct communicator *comm, uint32_t peer,
                bool collective, uint32_t timeout_bits)
{
    *w = (struct waiter){.device = device,
                         .comm = comm,
                         .peer = peer,
                         .collective = collective,
                         .timeout_bits = timeout_bits};
}

bool peer_is_dead(struct peer *peer)
{
    if (atomic_load_explicit(&peer->dead, memory_order_relaxed))
        return true;
    if (peer->pidfd < 0)
        return false;
    struct pollfd p = {.fd = peer->pidfd, .events = POLLIN};
    if (poll(&p, 1, 0) == 1 && (p.revents & POLLIN)) {
        atomic_store_explicit(&peer->dead, true, memory_order_relaxed);
        return true;
    }
    return false;
}

static uint32_t inspect_peer(struct waiter *w, uint32_t rank, bool must_stay)
{
    accl_device *device = w->device;
    struct peer *peer = &device->peers[rank];
    if (rank == device->rank)
        return 0;
    uint32_t bits = device->packets ? packets_inspect(device, rank, must_stay) : 0;
    if (bits || packets_reach(device, rank))
        return bits;
    bool left =
        peer->arena ? atomic_load(&peer->arena->closed) != 0 : atomic_load(&peer->in->left) != 0;
    if (must_stay && left && !w->by_packets)
        return call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                         "rank %u (of communicator 0) has closed its device", rank);
    if (!left && peer_is_dead(peer))
        return call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                         "rank %u (of communicator 0) has died", rank);
    return 0;
}

/* What can end a wait besides the awaited word; now and then. */
static uint32_t inspect(struct waiter *w)
{
    accl_device *device = w->device;
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed");
    /* First, as who gave up may have left since. */
    uint32_t bits = w->collective && w->by_packets ? packets_gave_up(device, w->comm) : 0;
    if (!bits && w->peer != NO_RANK)
        bits = inspect_peer(w, w->peer, true);
    if (!bits && w->collective) {
        for (uint32_t i = 0; !bits && i < w->comm->n; i++) {
            struct member *member = &w->comm->members[i];
            /* Before all have met, nobody can be through with the communicator. */
            bits = inspect_peer(w, member->rank, !w->comm->met && !w->by_packets);
            if (!bits && member->lane && atomic_load(&member->lane->gave_up)) {
                bits = lane_compare_calls(device, w->comm);
                if (!bits)
                    bits = call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                                     "rank %u gave up communicator %u after an error of its own", i,
                                     w->comm->id);
            }
        }
    }
    if (!bits && device->checks && device->check && device->check(device->check_argument))
        bits = call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the caller broke off the call");
    return bits;
}

bool wait_has_room(const accl_device *device)
{
    unsigned cores = atomic_load_explicit(&device->cores, memory_order_relaxed);
    return cores >= device->ranks && cores > 1;
}

void wait_show_core(const accl_device *device)
{
    atomic_store_explicit(&device->header->core, (uint32_t)sched_getcpu() + 1,
                          memory_order_relaxed);
}

static void show_no_core(const accl_device *device)
{
    atomic_store_explicit(&device->header->core, 0, memory_order_relaxed);
}

/* Whether who is awaited has another core at this moment, so that it pays to look on. */
static bool runs_elsewhere(const struct waiter *w)
{
    if (w->peer == NO_RANK)
        return false;
    const struct arena_header *arena = w->device->peers[w->peer].arena;
    uint32_t there = arena ? atomic_load_explicit(&arena->core, memory_order_relaxed) : 0;
    return there && there != (uint32_t)sched_getcpu() + 1;
}

static void yield(const struct waiter *w)
{
    show_no_core(w->device);
    sched_yield();
    wait_show_core(w->device);
}

uint32_t wait_pause(struct waiter *w)
{
    accl_device *device = w->device;
    uint32_t round = w->rounds++;
    bool roomy = wait_has_room(device);
    uint32_t looks = roomy ? LOOK_ROUNDS : LOOK_ROUNDS_SHORT;
    if (round == (roomy ? WAKE_ROUND : WAKE_ROUND_SHORT))
        wake_flush(device);
    if (round < looks) {
        spin_relax();
        return 0;
    }
    if (!roomy && w->looks_on++ < LOOK_ROUNDS_AT_RUNNING && runs_elsewhere(w)) {
        w->rounds--;
        spin_relax();
        return 0;
    }
    w->looks_on = 0;
    if (round == looks) {
        w->began = w->looked = clock_now();
    } else if (w->armed || round % 16 == 0) {
        int64_t now = clock_now();
        if (now - w->looked >= INSPECT_NS) {
            w->looked = now;
            uint32_t bits = inspect(w);
            if (bits)
                return bits;
        }
        if (now >= deadline_of(device)) {
            device->text[0] = 0;
            return w->timeout_bits;
        }
        if (w->armed) {
            int64_t left = deadline_of(device) - now;
            show_no_core(device);
            futex_sleep(&device->header->bell, w->bell, left < SLEEP_NS ? left : SLEEP_NS);
            wait_show_core(device);
            w->bell = atomic_load(&device->header->bell);
            return 0;
        }
        if (now - w->began >= YIELD_NS) {
            /* The caller looks once more before it sleeps. */
            w->armed = true;
            atomic_fetch_add(&device->header->sleepers, 1);
            w->bell = atomic_load(&device->header->bell);
            atomic_thread_fence(memory_order_seq_cst);
            return 0;
        }
    }
    yield(w);
    return 0;
}

uint32_t wait_pause_briefly(struct waiter *w, int64_t ns)
{
    accl_device *device = w->device;
    int64_t now = clock_now();
    int64_t left = deadline_of(device) - now;
    if (left <= 0) {
        device->text[0] = 0;
        return w->timeout_bits;
    }
    if (now - w->looked >= INSPECT_NS) {
        uint32_t bits = w->looked ? inspect(w) : 0;
        w->looked = now;
        if (bits)
            return bits;
    }
    struct timespec ts = {.tv_nsec = (long)(left < ns ? left : ns)};
    nanosleep(&ts, NULL);
    return 0;
}

void wait_end(struct waiter *w)
{
    if (w->armed)
        atomic_fetch_sub(&w->device->header->sleepers, 1);
    w->armed = false;
}

void wake_later(accl_device *device, const struct peer *peer)
{
    device->wakes |= UINT64_C(1) << (peer - device->peers) % 64;
}

void wake_peer(struct peer *peer)
{
    struct arena_header *arena = peer->arena;
    if (arena && atomic_load_explicit(&arena->sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&arena->bell, 1);
        futex_wake_all(&arena->bell);
    }
}

void wake_ranks(accl_device *device, uint64_t wakes)
{
    for (; wakes; wakes &= wakes - 1)
        for (uint32_t i = (uint32_t)__builtin_ctzll(wakes); i < device->ranks; i += 64)
            wake_peer(&device->peers[i]);
}

void wake_flush(accl_device *device)
{
    uint64_t wakes = device->wakes;
    if (!wakes)
        return;
    device->wakes = 0;
    atomic_thread_fence(memory_order_seq_cst);
    wake_ranks(device, wakes);
}

int64_t deadline_of(accl_device *device)
{
    if (!device->deadline)
        device->deadline = device->timeout_ms
                               ? clock_now() + (int64_t)device->timeout_ms * CLOCK_MILLISECOND
                               : CLOCK_NEVER;
    return device->deadline;
}

/* Written by the executor, read by whoever dumps. */
void note_wait(accl_device *device, uint32_t operation, uint32_t peer, uint32_t tag,
               uint32_t sequence, uint64_t key)
{
    struct wait_note *note = &device->header->waits;
    uint32_t version = atomic_load_explicit(&note->version, memory_order_relaxed);
    atomic_store(&note->version, version + 1);
    note->operation = operation;
    note->peer = peer;
    note->tag = tag;
    note->sequence = sequence;
    note->key = key;
    note->since = clock_now();
    atomic_store(&note->version, version + 2);
}

void note_no_wait(accl_device *device)
{
    struct wait_note *note = &device->header->waits;
    if (note->operation != NO_RANK)
        note_wait(device, NO_RANK, NO_RANK, 0, 0, 0);
}
