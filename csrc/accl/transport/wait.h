/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for what other ranks do.
 *
 *     struct waiter w;
 *     acclib_wait_begin(&w, ...);
 *     while (!ready() && !(bits = acclib_wait_pause(&w)))
 *         ;
 *     acclib_wait_end(&w);
 *
 * A waiter spins, then yields, then sleeps at this rank's doorbell. Every 50 ms it checks what ends
 * a wait: the deadline, the end of a peer, the caller's check. Only the executor waits.
 *
 * A waiter that sleeps lets go of the executor, and it sleeps at once if another call wants to go
 * on. So after a pause everything may have changed but what belongs to the call alone, or to its
 * communicator and kind; the caller checks from the start whether it is ready.
 */
#ifndef ACCL_WAIT_H
#define ACCL_WAIT_H

#include "accl/base/device.h"

struct waiter {
    accl_device *device;
    struct communicator *comm;         /* whose members must live; may be NULL */
    const struct transport *transport; /* brings what is awaited; may be NULL */
    uint32_t peer;                     /* global rank that must not have left; or NO_RANK */
    bool collective;                   /* every member must live */
    uint32_t timeout_bits;
    uint32_t rounds, spins_on;
    int64_t began, inspected;
    bool armed; /* registered as a sleeper */
    uint32_t doorbell;
    /* Of packets/packet_request.c. */
    bool napped;     /* since the last packet moved */
    uint32_t yields; /* so far */
    long switches;   /* of this thread's core, at the last one */
};

void acclib_wait_begin(struct waiter *w, accl_device *device, struct communicator *comm,
                       uint32_t peer, bool collective, uint32_t timeout_bits);
void acclib_wait_end(struct waiter *w);

/* Lets time pass. 0, or the error bits that end the wait; at the deadline timeout_bits, and the
 * text is left to the caller (device->text is empty). */
uint32_t acclib_wait_pause(struct waiter *w);

/* The same if no wake-up will come: sleeps for NS at most, or only checks what ends a wait. */
uint32_t acclib_wait_pause_briefly(struct waiter *w, int64_t ns);

/* Returns the error bits of all transports that end a wait for global rank RANK, time aside. */
uint32_t acclib_wait_inspect_rank(struct waiter *w, uint32_t rank, bool must_stay);

/* The same for the members of the communicator that w->comm serves, if it does: any of them may be
 * what this rank waits for in the end. */
uint32_t acclib_wait_inspect_outer(struct waiter *w);

/* True if each rank can have a core of its own. */
bool acclib_wait_has_room(const accl_device *device);

/* Lets others have the core, and shows that meanwhile this rank has none. */
void acclib_wait_yield(const accl_device *device);

/* Shows the others on which core this rank runs. */
void acclib_wait_show_core(const accl_device *device);

#endif
