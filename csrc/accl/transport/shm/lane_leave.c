/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane_leave.h"

#include <stdlib.h>

#include "accl/transport/shm/attach.h"
#include "accl/transport/shm/hello.h"
#include "accl/transport/shm/peer.h"

/* The lanes of a communicator that was freed. */
struct left_lanes {
    struct list_node in_shm;
    uint64_t key;
    uint32_t n, me;
    struct lanes *lanes;
    struct left_member {
        uint32_t rank;
        bool told; /* that this rank is done with its lane */
    } members[];
};

static struct left_lanes *left_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct left_lanes, in_shm);
}

static void free_lanes(struct left_lanes *left)
{
    free(left->lanes);
    free(left);
}

/* The lane itself, and what its posts refer to. */
static void free_memory(accl_device *device, const struct lanes *lanes)
{
    for (uint32_t i = 0; i < LANE_POSTS; i++)
        if (lanes->kept[i].offset)
            acclib_heap_put(device->heap, lanes->kept[i].offset);
    if (lanes->window)
        acclib_heap_put(device->heap, lanes->window);
    acclib_heap_put(device->heap, heap_offset(device->heap, lanes->own));
}

/* Tells all members whose lane is there. */
static void tell(accl_device *device, struct left_lanes *left)
{
    for (uint32_t i = 0; i < left->n; i++) {
        struct left_member *member = &left->members[i];
        if (i == left->me || member->told)
            continue;
        struct peer *peer = peer_of(device, member->rank);
        struct lane *lane = left->lanes->of[i];
        if (lane == NULL && peer->arena == NULL)
            acclib_attach_try(device, peer);
        if (lane == NULL)
            lane = acclib_lane_find_in(peer, left->key);
        if (lane == NULL)
            continue;
        atomic_fetch_or(&lane->gone[left->me / 64], UINT64_C(1) << left->me % 64);
        left->lanes->of[i] = NULL;
        member->told = true;
    }
}

/* True if member I uses the lane of this rank no more. */
static bool is_gone(accl_device *device, const struct left_lanes *left, uint32_t i)
{
    struct peer *peer = peer_of(device, left->members[i].rank);
    const struct arena_header *arena = peer->arena;
    if (i == left->me || atomic_load(&left->lanes->own->gone[i / 64]) >> i % 64 & 1)
        return true;
    return (arena != NULL && atomic_load(&arena->closed)) || acclib_peer_is_dead(peer);
}

static bool is_over(accl_device *device, const struct left_lanes *left)
{
    uint32_t i = 0;
    while (i < left->n && is_gone(device, left, i))
        i++;
    return i == left->n;
}

void acclib_lanes_reclaim(accl_device *device)
{
    struct list *all = &device->shm->left;
    for (struct list_node *at = all->first, *next; at != NULL; at = next) {
        next = at->next;
        struct left_lanes *left = left_of(at);
        tell(device, left);
        if (!is_over(device, left))
            continue;

        list_remove(all, at);
        atomic_store(&left->lanes->entry->key, 0);
        free_memory(device, left->lanes);
        free_lanes(left);
    }
}

void acclib_lane_leave(accl_device *device, struct communicator *comm)
{
    /* When the device is closed, everything stays. */
    struct lanes *lanes = comm->lanes;
    if (device->shm == NULL || lanes == NULL)
        return;

    /* Without memory for it the lane stays, and nothing else is lost. */
    struct left_lanes *left = calloc(1, sizeof *left + comm->n * sizeof *left->members);
    if (left == NULL)
        return;

    left->key = comm->key;
    left->n = comm->n;
    left->me = comm->me;
    left->lanes = lanes;
    for (uint32_t i = 0; i < comm->n; i++)
        left->members[i].rank = comm->members[i].rank;
    comm->lanes = NULL;

    /* One that could not be made is not to be found. */
    if (comm->unmade)
        atomic_store(&lanes->entry->key, 0);
    list_append(&device->shm->left, &left->in_shm);
    acclib_lanes_reclaim(device);
}

void acclib_lanes_forget(accl_device *device)
{
    struct list_node *node;
    while ((node = list_pop(&device->shm->left)) != NULL)
        free_lanes(left_of(node));
}
