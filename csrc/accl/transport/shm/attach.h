/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching to the memory files of other ranks. The executor calls these.
 */
#ifndef ACCL_ATTACH_H
#define ACCL_ATTACH_H

#include "accl/transport/shm/peer.h"

/* Time between attempts, at first and at last. */
#define ATTACH_FIRST_NS INT64_C(200000)
#define ATTACH_LAST_NS INT64_C(5000000)

/* Conditions under which ranks find each other, for texts about one that did not appear. */
extern const char acclib_meeting_rule[];

/* Waits until global rank RANK exists, and attaches to it. Error bits. */
uint32_t acclib_attach_peer(accl_device *device, uint32_t rank);

/* One attempt: error bits if further ones are pointless, else 0; see peer->arena. */
uint32_t acclib_attach_try(accl_device *device, struct peer *peer);

/* Attaches to all whose files are here. */
void acclib_attach_handed(accl_device *device);

/* Detaches from all. */
void acclib_attach_drop(accl_device *device);

#endif
