/* SPDX-License-Identifier: BSD-3-Clause */
/* sem.c: semaphores. */
#include <sem.h>

#include "waiting.h"

void sem_take(sem_t *sem)
{
    uintptr_t guard = sem->lock;
    volatile sem_t *s = sem;

    __dpu_acquire(guard);
    s->count--;
    if ((int8_t)s->count >= 0) {
        __dpu_release(guard);
        return;
    }
    queue_append(&s->wait_queue, __dpu_me());
    __dpu_release(guard);
    __dpu_stop();
}

void sem_give(sem_t *sem)
{
    uintptr_t guard = sem->lock;
    volatile sem_t *s = sem;

    __dpu_acquire(guard);
    s->count++;
    /* A semaphore that started below 0 may count up while nobody waits. */
    if ((int8_t)s->count <= 0 && s->wait_queue != QUEUE_EMPTY)
        __dpu_resume(queue_remove(&s->wait_queue));
    __dpu_release(guard);
}
