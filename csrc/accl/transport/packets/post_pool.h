/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of packets. Packets of a piece's size are kept for the next ones: malloc() would give
 * their pages back to the system and fault them in again, which costs as much as a copy.
 * Any thread.
 */
#ifndef ACCL_PACKETS_POST_POOL_H
#define ACCL_PACKETS_POST_POOL_H

#include <pthread.h>
#include <stdint.h>

#include "common/list.h"

struct parcel_post;

struct post_pool {
    pthread_mutex_t lock;
    struct list spare; /* struct parcel_post */
    uint32_t spares;
};

void acclib_post_pool_init(struct post_pool *pool);
/* Frees what is kept; what is in use is freed to the pool before. */
void acclib_post_pool_destroy(struct post_pool *pool);

/* A packet of BYTES for data, which are not set, and all else zero; NULL if out of memory. */
struct parcel_post *acclib_post_new(struct post_pool *pool, uint64_t bytes);

/* Frees a packet, of this pool or another one; NULL is allowed. */
void acclib_post_free(struct parcel_post *post);

#endif
