/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/world.h"

#include <stdlib.h>
#include <string.h>

#include "accl/transport/hosts/hosts.h"
#include "accl/transport/packets/packets.h"
#include "accl/transport/shm/shm.h"
#include "accl/transport/transport.h"

/* Reads ACCL_TRANSPORT, the reach that ACCL_REACH_AUTO stands for; itself if addresses decide. */
static int usual_reach(uint32_t *reach)
{
    const char *text = secure_getenv("ACCL_TRANSPORT");
    *reach = ACCL_REACH_AUTO;
    if (text == NULL || !text[0] || strcmp(text, "auto") == 0)
        return ACCL_OK;
    if (strcmp(text, "shared") != 0 && strcmp(text, "packets") != 0)
        return acclib_fail(ACCL_INVALID,
                           "ACCL_TRANSPORT is '%s': it can be auto, shared or packets", text);

    *reach = text[0] == 's' ? ACCL_REACH_SHARED : ACCL_REACH_PACKETS;
    return ACCL_OK;
}

/* Chooses the reach of rank I from rank ME; USUAL stands for ACCL_REACH_AUTO. */
static uint32_t choose_reach(const struct accl_rank *ranks, uint32_t i, uint32_t me, uint32_t usual)
{
    if (i == me)
        return ACCL_REACH_SHARED;
    if (ranks[i].reach != ACCL_REACH_AUTO)
        return ranks[i].reach;
    if (usual != ACCL_REACH_AUTO)
        return usual;

    return ranks[i].ip == ranks[me].ip ? ACCL_REACH_SHARED : ACCL_REACH_PACKETS;
}

/* Fills device->world and device->transports; packets come first, as they know of more failures. */
static void choose_transports(accl_device *device, const struct accl_rank *ranks, uint32_t usual)
{
    bool apart = false;
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct world_rank *rank = &device->world[i];
        rank->address = ranks[i];
        rank->address.reach = choose_reach(ranks, i, device->rank, usual);
        bool by_packets = rank->address.reach == ACCL_REACH_PACKETS;
        rank->transport = by_packets ? &acclib_packets : &acclib_shm;
        apart |= by_packets;
    }

    uint32_t n = 0;
    if (apart)
        device->transports[n++] = &acclib_packets;
    device->transports[n] = &acclib_shm;
}

int acclib_world_open(accl_device *device, const struct accl_rank *ranks, uint32_t n, uint32_t me)
{
    uint32_t usual;
    int status = usual_reach(&usual);
    if (status != ACCL_OK)
        return status;

    struct world_rank *world = calloc(n, sizeof *world);
    if (world == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (%u ranks)", n);

    device->world = world;
    device->rank = me;
    device->ranks = n;
    device->forced_apart = usual == ACCL_REACH_PACKETS;
    choose_transports(device, ranks, usual);
    for (uint32_t i = 0; status == ACCL_OK && i < TRANSPORTS_MAX && device->transports[i] != NULL;
         i++)
        status = device->transports[i]->open(device);
    if (status != ACCL_OK)
        acclib_world_close(device);

    return status;
}

void acclib_world_close(accl_device *device)
{
    for (uint32_t i = TRANSPORTS_MAX; i-- > 0;)
        if (device->transports[i] != NULL)
            device->transports[i]->close(device);
    memset(device->transports, 0, sizeof device->transports);

    free(device->world);
    device->world = NULL;
    device->ranks = 0;
}

const struct transport *acclib_world_transport(const accl_device *device, const uint32_t *world,
                                               uint32_t n)
{
    bool here = true, several = false, hosts = !device->forced_apart;
    const struct world_rank *ranks = device->world;
    for (uint32_t i = 0; i < n; i++) {
        const struct world_rank *rank = &ranks[world[i]];
        bool shared = rank->transport == &acclib_shm;
        here &= shared;
        /* Ranks of one address share memory, unless the list of ranks says otherwise. */
        hosts &= shared == (rank->address.ip == ranks[device->rank].address.ip);
        for (uint32_t j = 0; j < i; j++)
            several |= ranks[world[j]].address.ip == rank->address.ip;
    }
    if (here)
        return &acclib_shm;

    /* Packets reach every rank. */
    return hosts && several ? &acclib_hosts : &acclib_packets;
}
