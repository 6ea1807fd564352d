/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were set aside, in the order of their arrival. The executor's. */
#ifndef ACCL_PARCEL_H
#define ACCL_PARCEL_H

#include "accl/transport/shm/peer.h"

/* Takes PARCEL, which was allocated with calloc(). */
void acclib_parcel_append(struct peer *peer, struct parcel *parcel);

/* The first parcel of the communicator with KEY; NULL if there is none. */
struct parcel *acclib_parcel_find(const struct peer *peer, uint64_t key);

/* Takes PARCEL off the list and frees it. */
void acclib_parcel_remove(struct peer *peer, struct parcel *parcel);

#endif
