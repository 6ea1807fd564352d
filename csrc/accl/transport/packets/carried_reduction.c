/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/carried_reduction.h"

#include <stdlib.h>

static struct carried_reduction *reduction_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct carried_reduction, in_list);
}

bool acclib_carried_reductions_test(struct carrier *c)
{
    struct list_node *next;
    bool moved = false;
    for (struct list_node *at = c->reducing.first; at != NULL; at = next) {
        struct carried_reduction *r = reduction_of(at);
        bool done = false;
        next = at->next;
        r->error = c->mpi.calls->test(&c->mpi, &r->request, &done);
        if (!r->error && !done)
            continue;

        moved = r->ended = true;
        c->reduction_failed |= r->error != 0;
        list_remove(&c->reducing, at);
        if (r->error)
            list_append(&c->failed, at);
        else if (!r->awaited)
            free(r);
    }
    return moved;
}
