/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that end a wait for packets. The executor's. */
#ifndef ACCL_PACKETS_INSPECT_H
#define ACCL_PACKETS_INSPECT_H

#include "accl/transport/transport.h"

/* Error bits, with a text, if RANK is lost, or with MUST_STAY if it has left; else 0. */
uint32_t acclib_packets_inspect_rank(accl_device *device, uint32_t rank, bool must_stay);

/* As of struct transport. */
uint32_t acclib_packets_inspect(struct waiter *w, uint32_t rank, bool must_stay);
uint32_t acclib_packets_inspect_members(struct waiter *w);
void acclib_packets_give_up(accl_device *device, struct communicator *comm);

/* Forgets which members gave up COMM, which was freed. */
void acclib_packets_forget_failures(accl_device *device, const struct communicator *comm);

/* PEER_GAVE_UP_ERROR if some member gave up COMM; else 0. */
uint32_t acclib_packets_gave_up(accl_device *device, const struct communicator *comm);

#endif
