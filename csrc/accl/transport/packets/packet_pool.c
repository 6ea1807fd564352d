/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/packet_pool.h"

#include <stdlib.h>

#include "accl/transport/packets/state.h"

/* Room of a packet that is kept, a piece of a collective, and how many are. */
#define KEPT_BYTES ((UINT64_C(64) << 10) + sizeof(struct packet_header))
#define KEPT_MOST 32
/* malloc() is quick up to here. */
#define SMALL_BYTES (UINT64_C(8) << 10)

void acclib_packet_pool_init(struct packet_pool *pool)
{
    *pool = (struct packet_pool){.spares = 0};
    pthread_mutex_init(&pool->lock, NULL);
}

void acclib_packet_pool_destroy(struct packet_pool *pool)
{
    struct list_node *node;
    while ((node = list_pop(&pool->spare)) != NULL)
        free(packet_of(node));
    pthread_mutex_destroy(&pool->lock);
}

static struct packet *take_spare(struct packet_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct list_node *node = list_pop(&pool->spare);
    pool->spares -= node != NULL;
    pthread_mutex_unlock(&pool->lock);
    return node != NULL ? packet_of(node) : NULL;
}

struct packet *acclib_packet_new(struct packet_pool *pool, uint64_t bytes)
{
    bool is_kept = bytes > SMALL_BYTES && bytes <= KEPT_BYTES;
    struct packet *packet = is_kept ? take_spare(pool) : NULL;

    if (packet == NULL)
        packet = malloc(sizeof *packet + (is_kept ? KEPT_BYTES : bytes));
    if (packet != NULL)
        *packet = (struct packet){.bytes = bytes, .pool = is_kept ? pool : NULL};
    return packet;
}

void acclib_packet_free(struct packet *packet)
{
    struct packet_pool *pool = packet != NULL ? packet->pool : NULL;
    if (packet != NULL && packet->heap != NULL)
        acclib_heap_release(packet->heap);
    if (pool == NULL) {
        free(packet);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    bool keeps = pool->spares < KEPT_MOST;
    if (keeps) {
        list_prepend(&pool->spare, &packet->in_list);
        pool->spares++;
    }
    pthread_mutex_unlock(&pool->lock);

    if (!keeps)
        free(packet);
}
