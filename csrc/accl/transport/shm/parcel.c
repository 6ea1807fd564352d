/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/parcel.h"

#include <stdlib.h>

void acclib_parcel_append(struct peer *peer, struct parcel *parcel)
{
    list_append(&peer->parcels, &parcel->in_peer);
}

void acclib_parcel_remove(struct peer *peer, struct parcel *parcel)
{
    list_remove(&peer->parcels, &parcel->in_peer);
    if (parcel->shared != NULL)
        peer->offered--;
    free(parcel->heap);
    free(parcel);
}

struct parcel *acclib_parcel_find(const struct peer *peer, uint64_t key)
{
    struct list_node *at = peer->parcels.first;
    while (at != NULL && parcel_of(at)->entry.key != key)
        at = at->next;
    return at != NULL ? parcel_of(at) : NULL;
}
