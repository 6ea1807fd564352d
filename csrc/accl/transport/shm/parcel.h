/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were set aside, in the order of their arrival. The executor's. */
#ifndef ACCL_PARCEL_H
#define ACCL_PARCEL_H

#include "accl/transport/shm/peer.h"

/* Takes PARCEL, which was allocated with calloc(). */
void acclib_parcel_append(struct peer *peer, struct parcel *parcel);

/* The link to the first parcel of the communicator with KEY; *link is NULL if there is none. */
struct parcel **acclib_parcel_find(struct peer *peer, uint64_t key);

/* Unlinks and frees *LINK. */
void acclib_parcel_remove(struct peer *peer, struct parcel **link);

#endif
