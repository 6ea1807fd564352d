/* SPDX-License-Identifier: BSD-3-Clause */
/* rwlock.h: many readers or one writer; writers that wait hold new readers back. */
#ifndef DPU_RUNTIME_RWLOCK_H
#define DPU_RUNTIME_RWLOCK_H

#include <mutex.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rwlock_t {
    volatile uint8_t readers; /* tasklets that read now */
    volatile uint8_t writing; /* 1 while a tasklet writes */
    volatile uint8_t waiting; /* writers that wait */
    uint8_t unused;
    mutex_id_t guard;
} rwlock_t;

#define RWLOCK_INIT(_name) \
    ATOMIC_BIT_INIT(__CONCAT(rwlock_, _name)); \
    rwlock_t _name = {0, 0, 0, 0, &ATOMIC_BIT_GET(__CONCAT(rwlock_, _name))}

void rwlock_read_lock(rwlock_t *lock);
void rwlock_read_unlock(rwlock_t *lock);
void rwlock_write_lock(rwlock_t *lock);
void rwlock_write_unlock(rwlock_t *lock);

#ifdef __cplusplus
}
#endif

#endif
