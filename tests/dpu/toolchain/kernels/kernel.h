/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of the DPU that the kernels of these tests need; they use no run time. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define HOST __attribute__((section(".dpu_host"), used, aligned(8)))
#define MRAM __attribute__((address_space(255)))
#define IN_MRAM MRAM __attribute__((section(".mram.noinit"), used, aligned(8)))
#define BIT __attribute__((section(".atomic")))
#define ALIGNED __attribute__((aligned(8)))
#define INLINE static inline __attribute__((always_inline, unused))

INLINE uint32_t me(void)
{
    uint32_t id;
    __asm__(".insn r 0x0b, 6, 0, %0, x0, x0" : "=r"(id));
    return id;
}

/* The size is part of the address in WRAM: 8 to 2048 bytes. */
INLINE void read_mram(uint32_t mram, void *wram, uint32_t size)
{
    __asm__ volatile(".insn s 0x0b, 0, %0, 255(%1)"
                     :
                     : "r"(mram), "r"((uint32_t)(uintptr_t)wram + (size << 21))
                     : "memory");
}

INLINE void write_mram(const void *wram, uint32_t mram, uint32_t size)
{
    __asm__ volatile(".insn s 0x0b, 1, %0, 255(%1)"
                     :
                     : "r"(mram), "r"((uint32_t)(uintptr_t)wram + (size << 21))
                     : "memory");
}

INLINE void lock(unsigned char *bit)
{
    __asm__ volatile(".insn i 0x0b, 3, x0, %0, 0" : : "r"(bit) : "memory");
}

INLINE bool try_lock(unsigned char *bit)
{
    uint32_t taken;
    __asm__ volatile(".insn i 0x0b, 3, %0, %1, 0" : "=r"(taken) : "r"(bit) : "memory");
    return taken != 0;
}

INLINE void unlock(unsigned char *bit)
{
    __asm__ volatile(".insn i 0x0b, 4, x0, %0, 0" : : "r"(bit) : "memory");
}

INLINE void stop(void)
{
    __asm__ volatile(".insn r 0x0b, 6, 1, x0, x0, x0" : : : "memory");
}

INLINE void resume(uint32_t tasklet)
{
    __asm__ volatile(".insn r 0x0b, 6, 3, x0, %0, x0" : : "r"(tasklet) : "memory");
}

/* All tasklets wait for the last one, which wakes the others. */
INLINE void barrier(unsigned char *bit, volatile uint32_t *arrived)
{
    lock(bit);
    uint32_t count = *arrived + 1;
    *arrived = count == NR_TASKLETS ? 0 : count;
    unlock(bit);
    if (count < NR_TASKLETS) {
        stop();
        return;
    }
    for (uint32_t tasklet = 0; tasklet < NR_TASKLETS; tasklet++)
        if (tasklet != me())
            resume(tasklet);
}

#endif
