/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiting.h: queues of tasklets that sleep.
 *
 * A queue is the id of its last tasklet, and each tasklet's entry in the table is the one behind
 * it; the last one's is the first one. A tasklet is in one queue at most, so that one table serves
 * all. A queue is touched only while its guard is held; a tasklet may be resumed before it has
 * stopped, since resuming waits for that.
 */
#ifndef DPU_RUNTIME_WAITING_H
#define DPU_RUNTIME_WAITING_H

#include <dpuruntime.h>

#define QUEUE_EMPTY __EMPTY_WAIT_QUEUE

__DPU_INLINE void queue_append(volatile uint8_t *queue, uint32_t id)
{
    uint32_t last = *queue;

    if (last == QUEUE_EMPTY) {
        __sys_wq_table[id] = (uint8_t)id;
    } else {
        __sys_wq_table[id] = __sys_wq_table[last];
        __sys_wq_table[last] = (uint8_t)id;
    }
    *queue = (uint8_t)id;
}

/* Removes the first one of a queue that is not empty. */
__DPU_INLINE uint32_t queue_remove(volatile uint8_t *queue)
{
    uint32_t last = *queue, first = __sys_wq_table[last];

    if (first == last)
        *queue = QUEUE_EMPTY;
    else
        __sys_wq_table[last] = __sys_wq_table[first];
    return first;
}

#endif
