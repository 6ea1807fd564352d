/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between ranks that have no memory in common: the caller carries packets, with the
 * functions accl_packet_*() of accl.h.
 */
#ifndef ACCL_PACKETS_H
#define ACCL_PACKETS_H

#include "accl/transport/transport.h"

extern const struct transport acclib_packets;

#endif
