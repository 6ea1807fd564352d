/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/carrier.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "accl/transport/packets/carrier_state.h"
#include "accl/transport/packets/handover.h"
#include "common/clock.h"

bool acclib_carrier_is_mine(const accl_device *device)
{
    const struct carrier *c = carrier_of(device);
    return c != NULL && carrier_may_call(c) &&
           !atomic_load_explicit(&c->stopped, memory_order_relaxed);
}

bool acclib_carrier_turn(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL || !carrier_may_call(c) || pthread_mutex_trylock(&c->lock) != 0)
        return false;

    bool moved = !c->stopped && acclib_carrier_move(device, c, NO_RANK);
    pthread_mutex_unlock(&c->lock);

    return moved;
}

bool acclib_carrier_look(accl_device *device, uint32_t rank, uint32_t turns)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL || !carrier_may_call(c) || pthread_mutex_trylock(&c->lock) != 0)
        return false;

    uint32_t looks = atomic_load_explicit(&c->looks, memory_order_relaxed) + 1;
    atomic_store_explicit(&c->looks, looks, memory_order_relaxed);
    bool moved = false, at_all = looks % LOOKS_AT_ONE == 0;
    for (uint32_t i = 0; i < turns && !moved && !c->stopped; i++)
        moved = acclib_carrier_move(device, c, at_all && i == 0 ? NO_RANK : rank);
    pthread_mutex_unlock(&c->lock);

    return moved;
}

struct packet *acclib_carrier_claim(accl_device *device)
{
    struct packets *p = device->packets;
    struct carrier *c = carrier_of(device);
    if (c == NULL || p->has_left || !list_is_empty(&p->out) || !carrier_may_call(c) ||
        pthread_mutex_trylock(&c->lock) != 0)
        return NULL;

    if (c->claim == NULL && !c->stopped)
        c->claim = acclib_packet_new(&p->pool, INBOX_BYTES);
    if (!c->stopped && c->claim != NULL)
        return c->claim;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

void acclib_carrier_send_claimed(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    acclib_carrier_send_one(device, c);
    pthread_mutex_unlock(&c->lock);
}

/* --- the carrier's thread --- */

/* Waits for a kick, at most NS. */
static void rest(struct carrier *c, int64_t ns)
{
    int64_t until = clock_now() + ns;
    struct timespec ts = {.tv_sec = (time_t)(until / CLOCK_SECOND),
                          .tv_nsec = (long)(until % CLOCK_SECOND)};

    pthread_mutex_lock(&c->rest_lock);
    atomic_store(&c->rests, true);
    if (!c->kicked && !atomic_load(&c->stopping))
        pthread_cond_timedwait(&c->kick, &c->rest_lock, &ts);
    c->kicked = false;
    atomic_store(&c->rests, false);
    pthread_mutex_unlock(&c->rest_lock);
}

static void kick(struct carrier *c)
{
    if (!atomic_load(&c->rests))
        return;

    pthread_mutex_lock(&c->rest_lock);
    c->kicked = true;
    pthread_cond_signal(&c->kick);
    pthread_mutex_unlock(&c->rest_lock);
}

/* True if packets are on their way out, so that the next turn may move them. */
static bool is_busy(const accl_device *device)
{
    return atomic_load(&device->packets->out_bytes) > 0;
}

/* True if calls have looked for packets since the count LOOKS was taken; updates it. */
static bool has_looked(const struct carrier *c, uint32_t *looks)
{
    uint32_t before = *looks;
    *looks = atomic_load_explicit(&c->looks, memory_order_relaxed);
    return *looks != before;
}

static void *carry(void *argument)
{
    accl_device *device = argument;
    struct carrier *c = carrier_of(device);
    int64_t pause = SHORTEST_REST_NS;
    uint32_t idle = 0, looks = 0;

    while (!atomic_load(&c->stopping)) {
        /* Calls carry themselves. A turn between two of them would take their core, and where ranks
         * share cores it would hold the lock while it waits for one. */
        bool may_wait = !is_busy(device) || packets_are_crowded(device->packets);
        if (atomic_load(&c->others) || (has_looked(c, &looks) && may_wait)) {
            rest(c, LONGEST_REST_NS);
            pause = SHORTEST_REST_NS;
            continue;
        }
        if (acclib_carrier_turn(device)) {
            idle = 0;
            pause = SHORTEST_REST_NS;
            continue;
        }
        if (is_busy(device) || idle < EAGER_TURNS) {
            if (++idle % EAGER_TURNS == 0)
                nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
            continue;
        }
        rest(c, pause);
        pause = 2 * pause < LONGEST_REST_NS ? 2 * pause : LONGEST_REST_NS;
    }

    return NULL;
}

static int start_thread(accl_device *device, struct carrier *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&c->thread, NULL, carry, device);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (error)
        return acclib_fail(ACCL_SYSTEM, "cannot start a thread: %s", strerror(error));

