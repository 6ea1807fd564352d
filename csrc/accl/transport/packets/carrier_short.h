/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages of calls that find the way free: nothing else is to be sent first, or has come
 * first, and the other side is there. They skip the queues: MPI gets the packet at once, and the
 * data go from where MPI received them to their place. In all other cases nothing has happened, and
 * the call goes on in the usual way, which sees what is wrong.
 *
 * The executor, without the packets' lock.
 */
#ifndef ACCL_PACKETS_CARRIER_SHORT_H
#define ACCL_PACKETS_CARRIER_SHORT_H

#include "accl/transport/packets/packet_request.h"

/* Longer ones are not received in this way: a copy would hold the carrier too long. */
#define SHORT_BYTES (UINT64_C(3) << 10)

/* Looks for the message A for some microseconds, and receives it if it is the next one of its rank.
 */
bool acclib_carrier_catch(accl_device *device, struct awaited *a);

enum meeting { MEETING_NONE, MEETING_SENT, MEETING_DONE };

/* Sends an empty message of a collective to rank TO, and receives the message A of none; the first
 * of them only with MEETING_SENT. */
enum meeting acclib_carrier_meet(accl_device *device, uint32_t to, struct awaited *a);

#endif
