/* SPDX-License-Identifier: BSD-3-Clause */
/* mram.h: transfers between WRAM and MRAM. */
#ifndef DPU_RUNTIME_MRAM_H
#define DPU_RUNTIME_MRAM_H

#include <attributes.h>
#include <dpu_instructions.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern __mram_ptr __dma_aligned uint8_t __sys_used_mram_end[];

/* The first byte of MRAM that the program does not use itself. */
#define DPU_MRAM_HEAP_POINTER ((__mram_ptr void *)(__sys_used_mram_end))

/*
 * Copies N bytes from MRAM to WRAM. Both addresses are multiples of 8, N is 8 to 2048 and a
 * multiple of 8. Only this tasklet waits.
 */
__DPU_INLINE void mram_read(const __mram_ptr void *from, void *to, unsigned int n)
{
    __DPU_DMA(0, to, from, n);
}

/* Copies N bytes from WRAM to MRAM, under the same conditions. */
__DPU_INLINE void mram_write(const void *from, __mram_ptr void *to, unsigned int n)
{
    __DPU_DMA(1, from, to, n);
}

/* The older names, with the size in the name. */
#define __DPU_MRAM_SIZED(n) \
    __DPU_INLINE void mram_read##n(const __mram_ptr void *from, void *to) \
    { \
        mram_read(from, to, n); \
    } \
    __DPU_INLINE void mram_write##n(const void *from, __mram_ptr void *to) \
    { \
        mram_write(from, to, n); \
    }
__DPU_MRAM_SIZED(8)
__DPU_MRAM_SIZED(16)
__DPU_MRAM_SIZED(24)
__DPU_MRAM_SIZED(32)
__DPU_MRAM_SIZED(64)
__DPU_MRAM_SIZED(128)
__DPU_MRAM_SIZED(256)
__DPU_MRAM_SIZED(512)
__DPU_MRAM_SIZED(1024)
__DPU_MRAM_SIZED(2048)
#undef __DPU_MRAM_SIZED

#ifdef __cplusplus
}
#endif

#endif
