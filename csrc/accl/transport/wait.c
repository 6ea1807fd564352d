/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for words that other ranks write: spin, then yield, then sleep at this rank's doorbell. A
 * writer rings the doorbell only of ranks that sleep. The price of that check, a
 * full fence, is paid when the writer waits itself or ends its call, not at the write.
 *
 * With more ranks than cores, a yield costs as much as several short calls, and the awaited rank
 * may need this very core: a rank shows which one it has, and others keep spinning only while that
 * is a different one from theirs.
 */
#include "accl/transport/wait.h"

#include <sched.h>
#include <time.h>

#include "accl/transport/executor.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/futex.h"
#include "common/spin.h"

enum {
    SPIN_ROUNDS = 60, /* rounds before the first yield, with a core per rank */
    WAKE_ROUND = 10,
    SPIN_ROUNDS_SHORT = 2, /* with fewer cores */
    SPIN_ROUNDS_WHILE_RUNNING = 100,
    WAKE_ROUND_SHORT = 1,
};
#define YIELD_NS INT64_C(200000)
#define SLEEP_NS INT64_C(50000000)
#define INSPECT_NS INT64_C(50000000)
/* Between two turns of carrying messages, while this rank waits for something else. */
#define CARRY_NS INT64_C(20000)

void acclib_wait_begin(struct waiter *w, accl_device *device, struct communicator *comm,
                       uint32_t peer, bool collective, uint32_t timeout_bits)
{
    const struct transport *transport = NULL;
    if (collective)
        transport = comm->transport;
    else if (peer != NO_RANK)
        transport = device->world[peer].transport;
    *w = (struct waiter){.device = device,
                         .comm = comm,
                         .transport = transport,
                         .peer = peer,
                         .collective = collective,
                         .timeout_bits = timeout_bits};
}

uint32_t acclib_wait_inspect_rank(struct waiter *w, uint32_t rank, bool must_stay)
{
    const accl_device *device = w->device;
    uint32_t bits = 0;
    if (rank == device->rank)
        return 0;

    for (uint32_t i = 0; !bits && i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        bits = device->transports[i]->inspect(w, rank, must_stay);

    return bits;
}

uint32_t acclib_wait_inspect_outer(struct waiter *w)
{
    const struct communicator *outer = w->comm->outer;
    uint32_t bits = 0;
    for (uint32_t i = 0; outer != NULL && !bits && i < outer->n; i++)
        bits = acclib_wait_inspect_rank(w, outer->members[i].rank, false);
    return bits;
}

/* Looks for events that end a wait besides the awaited word. Called at intervals. */
static uint32_t inspect(struct waiter *w)
{
    accl_device *device = w->device;
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return acclib_call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR), "the device was closed");

    uint32_t bits = 0;
    if (w->collective)
        bits = w->transport->inspect_members(w);
    else if (w->peer != NO_RANK)
        bits = acclib_wait_inspect_rank(w, w->peer, true);
    if (!bits && device->checks && device->check != NULL && device->check(device->check_argument))
        bits = acclib_call_fail(device, ACCL_ERROR(INTERRUPTED_ERROR),
                                "the caller interrupted the call");

    return bits;
}

bool acclib_wait_has_room(const accl_device *device)
{
    unsigned cores = atomic_load_explicit(&device->cores, memory_order_relaxed);
    return cores >= device->ranks && cores > 1;
}

void acclib_wait_show_core(const accl_device *device)
{
    atomic_store_explicit(&device->header->core, (uint32_t)sched_getcpu() + 1,
                          memory_order_relaxed);
}

static void show_no_core(const accl_device *device)
{
    atomic_store_explicit(&device->header->core, 0, memory_order_relaxed);
}

/* True if the awaited rank runs on another core at this moment, so that spinning pays. */
static bool runs_elsewhere(const struct waiter *w)
{
    if (w->peer == NO_RANK)
        return false;

    const accl_device *device = w->device;
    const struct transport *transport = device->world[w->peer].transport;
    uint32_t there = transport->core != NULL ? transport->core(device, w->peer) : 0;
    return there && there != (uint32_t)sched_getcpu() + 1;
}

void acclib_wait_yield(const accl_device *device)
{
    show_no_core(device);
    sched_yield();
    acclib_wait_show_core(device);
}