    pthread_setname_np(c->thread, "accl-mpi");
    c->thread_runs = true;
    return ACCL_OK;
}

void acclib_carrier_take_over(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c != NULL)
        atomic_fetch_add(&c->others, 1);
}

void acclib_carrier_hand_back(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c != NULL)
        atomic_fetch_sub(&c->others, 1);
}

void acclib_carrier_flush(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL || !is_busy(device))
        return;

    bool pending = true;
    if (carrier_may_call(c)) {
        pthread_mutex_lock(&c->lock);
        if (!c->stopped)
            acclib_carrier_send_all(device, c);
        pending = acclib_carrier_sends_long(c);
        pthread_mutex_unlock(&c->lock);
    }

    /* A thread that wakes for nothing would take a core from the ranks; where they share cores it
     * would do so anyway. */
    if (c->thread_runs && pending && !packets_are_crowded(device->packets))
        kick(c);
}

/* --- beginning and end --- */

static void carrier_destroy(struct carrier *c)
{
    acclib_mpi_unbind(&c->mpi);
    acclib_packet_free(c->claim);
    free(c->room);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->stop_lock);
    pthread_mutex_destroy(&c->rest_lock);
    pthread_cond_destroy(&c->kick);
    free(c->ended);
    free(c);
}

static struct carrier *carrier_new(uint32_t ranks, bool any_thread)
{
    struct carrier *c = calloc(1, sizeof *c);
    if (c != NULL)
        c->ended = calloc(ranks, sizeof *c->ended);
    if (c == NULL || c->ended == NULL) {
        free(c);
        return NULL;
    }

    c->any_thread = any_thread;
    c->home = pthread_self();
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->stop_lock, NULL);
    pthread_mutex_init(&c->rest_lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->kick, &attributes);
    pthread_condattr_destroy(&attributes);

    return c;
}

int acclib_carrier_start(accl_device *device, const struct accl_mpi *setup)
{
    struct packets *p = device->packets;
    if (carrier_of(device) != NULL)
        return acclib_fail(ACCL_IN_USE, "MPI carries the packets of this device already");

    struct carrier *c = carrier_new(device->ranks, setup->any_thread != 0);
    if (c == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (MPI)");

    int status = acclib_mpi_bind(&c->mpi, setup);
    if (status == ACCL_OK)
        status = acclib_mpi_try(&c->mpi, (int)device->rank, (int)device->ranks);
    if (status != ACCL_OK) {
        carrier_destroy(c);
        return status;
    }

    if (!acclib_carrier_open_inboxes(device, c)) {
        acclib_carrier_abandon(c);
        carrier_destroy(c);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (packets of %u ranks)", device->ranks);
    }

    atomic_store(&p->carrier, c);
    atomic_store(&device->carries, !c->any_thread);
    acclib_carrier_turn(device);
    if (c->any_thread)
        status = start_thread(device, c);
    if (status != ACCL_OK)
        acclib_carrier_stop(device, 0);

    return status;
}

static void stop_thread(struct carrier *c)
{
    if (!c->thread_runs)
        return;

    atomic_store(&c->stopping, true);
    pthread_mutex_lock(&c->rest_lock);
    pthread_cond_signal(&c->kick);
    pthread_mutex_unlock(&c->rest_lock);
    pthread_join(c->thread, NULL);
    c->thread_runs = false;
}

int acclib_carrier_stop(accl_device *device, int64_t timeout_ns)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL)
        return ACCL_OK;
    if (!carrier_may_call(c))
        return acclib_fail(ACCL_UNSUPPORTED, "MPI was initialised below MPI_THREAD_MULTIPLE, and "
                                             "this is not the thread that called accl_mpi_start()");

    pthread_mutex_lock(&c->stop_lock);
    stop_thread(c);
    pthread_mutex_lock(&c->lock);
    if (!c->stopped)
        c->complete = acclib_carrier_finish(device, c, clock_deadline(timeout_ns));
    bool was_stopped = atomic_exchange(&c->stopped, true);
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&c->stop_lock);

    for (uint32_t i = 0; !was_stopped && i < device->ranks; i++)
        if (i != device->rank)
            acclib_packets_lost(device, i, "MPI no longer carries packets: it was stopped here");

    return c->complete ? ACCL_OK
                       : acclib_fail(ACCL_PENDING, "messages between hosts are still in flight");
}

void acclib_carrier_free(accl_device *device)
{
    struct carrier *c = carrier_of(device);
    if (c == NULL)
        return;

    acclib_carrier_stop(device, FINISH_NS);
    stop_thread(c);
    atomic_store(&device->packets->carrier, NULL);
    acclib_carrier_abandon(c);
    carrier_destroy(c);
}
