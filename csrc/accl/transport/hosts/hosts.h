/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of communicators whose ranks are on several hosts, with several ranks on some of
 * them.
 *
 * Such a communicator has inner ones: one of the members on this host, and some of leaders, which
 * have one member of each host. A collective is a few collectives of these, so that each part of
 * the data crosses a network once for each host that needs it. This transport is for collectives
 * alone: messages go through the transport that reaches their receiver.
 *
 * Sums of integers are added within hosts, then between them. The order of other sums matters: it
 * is the original's, so the operands themselves are exchanged, and added where the result is
 * needed.
 */
#ifndef ACCL_HOSTS_H
#define ACCL_HOSTS_H

#include "accl/transport/transport.h"

extern const struct transport acclib_hosts;

#endif
