/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/hosts/layout.h"

#include <stdlib.h>
#include <string.h>

#include "accl/base/hash.h"
#include "accl/transport/transport.h"

/* --- inner communicators --- */

static void inner_free(accl_device *device, struct communicator *inner)
{
    if (inner == NULL)
        return;

    inner->unmade = inner->outer->unmade;
    if (inner->transport->leave != NULL)
        inner->transport->leave(device, inner);
    free(inner->members);
    free(inner->world);
    free(inner->shown);
    free(inner->lanes);
    free(inner);
}

/* A communicator of the N MEMBERS of COMM, of which this rank is number ME. */
static struct communicator *inner_make(accl_device *device, struct communicator *comm,
                                       const uint32_t *members, uint32_t n, uint32_t me,
                                       uint64_t salt)
{
    struct communicator *inner = calloc(1, sizeof *inner);
    if (inner == NULL)
        return NULL;

    inner->transport = device->world[comm->members[members[me ? 0 : 1]].rank].transport;
    inner->members = calloc(n, sizeof *inner->members);
    inner->world = calloc(n, sizeof *inner->world);
    inner->shown = calloc(n, sizeof *inner->shown);
    inner->id = comm->id;
    inner->outer = comm;
    inner->n = n;
    inner->me = me;
    inner->key = hash_mix(comm->key, salt);
    bool good = inner->members != NULL && inner->world != NULL && inner->shown != NULL;
    for (uint32_t i = 0; good && i < n; i++) {
        inner->shown[i] = members[i];
        inner->world[i] = inner->members[i].rank = comm->members[members[i]].rank;
        inner->key = hash_mix(inner->key, inner->world[i]);
    }

    inner->key += !inner->key;
    if (!good || inner->transport->join(device, inner) != ACCL_OK) {
        free(inner->members);
        free(inner->world);
        free(inner->shown);
        free(inner);
        return NULL;
    }

    return inner;
}

/* Member number PLACE of HOST. */
static uint32_t member_at(const struct communicator *comm, uint32_t host, uint32_t place)
{
    const struct hosts *hosts = comm->hosts;
    uint32_t i = 0;
    while (hosts->of[i].host != host || hosts->of[i].place != place)
        i++;
    return i;
}

static bool make_inner(accl_device *device, struct communicator *comm)
{
    struct hosts *hosts = comm->hosts;
    uint32_t chosen[RANKS_MAX], size = hosts->size[hosts->me.host];

    for (uint32_t place = 0; place < size; place++)
        chosen[place] = member_at(comm, hosts->me.host, place);
    if (size > 1)
        hosts->local = inner_make(device, comm, chosen, size, hosts->me.place, 0);
    if (size > 1 && hosts->local == NULL)
        return false;

    for (uint32_t place = hosts->me.place; place < hosts->most; place += size) {
        for (uint32_t host = 0; host < hosts->count; host++)
            chosen[host] = member_at(comm, host, hosts_leader(hosts, host, place));
        hosts->leaders[place] =
            inner_make(device, comm, chosen, hosts->count, hosts->me.host, place + 1);
        if (hosts->leaders[place] == NULL)
            return false;
    }

    return true;
}

/* --- layout --- */

static uint32_t address_of(const accl_device *device, const struct communicator *comm, uint32_t i)
{
    return device->world[comm->members[i].rank].address.ip;
}

/* Fills in everything but the inner communicators. */
static void find_places(const accl_device *device, const struct communicator *comm)
{
    struct hosts *hosts = comm->hosts;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t ip = address_of(device, comm, i), first = 0;
        while (address_of(device, comm, first) != ip)
            first++;
        uint32_t host = first < i ? hosts->of[first].host : hosts->count++;
        hosts->of[i] = (struct host_place){.host = host, .place = hosts->size[host]++};
        if (hosts->size[host] > hosts->most)
            hosts->most = hosts->size[host];
    }

    hosts->me = hosts->of[comm->me];
    hosts->in_order = true;
    for (uint32_t i = 0; i < comm->n; i++)
        hosts->in_order &= hosts->of[i].host * hosts->most + hosts->of[i].place == i;
    hosts->in_order &= hosts->count * hosts->most == comm->n;
}

int acclib_hosts_join(accl_device *device, struct communicator *comm)
{
    struct hosts *hosts = comm->hosts = calloc(1, sizeof *hosts);
    if (hosts != NULL) {
        hosts->size = calloc(comm->n, sizeof *hosts->size);
        hosts->of = calloc(comm->n, sizeof *hosts->of);
        hosts->leaders = calloc(comm->n, sizeof(struct communicator *));
    }

    bool good = hosts != NULL && hosts->size != NULL && hosts->of != NULL && hosts->leaders != NULL;
    if (good) {
        find_places(device, comm);
        good = make_inner(device, comm);
    }

    if (!good) {
        comm->unmade = true;
        acclib_hosts_leave(device, comm);
    }
    return good ? ACCL_OK
                : acclib_fail(ACCL_NO_MEMORY, "out of memory (communicator between hosts)");
}

void acclib_hosts_leave(accl_device *device, struct communicator *comm)
{
    struct hosts *hosts = comm->hosts;
    comm->hosts = NULL;
    if (hosts == NULL)
        return;

    for (uint32_t i = 0; hosts->leaders != NULL && i < hosts->most; i++)
        inner_free(device, hosts->leaders[i]);
    inner_free(device, hosts->local);
    /* After a failure others may still write to the blocks, which then stay. */
    for (uint32_t i = 0; i < HOST_BLOCKS; i++)
        if (hosts->blocks[i].offset && !comm->broken)
            acclib_heap_put(device->heap, hosts->blocks[i].offset);

    free(hosts->leaders);
    free(hosts->size);
    free(hosts->of);
    free(hosts);
}

uint8_t *acclib_hosts_block(accl_device *device, struct communicator *comm, uint32_t number,
                            uint64_t bytes)
{
    struct host_block *block = &comm->hosts->blocks[number];
    if (!block->offset || block->bytes < bytes) {
        if (block->offset)
            acclib_heap_put(device->heap, block->offset);
        block->bytes = bytes ? bytes : 1;
        block->offset = acclib_heap_get(device->heap, block->bytes);
    }

    if (!block->offset) {
        acclib_call_fail(device, 0, "out of memory (%llu bytes of a collective between hosts)",
                         (unsigned long long)bytes);
        return NULL;
    }

    return device->heap->base + block->offset;
}
