/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement of a communicator's members on hosts, and its inner communicators. The executor's; all
 * members compute the same layout. Hosts are told apart by the address of their ranks, and numbered
 * in the order of their first members.
 */
#ifndef ACCL_HOSTS_LAYOUT_H
#define ACCL_HOSTS_LAYOUT_H

#include "accl/base/device.h"

#define HOST_BLOCKS 5

struct host_place {
    uint32_t host, place; /* place: among the members of that host, in their order */
};

struct hosts {
    uint32_t count;        /* hosts */
    uint32_t most;         /* members of the largest one */
    uint32_t *size;        /* members, by host */
    struct host_place *of; /* by member */
    bool in_order;         /* hosts are of one size, and members in the order of hosts */
    struct host_place me;
    struct communicator *local; /* of the members on this host; NULL if this is the only one */

    /* By place: of the members of each host that have that place, modulo the host's size. NULL if
     * this rank is not among them. */
    struct communicator **leaders;

    /* Memory of the heap for what is on its way, which is kept for later calls. */
    struct host_block {
        uint64_t offset, bytes;
    } blocks[HOST_BLOCKS];
};

/* The place of the member that leads HOST in leaders[PLACE]. */
static inline uint32_t hosts_leader(const struct hosts *hosts, uint32_t host, uint32_t place)
{
    return place % hosts->size[host];
}

/* Makes and frees comm->hosts: as of struct transport. */
int acclib_hosts_join(accl_device *device, struct communicator *comm);
void acclib_hosts_leave(accl_device *device, struct communicator *comm);

/* BYTES of block NUMBER, whose contents are lost if they were not as many before; NULL if out of
 * memory, with a text. */
uint8_t *acclib_hosts_block(accl_device *device, struct communicator *comm, uint32_t number,
                            uint64_t bytes);

#endif
