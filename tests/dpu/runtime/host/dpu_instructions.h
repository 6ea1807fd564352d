/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_instructions.h: the few instructions of the DPU that printing needs, made of the host's. */
#ifndef DPU_RUNTIME_DPU_INSTRUCTIONS_H
#define DPU_RUNTIME_DPU_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define __DPU_INLINE static inline __attribute__((always_inline, unused))

/* Of the program that checks. */
__attribute__((noreturn)) void host_fault(int number);
void host_dma(void *wram, void *mram, uintptr_t bytes, int to_mram);

__DPU_INLINE uint32_t __dpu_me(void)
{
    return 0;
}

__DPU_INLINE void __dpu_acquire(uintptr_t bit)
{
    if (*(uint8_t *)bit != 0)
        host_fault(-1);
    *(uint8_t *)bit = 1;
}

__DPU_INLINE bool __dpu_try_acquire(uintptr_t bit)
{
    bool is_free = *(uint8_t *)bit == 0;

    *(uint8_t *)bit = 1;
    return is_free;
}

__DPU_INLINE void __dpu_release(uintptr_t bit)
{
    if (*(uint8_t *)bit != 1)
        host_fault(-2);
    *(uint8_t *)bit = 0;
}

#define __dpu_fault(number) host_fault(number)
#define __DPU_DMA(function, wram, mram, bytes) \
    host_dma((void *)(uintptr_t)(wram), (void *)(uintptr_t)(mram), bytes, function)

#endif
