/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/unexpected.h"

#include <stdlib.h>

void acclib_unexpected_append(struct peer *peer, struct unexpected *unexpected)
{
    list_append(&peer->unexpected, &unexpected->in_peer);
}

void acclib_unexpected_remove(struct peer *peer, struct unexpected *unexpected)
{
    list_remove(&peer->unexpected, &unexpected->in_peer);
    if (unexpected->shared != NULL)
        peer->offered--;
    free(unexpected->heap);
    free(unexpected);
}

struct unexpected *acclib_unexpected_find(const struct peer *peer, uint64_t key)
{
    struct list_node *at = peer->unexpected.first;
    while (at != NULL && unexpected_of(at)->entry.key != key)
        at = at->next;
    return at != NULL ? unexpected_of(at) : NULL;
}
