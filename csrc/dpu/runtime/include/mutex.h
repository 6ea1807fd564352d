/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex.h: mutual exclusion by the hardware's atomic bits. */
#ifndef DPU_RUNTIME_MUTEX_H
#define DPU_RUNTIME_MUTEX_H

#include <atomic_bit.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysdef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t *mutex_id_t;

#define MUTEX_GET(_name) _name
/* Defines the mutex NAME; it takes one of the program's 56 bits. */
#define MUTEX_INIT(_name) \
    ATOMIC_BIT_INIT(__CONCAT(mutex_, _name)); \
    const mutex_id_t MUTEX_GET(_name) = &ATOMIC_BIT_GET(__CONCAT(mutex_, _name))

/* Takes the mutex. A tasklet that waits keeps issuing instructions. */
__DPU_INLINE void mutex_lock(mutex_id_t mutex)
{
    __dpu_acquire((uintptr_t)mutex);
}

/* Takes the mutex if it is free, and says whether it was. */
__DPU_INLINE bool mutex_trylock(mutex_id_t mutex)
{
    return __dpu_try_acquire((uintptr_t)mutex);
}

__DPU_INLINE void mutex_unlock(mutex_id_t mutex)
{
    __dpu_release((uintptr_t)mutex);
}

#ifdef __cplusplus
}
#endif

#endif
