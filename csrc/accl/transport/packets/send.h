/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending by packets. What the receiver has rx buffers for is sent eagerly and kept there until it
 * is received; a larger message goes by rendezvous: an RTS, and the data after the CTS.
 * Each side counts what was consumed, so no rank is sent more than it can hold.
 */
#ifndef ACCL_PACKETS_SEND_H
#define ACCL_PACKETS_SEND_H

#include "accl/transport/packets/packet_request.h"

/* Sends COUNT elements to member TO; *NUMBERS gets the sequence numbers that were used. The
 * executor; error bits. */
uint32_t acclib_packets_send(accl_device *device, struct communicator *comm, uint32_t to,
                             const struct packet_message *message, const uint8_t *data,
                             uint32_t source_type, uint32_t wire_type, uint64_t count,
                             uint32_t *numbers);

/* The same for a message of the collectives' channel, which is sent if it can be without a copy,
 * and the receiver is ready or becomes so soon with PATIENT: *SENT. acclib_packets_direct_end()
 * follows then, and *W and *MESSAGE stay where they are. */
uint32_t acclib_packets_direct_begin(struct packet_request *w, accl_device *device,
                                     struct communicator *comm, uint32_t to,
                                     const struct packet_message *message, const uint8_t *data,
                                     uint32_t wire_type, uint64_t bytes, bool patient, bool *sent);

/* Waits until the BYTES have left. */
uint32_t acclib_packets_direct_end(struct packet_request *w, uint64_t bytes);

#endif
