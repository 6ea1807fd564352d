/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. The first says who takes part at all. A communicator's key is made of the global
 * ranks in it and of how often this rank has made one of the same, so all members get the same
 * key without a word to each other.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accl/transport/packets/packets.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

struct communicator *communicator_find(accl_device *device, uint32_t id)
{
    struct communicator *comm = device->communicators;
    while (comm && comm->id != id)
        comm = comm->next;
    return comm;
}

static void communicator_free(struct communicator *comm)
{
    if (!comm)
        return;
    free(comm->members);
    free(comm->ranks);
    free(comm->world);
    free(comm);
}

void communicators_free(accl_device *device)
{
    while (device->communicators) {
        struct communicator *comm = device->communicators;
        device->communicators = comm->next;
        communicator_free(comm);
    }
}

/* A lane in the own file, shown to the others under the key. */
static struct lane *make_lane(accl_device *device, uint64_t key)
{
    if (device->communicator_count >= ARENA_LANES)
        return NULL;
    struct lane_entry *entry = &device->header->lanes[device->communicator_count];
    uint64_t offset = heap_get(device->heap, sizeof(struct lane));
    if (!offset)
        return NULL;

    struct lane *lane = (struct lane *)(void *)(device->heap->base + offset);
    memset(lane, 0, sizeof *lane);
    entry->offset = offset;
    atomic_store(&entry->key, key);
    return lane;
}

static uint64_t key_of(const accl_device *device, const uint32_t *world, uint32_t n)
{
    uint64_t times = 0;
    for (const struct communicator *c = device->communicators; c; c = c->next)
        times += c->n == n && memcmp(c->world, world, n * sizeof *world) == 0;
    uint64_t key = mix(UINT64_C(0x6b657920), times);
    key = mix(key, n);
    for (uint32_t i = 0; i < n; i++)
        key = mix(key, world[i]);
    return key ? key : 1;
}

/* What ACCL_REACH_AUTO means by ACCL_TRANSPORT: that, or another value for "as usual". */
static int usual_reach(uint32_t *reach)
{
    const char *text = secure_getenv("ACCL_TRANSPORT");
    *reach = ACCL_REACH_AUTO;
    if (!text || !text[0] || strcmp(text, "auto") == 0)
        return ACCL_OK;
    if (strcmp(text, "shared") != 0 && strcmp(text, "packets") != 0)
        return accl_fail(ACCL_INVALID, "ACCL_TRANSPORT is '%s': it can be auto, shared or packets",
                         text);
    *reach = text[0] == 's' ? ACCL_REACH_SHARED : ACCL_REACH_PACKETS;
    return ACCL_OK;
}

/* The first communicator: rings for all ranks, and an address under which they find this one. */
static int take_part(accl_device *device, const struct accl_rank *ranks, uint32_t n, uint32_t me)
{
    uint32_t usual;
    int status = usual_reach(&usual);
    if (status != ACCL_OK)
        return status;
    uint64_t rings = heap_get(device->heap, n * sizeof(struct ring));
    struct peer *peers = calloc(n, sizeof *peers);
    if (!rings || !peers) {
        free(peers);
        if (rings)
            heap_put(device->heap, rings);
        return accl_fail(ACCL_NO_MEMORY, "no memory for the messages of %u ranks", n);
    }
    bool apart = false;
    memset(device->heap->base + rings, 0, n * sizeof(struct ring));
    uint64_t hash = mix(UINT64_C(0x6a6f6220), n);
    for (const char *c = device->job; *c; c++)
        hash = mix(hash, (uint8_t)*c);
    for (uint32_t i = 0; i < n; i++) {
        hash = mix(hash, (uint64_t)ranks[i].ip << 32 | ranks[i].port);
        peers[i].address = ranks[i];
        peers[i].pidfd = -1;
        peers[i].in = (struct ring *)(void *)(device->heap->base + rings) + i;
        if (i == me)
            peers[i].address.reach = ACCL_REACH_SHARED;
        else if (ranks[i].reach == ACCL_REACH_AUTO && usual != ACCL_REACH_AUTO)
            peers[i].address.reach = usual;
        else if (ranks[i].reach == ACCL_REACH_AUTO)
            peers[i].address.reach =
                ranks[i].ip == ranks[me].ip ? ACCL_REACH_SHARED : ACCL_REACH_PACKETS;
        apart |= peers[i].address.reach == ACCL_REACH_PACKETS;
    }
    peers[me].in = NULL;
    peers[me].arena = device->header;
    peers[me].arena_bytes = device->heap->bytes;
    peers[me].pool = device->pool;
    struct arena_header *header = device->header;
    header->bytes = device->heap->bytes;
    header->pid = getpid();
    header->rank = me;
    header->ranks = n;
    header->rings = rings;
    header->magic = ARENA_MAGIC;
    wait_show_core(device);
    device->peers = peers;
    device->rank = me;
    device->ranks = n;
    device->job_hash = hash;
    device->generation = generation_of(hash, me);
    if (apart)
        status = packets_open(device, ranks, n);
    if (status == ACCL_OK)
        status = attach_listen(device);
    if (status != ACCL_OK) {
        packets_close(device);
        free(peers);
        device->peers = NULL;
        device->ranks = 0;
        header->magic = 0;
        heap_put(device->heap, rings);
        return status;
    }
    generation_used(hash, me);
    return ACCL_OK;
}

