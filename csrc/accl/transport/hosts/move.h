/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between hosts that move elements of one type, and sums of which the order does not
 * matter. What they read and write is in this rank's heap. The executor calls them; they may wait,
 * and return error bits. The source is read before the result is written, so they may overlap.
 */
#ifndef ACCL_HOSTS_MOVE_H
#define ACCL_HOSTS_MOVE_H

#include "accl/base/operation.h"
#include "accl/transport/hosts/layout.h"

struct move {
    accl_device *device;
    const struct operation *op; /* the user's call, of a communicator between hosts */
    uint32_t type;
    uint64_t count; /* elements of a part, as of the operation */
    uint32_t root;
    uint8_t *source, *result; /* NULL where this rank has none */
};

uint32_t acclib_hosts_barrier(const struct move *m);

/* From m->source at the root to m->result of the others. */
uint32_t acclib_hosts_bcast(const struct move *m);

uint32_t acclib_hosts_scatter(const struct move *m);
uint32_t acclib_hosts_gather(const struct move *m);
uint32_t acclib_hosts_allgather(const struct move *m);
uint32_t acclib_hosts_alltoall(const struct move *m);

/* With the function of m->op, in any order. */
uint32_t acclib_hosts_reduce(const struct move *m);
uint32_t acclib_hosts_allreduce(const struct move *m);
uint32_t acclib_hosts_reduce_scatter(const struct move *m);

#endif
