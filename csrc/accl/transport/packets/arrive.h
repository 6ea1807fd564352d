/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handling of arriving packets. Nothing in one is believed: a packet that breaks the rules changes
 * nothing, and its sender counts as lost.
 */
#ifndef ACCL_PACKETS_ARRIVE_H
#define ACCL_PACKETS_ARRIVE_H

#include "accl/transport/packets/packet_request.h"

/* Handles a packet, which it takes if *KEPT: only one with a payload. With the lock held. NULL, or
 * what is wrong with the packet. */
const char *acclib_packet_handle(accl_device *device, uint32_t rank, struct packet *packet,
                                 bool *kept);

/* True if a packet from A's rank, as long as the message A, is that message by its header H: then
 * it counts as received, and the caller copies its data. If not, nothing has changed. */
bool acclib_packet_catch(accl_device *device, const struct packet_header *h, struct awaited *a);

#endif
