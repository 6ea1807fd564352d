/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/communicator.h"

#include <stdlib.h>
#include <string.h>

#include "accl/base/hash.h"
#include "accl/engine/exchange.h"
#include "accl/engine/world.h"
#include "accl/transport/executor.h"
#include "accl/transport/ticket.h"
#include "accl/transport/transport.h"

int acclib_communicator_missing(const accl_device *device, uint32_t id)
{
    if (id < device->communicator_count)
        return acclib_fail(ACCL_NOT_FOUND, "communicator %u was freed", id);
    return acclib_fail(ACCL_NOT_FOUND, "no communicator %u", id);
}

static void communicator_free(accl_device *device, struct communicator *comm)
{
    if (comm == NULL)
        return;

    if (comm->transport != NULL && comm->transport->leave != NULL)
        comm->transport->leave(device, comm);

    free(comm->members);
    free(comm->ranks);
    free(comm->world);
    free(comm->lanes);
    free(comm);
}

/* A list of ranks, and how many communicators have been made of it. Freed ones count too: a late
 * rank must not take the next one for the last. */
struct rank_list {
    struct list_node in_device;
    uint64_t times;
    uint32_t n;
    uint32_t world[];
};

static struct rank_list *rank_list_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct rank_list, in_device);
}

void acclib_communicators_free(accl_device *device)
{
    struct list_node *node;
    while ((node = list_pop(&device->communicators)) != NULL)
        communicator_free(device, communicator_of(node));
    while ((node = list_pop(&device->rank_lists)) != NULL)
        free(rank_list_of(node));
}

/* NULL if out of memory. */
static struct rank_list *find_rank_list(accl_device *device, const uint32_t *world, uint32_t n)
{
    for (struct list_node *at = device->rank_lists.first; at != NULL; at = at->next) {
        struct rank_list *list = rank_list_of(at);
        if (list->n == n && memcmp(list->world, world, n * sizeof *world) == 0)
            return list;
    }

    struct rank_list *list = calloc(1, sizeof *list + n * sizeof *world);
    if (list == NULL)
        return NULL;

    list->n = n;
    memcpy(list->world, world, n * sizeof *world);
    list_append(&device->rank_lists, &list->in_device);
    return list;
}

static uint64_t key_of(uint64_t times, const uint32_t *world, uint32_t n)
{
    uint64_t key = hash_mix(UINT64_C(0x6b657920), times);
    key = hash_mix(key, n);
    for (uint32_t i = 0; i < n; i++)
        key = hash_mix(key, world[i]);

    return key ? key : 1;
}

static int add(accl_device *device, const struct accl_rank *ranks, const uint32_t *world,
               uint32_t n, uint32_t me, uint32_t *id)
{
    uint32_t alive = 0;
    for (struct list_node *at = device->communicators.first; at != NULL; at = at->next)
        alive++;
    if (alive >= ARENA_LANES)
        return acclib_fail(ACCL_NO_MEMORY, "too many communicators: the limit is %d", ARENA_LANES);

    struct rank_list *list = find_rank_list(device, world, n);
    struct communicator *comm = list != NULL ? calloc(1, sizeof *comm) : NULL;
    if (comm != NULL) {
        comm->members = calloc(n, sizeof *comm->members);
        comm->ranks = malloc(n * sizeof *comm->ranks);
        comm->world = malloc(n * sizeof *comm->world);
    }

    if (comm == NULL || comm->members == NULL || comm->ranks == NULL || comm->world == NULL) {
        communicator_free(device, comm);
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (communicator)");
    }

    memcpy(comm->ranks, ranks, n * sizeof *ranks);
    memcpy(comm->world, world, n * sizeof *world);
    comm->n = n;
    comm->me = me;
    comm->id = device->communicator_count;
    comm->key = key_of(list->times, world, n);
    comm->transport = acclib_world_transport(device, world, n);
    for (uint32_t i = 0; i < OPERATION_KINDS; i++)
        comm->makes |= (uint32_t)comm->transport->makes(i) << i;
    for (uint32_t i = 0; i < n; i++)
        comm->members[i].rank = world[i];

    int status = comm->transport->join(device, comm);
    if (status != ACCL_OK) {
        communicator_free(device, comm);
        return status;
    }

    comm->exchange_address = acclib_exchange_add_communicator(device, comm);
    pthread_mutex_lock(&device->lock);
    list_append(&device->communicators, &comm->in_device);
    pthread_mutex_unlock(&device->lock);
    device->communicator_count++;
    list->times++;
    *id = comm->id;

    return ACCL_OK;
}

static int create(accl_device *device, const struct accl_rank *ranks, uint32_t n,
                  uint32_t local_rank, uint32_t *id)
{
    if (!device->rx_count)
        return acclib_fail(ACCL_NOT_READY, "set up rx buffers before communicators");
    if (n < 1 || n > RANKS_MAX || local_rank >= n)
        return acclib_fail(ACCL_INVALID, "rank %u of %u: a communicator has 1 to %d ranks",
                           local_rank, n, RANKS_MAX);
    uint32_t world[RANKS_MAX];
    for (uint32_t i = 0; i < n; i++)
        world[i] = i;
    if (!device->ranks) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++)
                if (ranks[i].ip == ranks[j].ip && ranks[i].port == ranks[j].port)
                    return acclib_fail(ACCL_INVALID, "ranks %u and %u have the same address", j, i);
        int status = acclib_world_open(device, ranks, n, local_rank);
        return status == ACCL_OK ? add(device, ranks, world, n, local_rank, id) : status;
    }

    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < device->ranks && (device->world[k].address.ip != ranks[i].ip ||
                                     device->world[k].address.port != ranks[i].port))
            k++;
        if (k == device->ranks)
            return acclib_fail(ACCL_INVALID, "rank %u (port %u) is not in communicator 0", i,
                               ranks[i].port);
        world[i] = k;
        for (uint32_t j = 0; j < i; j++)
            if (world[j] == k)
                return acclib_fail(ACCL_INVALID, "ranks %u and %u are the same", j, i);
    }

    if (world[local_rank] != device->rank)
        return acclib_fail(ACCL_INVALID, "rank %u of the list is not this device", local_rank);

    return add(device, ranks, world, n, local_rank, id);
}