/* From here on the waiter sleeps at the doorbell. Its caller checks once more before that. */
static void arm(struct waiter *w)
{
    accl_device *device = w->device;
    if (!w->inspected)
        w->inspected = clock_now();
    w->armed = true;
    atomic_fetch_add(&device->header->sleepers, 1);
    w->doorbell = atomic_load(&device->header->doorbell);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Returns the error bits that end a wait besides the awaited word; 0 if it goes on. */
static uint32_t look(struct waiter *w, int64_t now)
{
    accl_device *device = w->device;
    if (now - w->inspected >= INSPECT_NS) {
        w->inspected = now;
        uint32_t bits = inspect(w);
        if (bits)
            return bits;
    }
    if (now < acclib_call_deadline(device))
        return 0;

    device->text[0] = 0;
    return w->timeout_bits;
}

/* Sleeps until the doorbell rings, while other calls go on. */
static void sleep_at_doorbell(struct waiter *w, int64_t ns)
{
    accl_device *device = w->device;
    struct execution saved;
    struct wait_note note = device->header->waits;
    acclib_wake_flush(device);
    acclib_executor_let_go(device, &saved);
    show_no_core(device);

    futex_sleep(&device->header->doorbell, w->doorbell, ns);

    acclib_wait_show_core(device);
    acclib_executor_take_back(device, &saved);
    acclib_note_again(device, &note);
    w->doorbell = atomic_load(&device->header->doorbell);
}

uint32_t acclib_wait_pause(struct waiter *w)
{
    accl_device *device = w->device;
    uint32_t round = w->rounds++;
    if (w->armed) {
        int64_t now = clock_now(), left;
        uint32_t bits = look(w, now);
        if (bits)
            return bits;
        left = acclib_call_deadline(device) - now;
        sleep_at_doorbell(w, left < SLEEP_NS ? left : SLEEP_NS);
        return 0;
    }
    bool carries = atomic_load_explicit(&device->carries, memory_order_relaxed);
    if (executor_is_wanted(device) && !carries) {
        arm(w);
        return 0;
    }

    bool roomy = acclib_wait_has_room(device);
    uint32_t looks = roomy ? SPIN_ROUNDS : SPIN_ROUNDS_SHORT;

    if (round == (roomy ? WAKE_ROUND : WAKE_ROUND_SHORT))
        acclib_wake_flush(device);
    if (round < looks) {
        spin_relax();
        return 0;
    }

    /* No other thread does, and what is awaited may depend on it. */
    if (carries)
        return acclib_transport_carry(device) && !executor_is_wanted(device)
                   ? 0
                   : acclib_wait_pause_briefly(w, CARRY_NS);

    if (!roomy && w->spins_on++ < SPIN_ROUNDS_WHILE_RUNNING && runs_elsewhere(w)) {
        w->rounds--;
        spin_relax();
        return 0;
    }

    w->spins_on = 0;
    if (round == looks) {
        w->began = w->inspected = clock_now();
    } else if (round % 16 == 0) {
        int64_t now = clock_now();
        uint32_t bits = look(w, now);
        if (bits)
            return bits;
        if (now - w->began >= YIELD_NS) {
            arm(w);
            return 0;
        }
    }

    acclib_wait_yield(device);
    return 0;
}

uint32_t acclib_wait_pause_briefly(struct waiter *w, int64_t ns)
{
    accl_device *device = w->device;
    int64_t now = clock_now();
    int64_t left = acclib_call_deadline(device) - now;

    if (left <= 0) {
        device->text[0] = 0;
        return w->timeout_bits;
    }

    if (now - w->inspected >= INSPECT_NS) {
        uint32_t bits = w->inspected ? inspect(w) : 0;
        w->inspected = now;
        if (bits)
            return bits;
    }

    struct timespec ts = {.tv_nsec = (long)(left < ns ? left : ns)};
    if (ns <= 0 && !executor_is_wanted(device))
        return 0;

    struct execution saved;
    acclib_wake_flush(device);
    acclib_executor_let_go(device, &saved);
    if (ns > 0)
        nanosleep(&ts, NULL);
    acclib_executor_take_back(device, &saved);

    return 0;
}

void acclib_wait_end(struct waiter *w)
{
    if (w->armed)
        atomic_fetch_sub(&w->device->header->sleepers, 1);
    w->armed = false;
}
