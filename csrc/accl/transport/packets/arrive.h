/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an arriving packet does. Nothing in it is believed: a packet that breaks the rules changes
 * nothing, and its sender counts as lost.
 */
#ifndef ACCL_PACKETS_ARRIVE_H
#define ACCL_PACKETS_ARRIVE_H

#include "accl/transport/packets/wish.h"

/* Handles a packet, which it takes if *KEPT: only one with a payload. With the lock held. NULL, or
 * what is wrong with the packet. */
const char *acclib_packet_handle(accl_device *device, uint32_t rank, struct parcel_post *post,
                                 bool *kept);

/* The same for the header of a packet as long as that of the message A, from A's rank: if it is
 * that message, it counts as received, and the caller copies its data. False if not; then nothing
 * has changed that acclib_packet_handle() does not accept. */
bool acclib_packet_catch(accl_device *device, const struct packet_header *h, struct awaited *a);

#endif
