/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/parcel.h"

#include <stdlib.h>

void acclib_parcel_append(struct peer *peer, struct parcel *parcel)
{
    parcel->next = NULL;
    if (peer->parcels == NULL)
        peer->parcels_end = &peer->parcels;
    *peer->parcels_end = parcel;
    peer->parcels_end = &parcel->next;
}

void acclib_parcel_remove(struct peer *peer, struct parcel **link)
{
    struct parcel *parcel = *link;
    *link = parcel->next;
    if (*link == NULL)
        peer->parcels_end = link;
    free(parcel->heap);
    free(parcel);
}

struct parcel **acclib_parcel_find(struct peer *peer, uint64_t key)
{
    struct parcel **link = &peer->parcels;
    while (*link && (*link)->entry.key != key)
        link = &(*link)->next;
    return link;
}
