/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries packets as messages of an MPI library. Whoever waits for packets carries them; where MPI
 * allows calls from any thread, a thread of this file does so while nobody waits.
 *
 * MPI reads and writes the memory of packets, which the engine owns: what a late peer writes after
 * a call has ended changes nothing that anyone else sees. Buffers are lent to it for a message that
 * both sides are at: see direct.h.
 *
 * One thread at a time calls MPI for a device: the carrier's lock, which is taken before that of
 * `struct packets`.
 */
#ifndef ACCL_PACKETS_CARRIER_H
#define ACCL_PACKETS_CARRIER_H

#include "accl/transport/packets/state.h"

/* No packet up to that length is announced, thus no piece of a collective: between hosts, and
 * between ranks that share cores, a message more takes longer than a copy. */
#define INBOX_BYTES ((UINT64_C(64) << 10) + sizeof(struct packet_header))

/* Begins; a status of accl.h. The executor, or before any call. */
int acclib_carrier_start(accl_device *device, const struct accl_mpi *setup);

/* Ends within TIMEOUT_NS, with the status of accl_mpi_stop(). Any thread that may call MPI. */
int acclib_carrier_stop(accl_device *device, int64_t timeout_ns);

/* Stops it if it runs, and frees it. */
void acclib_carrier_free(accl_device *device);

/* True if the calling thread may carry. */
bool acclib_carrier_is_mine(const accl_device *device);

/* Moves packets without waiting, if this thread may; whether one moved. Any thread. */
bool acclib_carrier_turn(accl_device *device);

/* The same for a thread that awaits a packet of RANK: looks for it up to TURNS times, until a
 * packet has moved. Now and then it looks at those of all ranks. */
bool acclib_carrier_look(accl_device *device, uint32_t rank, uint32_t turns);

/* Room for a packet of INBOX_BYTES that MPI gets at once; NULL if others are before it, or it may
 * not be called. With the packets' lock; the caller writes the packet, and sends it without that.
 */
struct packet *acclib_carrier_claim(accl_device *device);
void acclib_carrier_send_claimed(accl_device *device);

/* From here on, until as many ends, the calling thread carries, and the carrier's does not. */
void acclib_carrier_take_over(accl_device *device);
void acclib_carrier_hand_back(accl_device *device);

/* The executed call ends: hands over to MPI what is queued. */
void acclib_carrier_flush(accl_device *device);

#endif
