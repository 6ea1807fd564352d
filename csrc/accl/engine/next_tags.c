/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages that wait for receives, for callers that receive from any rank. */
#include "accl/engine/communicator.h"
#include "accl/transport/executor.h"
#include "accl/transport/transport.h"

struct search {
    const struct communicator *comm;
    int64_t *tags;
};

/* Messages of a rank are visited in the order in which they were sent. */
static void take_tag(void *argument, const struct pending *pending)
{
    const struct search *search = argument;
    const struct communicator *comm = search->comm;
    if (pending->key != comm->key || pending->stream)
        return;

    for (uint32_t i = 0; i < comm->n; i++) {
        if (comm->members[i].rank == pending->source && search->tags[i] < 0)
            search->tags[i] = pending->tag;
    }
}

static int find(accl_device *device, uint32_t id, int64_t *tags, uint32_t count)
{
    const struct communicator *comm = acclib_communicator_find(device, id);
    if (comm == NULL)
        return acclib_communicator_missing(device, id);
    if (count != comm->n)
        return acclib_fail(ACCL_INVALID, "communicator %u has %u ranks, not %u", id, comm->n,
                           count);

    for (uint32_t i = 0; i < count; i++)
        tags[i] = -1;
    struct search search = {.comm = comm, .tags = tags};
    acclib_transport_visit(device, take_tag, &search);

    return ACCL_OK;
}

ACCL_EXPORT int accl_next_tags(accl_device *device, uint32_t comm, int64_t *tags, uint32_t count)
{
    if (tags == NULL)
        return acclib_is_null("accl_next_tags", "tags");
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    status = find(device, comm, tags, count);
    acclib_executor_leave(device);

    return status;
}
