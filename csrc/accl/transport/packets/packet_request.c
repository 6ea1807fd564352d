/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/packet_request.h"

#include <sched.h>
#include <sys/resource.h>

#include "accl/transport/executor.h"
#include "accl/transport/packets/carrier.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"

/*
 * With more ranks than cores the awaited one may need this very core, and a nap lasts longer than a
 * short call, so a wait yields, unless MPI does so at each look. A yield after which another thread
 * has run shows that others want the core: the next ones follow after each look. Else they are far
 * between, as a yield lasts as long as several looks. From some time without news on a wait naps,
 * as a thread of another program may take a whole slice of time at each yield. Long data take
 * longer than a nap, and so do short calls of many ranks that share cores.
 */
#define TURNS 8
#define LOOKS_ALONE 8
#define LOOK_YIELDS_NS INT64_C(1000)
#define YIELDS_SHARED 16
#define NAP_AFTER_NS INT64_C(100000)
#define LONG_NAP_AFTER_NS INT64_C(500000)
#define SHARED_NAP_AFTER_NS INT64_C(2000000)

void acclib_packet_request_make(struct packet_request *w, accl_device *device,
                                struct communicator *comm, uint32_t index,
                                const struct packet_message *message, uint32_t operation,
                                uint32_t timeout_bits)
{
    uint32_t rank = comm->members[index].rank;
    struct packet_link *link = &device->packets->links[rank];
    *w = (struct packet_request){.device = device,
                                 .comm = comm,
                                 .index = index,
                                 .rank = rank,
                                 .link = link,
                                 .state = &link->channel[message->channel],
                                 .message = message,
                                 .operation = operation,
                                 .timeout_bits = timeout_bits};
}

/* Returns the number of times that this thread has lost its core to another one. */
static long count_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Lets others have the core, and notes whether there are any. */
static void yield_core(struct packets *p, struct waiter *waiter)
{
    if (!waiter->yields++)
        waiter->switches = count_switches();
    long before = waiter->switches;
    uint32_t crowd = atomic_load_explicit(&p->crowd, memory_order_relaxed);
    sched_yield();

    waiter->switches = count_switches();
    if (waiter->switches != before) {
        p->shared_yields = YIELDS_SHARED;
        crowd += crowd < CROWD_MOST;
    } else {
        p->shared_yields -= p->shared_yields > 0;
        crowd -= crowd > 0;
    }
    atomic_store_explicit(&p->crowd, crowd, memory_order_relaxed);
}

/* Returns the time that a wait lasts before it naps. */
static int64_t nap_after(const struct packets *p, bool is_long)
{
    if (p->shared_yields)
        return SHARED_NAP_AFTER_NS;
    return is_long ? LONG_NAP_AFTER_NS : NAP_AFTER_NS;
}

/* Lets time pass, and carries packets if this thread may. */
static uint32_t pause_carrying(struct waiter *waiter, bool is_long)
{
    accl_device *device = waiter->device;
    struct packets *p = device->packets;
    if (!acclib_carrier_is_mine(device))
        return acclib_wait_pause(waiter);

    /* Between naps MPI gets time to say that a packet has come: it may do so in a second look. */
    uint32_t turns = p->shared_yields && !waiter->napped ? 1 : TURNS;
    int64_t began = p->shared_yields ? clock_now() : 0;
    bool is_due = ++waiter->rounds % LOOKS_ALONE == 0;
    if (acclib_carrier_look(device, waiter->peer, turns)) {
        waiter->began = 0;
        waiter->napped = false;
    } else {
        int64_t now = clock_now();
        acclib_wake_flush(device);
        if (!waiter->began)
            waiter->began = now;
        if (now - waiter->began >= nap_after(p, is_long)) {
            waiter->napped = true;
            return acclib_wait_pause_briefly(waiter, 1);
        }
        if (began && now - began >= LOOK_YIELDS_NS)
            p->shared_yields--; /* MPI does so itself */
        else if (is_due || began)
            yield_core(p, waiter);
    }

    return is_due || executor_is_wanted(device) ? acclib_wait_pause_briefly(waiter, 0) : 0;
}

uint32_t acclib_packet_request_wait(struct packet_request *w,
                                    bool (*ready)(struct packet_request *w))
{
    accl_device *device = w->device;
    request_lock(w);
    if (ready(w))
        return 0;

    request_unlock(w);
    bool collective = w->message->channel == CHANNEL_COLLECTIVE;
    struct waiter waiter;
    acclib_wait_begin(&waiter, device, w->comm, w->rank, collective, w->timeout_bits);
    uint32_t bits = 0;
    bool noted = false, done = false;
    while (!bits && !done) {
        if ((waiter.armed || waiter.inspected) && !noted) {
            noted = true;
            acclib_note_wait(device, w->operation, w->rank, w->message->tag, w->message->sequence,
                             w->comm->key);
        }
        bits = pause_carrying(&waiter, w->is_long);
        /* Checked even at the end: it may have come just before the other side left. */
        request_lock(w);
        done = ready(w);
        if (!done) {
            request_unlock(w);
            if (waiter.rounds % LOOKS_ALONE == 0)
                acclib_transport_progress(device);
        }
    }
    acclib_wait_end(&waiter);
    if (done && bits)
        device->text[0] = 0;

    return done ? 0 : bits;
}
