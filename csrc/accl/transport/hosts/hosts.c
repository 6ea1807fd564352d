/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/hosts/hosts.h"

#include "accl/transport/hosts/collective.h"
#include "accl/transport/hosts/layout.h"

static void give_up_inner(accl_device *device, struct communicator *inner)
{
    if (inner != NULL)
        inner->transport->give_up(device, inner);
}

/* The members of inner communicators pass it on, as their calls fail. */
static void hosts_give_up(accl_device *device, struct communicator *comm)
{
    give_up_inner(device, comm->hosts->local);
    for (uint32_t i = 0; i < comm->hosts->most; i++)
        give_up_inner(device, comm->hosts->leaders[i]);
}

const struct transport acclib_hosts = {
    .where = "between hosts",
    .join = acclib_hosts_join,
    .leave = acclib_hosts_leave,
    .makes = acclib_hosts_makes,
    .collective = acclib_hosts_collective,
    .give_up = hosts_give_up,
};
