/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h: tasklets in the order of what they wait for: a place among events, or a cycle.
 *
 * Mostly the last that comes is the last to go, and there are few of them. So a new one is
 * put in from the end, and the first of all is found without a search.
 */
#ifndef OFFCHIP_DPU_QUEUE_H
#define OFFCHIP_DPU_QUEUE_H

#include <stdint.h>

#define DPU_NEVER UINT64_MAX

/* A power of two, and more than there are tasklets. */
#define DPU_QUEUE_ROOM 128

/* Smallest key first; behind the last one is DPU_NEVER. */
struct dpu_queue {
    uint32_t first, end;
    uint64_t keys[DPU_QUEUE_ROOM];
};

/* A key for a tasklet: what it waits for, below 2^58, and its id. */
#define DPU_KEY(value, id) ((value) << 6 | (id))
#define DPU_KEY_VALUE(key) ((key) >> 6)
#define DPU_KEY_ID(key) ((uint32_t)(key) & 63)

static inline void dpu_queue_clear(struct dpu_queue *q)
{
    q->first = q->end = 0;
    q->keys[0] = DPU_NEVER;
}

/* DPU_NEVER if nobody is in it. */
static inline uint64_t dpu_queue_first(const struct dpu_queue *q)
{
    return q->keys[q->first % DPU_QUEUE_ROOM];
}

static inline void dpu_queue_take(struct dpu_queue *q)
{
    q->first++;
}

static inline void dpu_queue_put(struct dpu_queue *q, uint64_t key)
{
    uint32_t to = q->end++;
    q->keys[q->end % DPU_QUEUE_ROOM] = DPU_NEVER;
    for (; to != q->first && q->keys[(to - 1) % DPU_QUEUE_ROOM] > key; to--)
        q->keys[to % DPU_QUEUE_ROOM] = q->keys[(to - 1) % DPU_QUEUE_ROOM];
    q->keys[to % DPU_QUEUE_ROOM] = key;
}

#endif
