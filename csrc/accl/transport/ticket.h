/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tickets: the calls of a device that are not finished, in the order of their submission, and which
 * of them may be executed while earlier ones wait.
 *
 * A call waits for an earlier one
 *   - if the one writes memory that the other uses,
 *   - if both are collectives of one communicator, both send to one rank of it, or both receive
 * from one rank of it and a message could be for either of them,
 *   - if one is a barrier, and the other is of the same communicator,
 *   - if both take data from the kernel's stream, or both put data into it,
 *   - if one is ACCL_NOP or ACCL_CONFIG; a time limit is set at once, for later calls.
 * All others are independent of each other.
 *
 * A call that is executed at once has no ticket until it lets others go on. Tickets are guarded by
 * device->lock.
 */
#ifndef ACCL_TICKET_H
#define ACCL_TICKET_H

#include "accl/base/device.h"

/* At most so many tickets, from the first, are looked at for one that may start. */
#define TICKETS_AHEAD 256

static inline struct ticket *ticket_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct ticket, in_device);
}

/* With the lock held. */

/* Adds a ticket for CALL, at the end. */
void acclib_ticket_add(accl_device *device, struct ticket *ticket, const struct accl_call *call);
/* True if no earlier call is in the way of TICKET. */
bool acclib_ticket_may_start(const accl_device *device, const struct ticket *ticket);
/* True if its call uses communicator COMM. */
bool acclib_ticket_uses(const struct ticket *ticket, uint32_t comm);
/* Its call is finished, or will not be executed. */
void acclib_ticket_remove(accl_device *device, struct ticket *ticket);

/* The executor, without the lock. */

/* The executed call is going to wait; it gets a ticket if it has none. */
void acclib_ticket_show_waiting(accl_device *device);
/* And goes on. */
void acclib_ticket_show_going(accl_device *device);
/* True if the executed call, a receive, is the earliest one of its communicator and source. */
bool acclib_ticket_is_first_receive(accl_device *device);

#endif
