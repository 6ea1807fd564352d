/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of packets. Packets of a piece's size are kept for the next ones: malloc() would give
 * their pages back to the system and fault them in again, which costs as much as a copy.
 * Any thread.
 */
#ifndef ACCL_PACKETS_PACKET_POOL_H
#define ACCL_PACKETS_PACKET_POOL_H

#include <pthread.h>
#include <stdint.h>

#include "common/list.h"

struct packet;

struct packet_pool {
    pthread_mutex_t lock;
    struct list spare; /* struct packet */
    uint32_t spares;
};

void acclib_packet_pool_init(struct packet_pool *pool);
/* Frees what is kept; what is in use is freed to the pool before. */
void acclib_packet_pool_destroy(struct packet_pool *pool);

/* A packet of BYTES for data, which are not set, and all else zero; NULL if out of memory. */
struct packet *acclib_packet_new(struct packet_pool *pool, uint64_t bytes);

/* Frees a packet, of this pool or another one; NULL is allowed. */
void acclib_packet_free(struct packet *packet);

#endif