static int add(accl_device *device, const struct accl_rank *ranks, const uint32_t *world,
               uint32_t n, uint32_t me, uint32_t *id)
{
    struct communicator *comm = calloc(1, sizeof *comm);
    if (comm) {
        comm->members = calloc(n, sizeof *comm->members);
        comm->ranks = malloc(n * sizeof *comm->ranks);
        comm->world = malloc(n * sizeof *comm->world);
    }
    if (!comm || !comm->members || !comm->ranks || !comm->world) {
        communicator_free(comm);
        return accl_fail(ACCL_NO_MEMORY, "no memory for a communicator");
    }
    memcpy(comm->ranks, ranks, n * sizeof *ranks);
    memcpy(comm->world, world, n * sizeof *world);
    comm->n = n;
    comm->me = me;
    comm->id = device->communicator_count;
    comm->key = key_of(device, world, n);
    for (uint32_t i = 0; i < n; i++) {
        comm->members[i].rank = world[i];
        comm->by_packets |= i != me && packets_reach(device, world[i]);
    }
    comm->lane = make_lane(device, comm->key);
    if (!comm->lane) {
        communicator_free(comm);
        return accl_fail(ACCL_NO_MEMORY, "no room for another communicator: there can be %d",
                         ARENA_LANES);
    }
    comm->members[me].lane = comm->lane;
    comm->exchange_address = exchange_add_communicator(device, comm);
    *device->communicators_end = comm;
    device->communicators_end = &comm->next;
    device->communicator_count++;
    *id = comm->id;
    return ACCL_OK;
}

static int create(accl_device *device, const struct accl_rank *ranks, uint32_t n,
                  uint32_t local_rank, uint32_t *id)
{
    if (!device->rx_count)
        return accl_fail(ACCL_NOT_READY, "rx buffers come first");
    if (n < 1 || n > RANKS_MAX || local_rank >= n)
        return accl_fail(ACCL_INVALID, "rank %u of %u: there can be 1 to %d ranks", local_rank, n,
                         RANKS_MAX);
    uint32_t world[RANKS_MAX];
    for (uint32_t i = 0; i < n; i++)
        world[i] = i;
    if (!device->ranks) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++)
                if (ranks[i].ip == ranks[j].ip && ranks[i].port == ranks[j].port)
                    return accl_fail(ACCL_INVALID, "ranks %u and %u have the same address", j, i);
        int status = take_part(device, ranks, n, local_rank);
        return status == ACCL_OK ? add(device, ranks, world, n, local_rank, id) : status;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < device->ranks && (device->peers[k].address.ip != ranks[i].ip ||
                                     device->peers[k].address.port != ranks[i].port))
            k++;
        if (k == device->ranks)
            return accl_fail(ACCL_INVALID, "rank %u (port %u) is not in communicator 0", i,
                             ranks[i].port);
        world[i] = k;
        for (uint32_t j = 0; j < i; j++)
            if (world[j] == k)
                return accl_fail(ACCL_INVALID, "ranks %u and %u are the same", j, i);
    }
    if (world[local_rank] != device->rank)
        return accl_fail(ACCL_INVALID, "rank %u of the list is not this device", local_rank);
    return add(device, ranks, world, n, local_rank, id);
}

