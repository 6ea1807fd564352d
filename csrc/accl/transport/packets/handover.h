/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets change hands: from the engine to what carries them (the caller, carry.c, or an MPI
 * library, carrier.c), and back. Any thread, without the lock, which each function takes.
 */
#ifndef ACCL_PACKETS_HANDOVER_H
#define ACCL_PACKETS_HANDOVER_H

#include "accl/transport/packets/state.h"

/* The next outgoing packet, which is the caller's now; NULL if there is none. A packet that another
 * thread queues at this moment may be missed. */
struct packet *acclib_packets_take(accl_device *device);

/* A packet that was taken is no longer outstanding. */
void acclib_packets_uncount(accl_device *device, struct packet *packet);

/* A packet that was taken has been sent, or cannot be: frees it. */
void acclib_packets_sent(accl_device *device, struct packet *packet);

/* A packet from RANK is complete; takes it. ACCL_INVALID if it breaks the rules. */
int acclib_packets_arrived(accl_device *device, uint32_t rank, struct packet *packet);
/* The same, which takes it if *KEPT: only one with a payload. */
int acclib_packets_came(accl_device *device, uint32_t rank, struct packet *packet, bool *kept);

/* RANK cannot be reached any more, unless it has left: why, for the text of errors. */
void acclib_packets_lost(accl_device *device, uint32_t rank, const char *why);

/* Queues the last packets. False if out of memory. */
bool acclib_packets_leave(accl_device *device);

#endif
