/* SPDX-License-Identifier: BSD-3-Clause */
/* Unexpected messages: set aside until they are received, in the order of their arrival. The
 * executor's. */
#ifndef ACCL_UNEXPECTED_H
#define ACCL_UNEXPECTED_H

#include "accl/transport/shm/peer.h"

/* Takes UNEXPECTED, which was allocated with calloc(). */
void acclib_unexpected_append(struct peer *peer, struct unexpected *unexpected);

/* The first unexpected message of the communicator with KEY; NULL if there is none. */
struct unexpected *acclib_unexpected_find(const struct peer *peer, uint64_t key);

/* Takes UNEXPECTED off the list and frees it. */
void acclib_unexpected_remove(struct peer *peer, struct unexpected *unexpected);

#endif
