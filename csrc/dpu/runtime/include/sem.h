/* SPDX-License-Identifier: BSD-3-Clause */
/* sem.h: counting semaphores. */
#ifndef DPU_RUNTIME_SEM_H
#define DPU_RUNTIME_SEM_H

#include <atomic_bit.h>
#include <attributes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sem_t {
    uint8_t wait_queue;
    uint8_t count; /* units left; as a signed number, below 0 the tasklets that wait */
    uint8_t initial_count;
    uint8_t lock;
} sem_t;

/* Defines the semaphore NAME with COUNTER units; ends in a semicolon. */
#define SEMAPHORE_INIT(_name, _counter) \
    _Static_assert(((_counter) < 128) && ((_counter) >= -127), "a semaphore counts to 127"); \
    ATOMIC_BIT_INIT(__CONCAT(semaphore_, _name)); \
    extern sem_t _name; \
    __DPU_GUARDED_OBJECT(_name, _counter, ATOMIC_BIT_GET(__CONCAT(semaphore_, _name)));

/* Takes a unit, and waits for one if none is left. */
void sem_take(sem_t *sem);
/* Gives a unit back; the tasklet that waits longest gets it. */
void sem_give(sem_t *sem);

#ifdef __cplusplus
}
#endif

#endif