ACCL_EXPORT int accl_create_communicator(accl_device *device, const struct accl_rank *ranks,
                                         uint32_t n, uint32_t local_rank, uint32_t *id)
{
    if (id == NULL)
        return acclib_is_null("accl_create_communicator", "id");
    if (ranks == NULL && n)
        return acclib_is_null("accl_create_communicator", "ranks");

    *id = 0;
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    status = create(device, ranks, n, local_rank, id);
    acclib_executor_leave(device);

    return status;
}

static bool has_calls(accl_device *device, uint32_t id)
{
    pthread_mutex_lock(&device->lock);
    struct list_node *at = device->tickets.first;
    while (at != NULL && !acclib_ticket_uses(ticket_of(at), id))
        at = at->next;
    pthread_mutex_unlock(&device->lock);

    return at != NULL;
}

static int take_out(accl_device *device, uint32_t id)
{
    struct communicator *comm = acclib_communicator_find(device, id);
    if (comm == NULL)
        return acclib_communicator_missing(device, id);
    if (id == ACCL_GLOBAL_COMM)
        return acclib_fail(ACCL_INVALID, "communicator 0 says who the ranks are, and lives as long "
                                         "as the device");
    if (has_calls(device, id))
        return acclib_fail(ACCL_IN_USE,
                           "a call on communicator %u is not finished: wait for it before freeing",
                           id);

    pthread_mutex_lock(&device->lock);
    list_remove(&device->communicators, &comm->in_device);
    pthread_mutex_unlock(&device->lock);
    acclib_exchange_remove_communicator(device, comm);
    communicator_free(device, comm);

    return ACCL_OK;
}

ACCL_EXPORT int accl_free_communicator(accl_device *device, uint32_t id)
{
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    status = take_out(device, id);
    acclib_executor_leave(device);

    return status;
}

static int split(accl_device *device, uint32_t parent, const uint32_t *indices, uint32_t n,
                 uint32_t *id)
{
    const struct communicator *from = acclib_communicator_find(device, parent);
    if (from == NULL)
        return acclib_communicator_missing(device, parent);

    bool chosen[RANKS_MAX] = {false};
    for (uint32_t i = 0; i < n; i++) {
        if (indices[i] >= from->n)
            return acclib_fail(ACCL_INVALID, "communicator %u has no rank %u", parent, indices[i]);
        chosen[indices[i]] = true;
    }

    if (!chosen[from->me])
        return acclib_fail(ACCL_INVALID, "the local rank %u is not among the ranks", from->me);

    struct accl_rank *ranks = malloc(from->n * sizeof *ranks);
    if (ranks == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (communicator)");

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
    if (id == NULL)
        return acclib_is_null("accl_split_communicator", "id");
    if (indices == NULL && n)
        return acclib_is_null("accl_split_communicator", "indices");

    *id = 0;
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    status = split(device, comm, indices, n, id);
    acclib_executor_leave(device);

    return status;
}

ACCL_EXPORT int accl_communicator_info(accl_device *device, uint32_t id,
                                       struct accl_communicator_info *info)
{
    if (info == NULL)
        return acclib_is_null("accl_communicator_info", "info");

    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    const struct communicator *comm = acclib_communicator_find(device, id);
    if (comm != NULL) {
        struct accl_communicator_info full = {.size = info->size,
                                              .ranks = comm->n,
                                              .local_rank = comm->me,
                                              .exchange_address = comm->exchange_address,
                                              .key = comm->key};
        memcpy(info, &full, info->size < sizeof full ? info->size : sizeof full);
    }
    acclib_executor_leave(device);

    return comm != NULL ? ACCL_OK : acclib_communicator_missing(device, id);
}

ACCL_EXPORT int accl_communicator_ranks(accl_device *device, uint32_t id, struct accl_rank *ranks,
                                        uint32_t n)
{
    if (ranks == NULL && n)
        return acclib_is_null("accl_communicator_ranks", "ranks");

    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    const struct communicator *comm = acclib_communicator_find(device, id);
    for (uint32_t i = 0; comm != NULL && i < n && i < comm->n; i++) {
        ranks[i] = comm->ranks[i];
        ranks[i].inbound_sequence = comm->members[i].inbound;
        ranks[i].outbound_sequence = comm->members[i].outbound;
        ranks[i].reach = device->world[comm->members[i].rank].address.reach;
    }
    acclib_executor_leave(device);

    return comm != NULL ? ACCL_OK : acclib_communicator_missing(device, id);
}

ACCL_EXPORT int accl_communicator_at(accl_device *device, uint32_t address, uint32_t *id)
{
    if (id == NULL)
        return acclib_is_null("accl_communicator_at", "id");

    *id = 0;
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    struct list_node *at = device->communicators.first;
    while (at != NULL && communicator_of(at)->exchange_address != address)
        at = at->next;
    if (at != NULL)
        *id = communicator_of(at)->id;
    acclib_executor_leave(device);

    return at != NULL
               ? ACCL_OK
               : acclib_fail(ACCL_NOT_FOUND, "no communicator at exchange memory 0x%x", address);
}
