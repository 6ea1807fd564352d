/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex_pool.h: many things guarded by few mutexes. */
#ifndef DPU_RUNTIME_MUTEX_POOL_H
#define DPU_RUNTIME_MUTEX_POOL_H

#include <assert.h>
#include <mutex.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mutex_pool {
    uint8_t *hw_mutexes;
    uint8_t hw_mutexes_mask;
};

/* Defines the pool NAME of NB_MUTEXES atomic bits, a power of two; ends in a semicolon. */
#define MUTEX_POOL_INIT(NAME, NB_MUTEXES) \
    _Static_assert((NB_MUTEXES) > 0, "a pool has at least one mutex"); \
    _Static_assert(((NB_MUTEXES) & ((NB_MUTEXES) - 1)) == 0, \
                   "the mutexes of a pool are a power of 2"); \
    uint8_t __atomic_bit hw_mutexes_##NAME[NB_MUTEXES]; \
    struct mutex_pool NAME = {.hw_mutexes = hw_mutexes_##NAME, .hw_mutexes_mask = (NB_MUTEXES) - 1};

/* Locks thing ID, and with it those whose ids have the same low bits. */
__DPU_INLINE void mutex_pool_lock(const struct mutex_pool *mp, uint16_t id)
{
    mutex_lock(&mp->hw_mutexes[id & mp->hw_mutexes_mask]);
}

__DPU_INLINE void mutex_pool_unlock(const struct mutex_pool *mp, uint16_t id)
{
    mutex_unlock(&mp->hw_mutexes[id & mp->hw_mutexes_mask]);
}

#ifdef __cplusplus
}
#endif

#endif
