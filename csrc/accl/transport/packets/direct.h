/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that MPI moves from one rank's memory into another's, without a packet between.
 *
 * A receive that waits tells its sender so (PACKET_READY), with the name of the message that it
 * waits for. A sender that was told in time announces the data (PACKET_DIRECT) and lends its memory
 * to MPI until they have left; the receiver lends its own from the announcement until they are
 * there. What the receiver was not ready for goes as packets, so nothing new waits for anyone.
 *
 * A receive that ends before its message is announced withdraws its memory: what comes for it then
 * goes to memory of the library. One that ends between the two waits for the data, which no call of
 * the sender can delay. A sender whose call ends too early says so (PACKET_CANCEL) before its
 * memory may change. The data count only if a look for packets that followed them found none, so
 * that such a packet is seen.
 */
#ifndef ACCL_PACKETS_DIRECT_H
#define ACCL_PACKETS_DIRECT_H

#include "accl/transport/packets/direct_names.h"
#include "accl/transport/packets/packet_request.h"

/* Shorter messages are copied, and between hosts longer ones too: that takes less time than the
 * announcement. */
#define DIRECT_LEAST (UINT64_C(12) << 10)
/* Longer ones are sent in several steps. */
#define DIRECT_MOST (UINT64_C(1) << 30)

/* True if BYTES at DATA, which need no conversion, are sent to RANK or received from it without a
 * copy if the other side is ready. */
bool acclib_direct_suits(const accl_device *device, uint32_t rank, const void *data,
                         uint64_t bytes);

/* --- receiving --- */

/* Tells the sender that BYTES may go to DATA, unless a message of it is here. Without the lock. */
void acclib_direct_expect(struct packet_request *w, uint8_t *data, uint32_t wire_type,
                          uint64_t bytes);

/* The receive ends: with the lock held, having a message or not. */
void acclib_direct_forget(struct packet_request *w);

/* The receive ends without a message. Without the lock. */
void acclib_direct_withdraw(struct packet_request *w);

/* --- sending --- */

/* Begins to send BYTES of DATA if the receiver is ready, or becomes so soon with PATIENT. *SENT
 * says whether it did: DATA is lent then until acclib_direct_end(), and *W stays where it is. Error
 * bits.
 */
uint32_t acclib_direct_begin(struct packet_request *w, const uint8_t *data, uint32_t wire_type,
                             uint64_t bytes, bool patient, uint32_t numbers, bool *sent);

/* Waits until the data have left. Error bits. */
uint32_t acclib_direct_end(struct packet_request *w);
/* The same for a call that has failed: it does not wait, and what has not left does not count. */
void acclib_direct_drop(struct packet_request *w);

#endif
