/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving by packets. Messages of one sender are kept in order; a receive call takes the first
 * of its communicator. A rendezvous message gets its CTS when its receive was posted, and
 * copied to its place packet by packet.
 */
#ifndef ACCL_PACKETS_RECEIVE_H
#define ACCL_PACKETS_RECEIVE_H

#include "accl/transport/packets/packet_request.h"
#include "accl/transport/transport.h"

/* Receives the next message of member FROM; *NUMBERS gets the sequence numbers that it took. In the
 * collectives' channel tag and sequence must be equal, else CALL_MISMATCH_ERROR. The executor;
 * error bits. */
uint32_t acclib_packets_receive(accl_device *device, struct communicator *comm, uint32_t from,
                                const struct packet_message *message, uint8_t *data, uint32_t type,
                                uint32_t wire_type, uint64_t count, uint32_t *numbers);

/* The same for a message of the collectives' channel in one packet: *TAKEN gets it, or NULL, and is
 * the caller's to free. */
uint32_t acclib_packets_take_whole(accl_device *device, struct communicator *comm, uint32_t from,
                                   const struct packet_message *message, uint32_t wire_type,
                                   uint64_t count, struct incoming **taken);

/* The next message of the collectives' channel that W waits for: one of REST elements without a
 * copy, or one of COUNT elements in one packet, as acclib_packets_take_whole(). */
uint32_t acclib_packets_take_next(struct packet_request *w, uint32_t wire_type, uint64_t count,
                                  uint64_t rest, struct incoming **taken);

/* As of struct transport. */
void acclib_packets_progress(accl_device *device);
void acclib_packets_reset(accl_device *device);
void acclib_packets_visit(accl_device *device, pending_visit visit, void *argument);

#endif
