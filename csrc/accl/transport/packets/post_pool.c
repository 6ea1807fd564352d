/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/post_pool.h"

#include <stdlib.h>

#include "accl/transport/packets/state.h"

/* Room of a packet that is kept, a piece of a collective, and how many are. */
#define KEPT_BYTES ((UINT64_C(64) << 10) + sizeof(struct packet_header))
#define KEPT_MOST 32
/* malloc() is quick up to here. */
#define SMALL_BYTES (UINT64_C(8) << 10)

void acclib_post_pool_init(struct post_pool *pool)
{
    *pool = (struct post_pool){.spares = 0};
    pthread_mutex_init(&pool->lock, NULL);
}

void acclib_post_pool_destroy(struct post_pool *pool)
{
    struct list_node *node;
    while ((node = list_pop(&pool->spare)) != NULL)
        free(post_of(node));
    pthread_mutex_destroy(&pool->lock);
}

static struct parcel_post *take_spare(struct post_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct list_node *node = list_pop(&pool->spare);
    pool->spares -= node != NULL;
    pthread_mutex_unlock(&pool->lock);
    return node != NULL ? post_of(node) : NULL;
}

struct parcel_post *acclib_post_new(struct post_pool *pool, uint64_t bytes)
{
    bool is_kept = bytes > SMALL_BYTES && bytes <= KEPT_BYTES;
    struct parcel_post *post = is_kept ? take_spare(pool) : NULL;

    if (post == NULL)
        post = malloc(sizeof *post + (is_kept ? KEPT_BYTES : bytes));
    if (post != NULL)
        *post = (struct parcel_post){.bytes = bytes, .pool = is_kept ? pool : NULL};
    return post;
}

void acclib_post_free(struct parcel_post *post)
{
    struct post_pool *pool = post != NULL ? post->pool : NULL;
    if (post != NULL && post->heap != NULL)
        acclib_heap_release(post->heap);
    if (pool == NULL) {
        free(post);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    bool keeps = pool->spares < KEPT_MOST;
    if (keeps) {
        list_prepend(&pool->spare, &post->in_list);
        pool->spares++;
    }
    pthread_mutex_unlock(&pool->lock);

    if (!keeps)
        free(post);
}
