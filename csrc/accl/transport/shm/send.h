/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending to a rank with which memory is shared.
 *
 * A message is an entry in the ring that the receiver has for the sender. Little data is in the
 * entry itself, more in rx buffers of the receiver. What has more than one segment is first only
 * announced, and the receiver copies it straight from the sender's memory if it is there soon, also
 * from an array of the caller (peer_memory.h), of which the sender makes a copy only if the
 * receiver cannot read it. Otherwise the sender moves it into rx buffers after all, and returns, as
 * the original would. A message to the rank itself is kept in ordinary memory.
 */
#ifndef ACCL_SHM_SEND_H
#define ACCL_SHM_SEND_H

#include "accl/base/operation.h"
#include "accl/transport/shm/peer.h"
#include "accl/transport/transport.h"

/* Frees what is known of messages that were given up. */
void acclib_shm_forget_offers(struct peer *peer);

/* True if the source of the send call OP may be an array of the caller. */
bool acclib_shm_sends_array(const accl_device *device, const struct operation *op);

/* As of struct transport. */
uint32_t acclib_shm_send(accl_device *device, struct communicator *comm, uint32_t to,
                         const struct outgoing *message);

#endif
