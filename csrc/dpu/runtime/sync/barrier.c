/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c: barriers. */
#include <barrier.h>

#include "waiting.h"

void barrier_wait(barrier_t *barrier)
{
    uintptr_t guard = barrier->lock;
    volatile barrier_t *b = barrier;
    uint32_t last, id, next;

    __dpu_acquire(guard);
    if (b->count != 1) {
        b->count--;
        queue_append(&b->wait_queue, __dpu_me());
        __dpu_release(guard);
        __dpu_stop();
        return;
    }
    b->count = b->initial_count;
    last = b->wait_queue;
    if (last != QUEUE_EMPTY) {
        b->wait_queue = QUEUE_EMPTY;
        next = __sys_wq_table[last];
        do {
            id = next;
            /* Once resumed, it may wait elsewhere and use its entry. */
            next = __sys_wq_table[id];
            __dpu_resume(id);
        } while (id != last);
    }
    __dpu_release(guard);
}
