/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmutex.h: any number of mutexes, each a bit in WRAM.
 *
 * An atomic bit is held only while a byte of state bits is looked at and changed, never while the
 * virtual mutex itself is held, so that few of them serve many.
 */
#ifndef DPU_RUNTIME_VMUTEX_H
#define DPU_RUNTIME_VMUTEX_H

#include <assert.h>
#include <mutex.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vmutex {
    uint8_t *vm;
    uint8_t *hw_mutexes;
    uint8_t hw_mutexes_mask;
};

/* NB_VMUTEXES is a multiple of 8, NB_MUTEXES a power of two; ends in a semicolon. */
#define VMUTEX_INIT(NAME, NB_VMUTEXES, NB_MUTEXES) \
    _Static_assert((NB_MUTEXES) > 0, "virtual mutexes need at least one hardware mutex"); \
    _Static_assert(((NB_MUTEXES) & ((NB_MUTEXES) - 1)) == 0, "hardware mutexes are a power of 2"); \
    _Static_assert(((NB_VMUTEXES) & 7) == 0, "virtual mutexes are a multiple of 8"); \
    uint8_t __atomic_bit hw_mutexes_##NAME[NB_MUTEXES]; \
    uint8_t vmutex_##NAME[(NB_VMUTEXES) >> 3]; \
    struct vmutex NAME = {.vm = vmutex_##NAME, \
                          .hw_mutexes = hw_mutexes_##NAME, \
                          .hw_mutexes_mask = (NB_MUTEXES) - 1};

__DPU_INLINE void vmutex_lock(const struct vmutex *vm, uint16_t id)
{
    volatile uint8_t *byte = &vm->vm[id >> 3];
    uint32_t bit = 1u << (id & 7);
    uintptr_t guard = (uintptr_t)&vm->hw_mutexes[(id >> 3) & vm->hw_mutexes_mask];
    uint32_t before;

    do {
        __dpu_acquire(guard);
        before = *byte;
        *byte = (uint8_t)(before | bit);
        __dpu_release(guard);
    } while (before & bit);
}

__DPU_INLINE void vmutex_unlock(const struct vmutex *vm, uint16_t id)
{
    volatile uint8_t *byte = &vm->vm[id >> 3];
    uint32_t bit = 1u << (id & 7);
    uintptr_t guard = (uintptr_t)&vm->hw_mutexes[(id >> 3) & vm->hw_mutexes_mask];

    __dpu_acquire(guard);
    *byte = (uint8_t)(*byte & ~bit);
    __dpu_release(guard);
}

#ifdef __cplusplus
}
#endif

#endif