ACCL_EXPORT int accl_create_communicator(accl_device *device, const struct accl_rank *ranks,
                                         uint32_t n, uint32_t local_rank, uint32_t *id)
{
    if (!id)
        return accl_is_null("accl_create_communicator", "id");
    if (!ranks && n)
        return accl_is_null("accl_create_communicator", "ranks");
    *id = 0;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    status = create(device, ranks, n, local_rank, id);
    executor_leave(device);
    return status;
}

static int split(accl_device *device, uint32_t parent, const uint32_t *indices, uint32_t n,
                 uint32_t *id)
{
    const struct communicator *from = communicator_find(device, parent);
    if (!from)
        return accl_fail(ACCL_NOT_FOUND, "no communicator %u", parent);
    bool chosen[RANKS_MAX] = {false};
    for (uint32_t i = 0; i < n; i++) {
        if (indices[i] >= from->n)
            return accl_fail(ACCL_INVALID, "communicator %u has no rank %u", parent, indices[i]);
        chosen[indices[i]] = true;
    }
    if (!chosen[from->me])
        return accl_fail(ACCL_INVALID, "the local rank %u is not among the ranks", from->me);
    struct accl_rank *ranks = malloc(from->n * sizeof *ranks);
    if (!ranks)
        return accl_fail(ACCL_NO_MEMORY, "no memory for a communicator");
    uint32_t world[RANKS_MAX];
    uint32_t count = 0, me = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        if (!chosen[i])
            continue;
        if (i == from->me)
            me = count;
        ranks[count] = from->ranks[i];
        world[count++] = from->world[i];
    }
    int status = add(device, ranks, world, count, me, id);
    free(ranks);
    return status;
}

ACCL_EXPORT int accl_split_communicator(accl_device *device, uint32_t comm, const uint32_t *indices,
                                        uint32_t n, uint32_t *id)
{
    if (!id)
        return accl_is_null("accl_split_communicator", "id");
    if (!indices && n)
        return accl_is_null("accl_split_communicator", "indices");
    *id = 0;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    status = split(device, comm, indices, n, id);
    executor_leave(device);
    return status;
}

ACCL_EXPORT int accl_communicator_info(accl_device *device, uint32_t id,
                                       struct accl_communicator_info *info)
{
    if (!info)
        return accl_is_null("accl_communicator_info", "info");
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    const struct communicator *comm = communicator_find(device, id);
    if (comm) {
        struct accl_communicator_info full = {.size = info->size,
                                              .ranks = comm->n,
                                              .local_rank = comm->me,
                                              .exchange_address = comm->exchange_address,
                                              .key = comm->key};
        memcpy(info, &full, info->size < sizeof full ? info->size : sizeof full);
    }
    executor_leave(device);
    return comm ? ACCL_OK : accl_fail(ACCL_NOT_FOUND, "no communicator %u", id);
}

ACCL_EXPORT int accl_communicator_ranks(accl_device *device, uint32_t id, struct accl_rank *ranks,
                                        uint32_t n)
{
    if (!ranks && n)
        return accl_is_null("accl_communicator_ranks", "ranks");
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    const struct communicator *comm = communicator_find(device, id);
    for (uint32_t i = 0; comm && i < n && i < comm->n; i++) {
        ranks[i] = comm->ranks[i];
        ranks[i].inbound_sequence = comm->members[i].inbound;
        ranks[i].outbound_sequence = comm->members[i].outbound;
        ranks[i].reach = device->peers[comm->members[i].rank].address.reach;
    }
    executor_leave(device);
    return comm ? ACCL_OK : accl_fail(ACCL_NOT_FOUND, "no communicator %u", id);
}

ACCL_EXPORT int accl_communicator_at(accl_device *device, uint32_t address, uint32_t *id)
{
    if (!id)
        return accl_is_null("accl_communicator_at", "id");
    *id = 0;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    const struct communicator *comm = device->communicators;
    while (comm && comm->exchange_address != address)
        comm = comm->next;
    if (comm)
        *id = comm->id;
    executor_leave(device);
    return comm ? ACCL_OK
                : accl_fail(ACCL_NOT_FOUND, "no communicator at exchange memory 0x%x", address);
}
