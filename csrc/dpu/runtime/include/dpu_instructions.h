/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_instructions.h: the DPU's own instructions, as functions.
 *
 * The compiler makes RV32 code, which is translated to DPU code afterwards; an instruction that
 * RV32 does not have is a custom one (opcode 0x0b), which the translator knows. This file and
 * dpu_builtins.h are the only ones that say how they are written.
 */
#ifndef DPU_RUNTIME_DPU_INSTRUCTIONS_H
#define DPU_RUNTIME_DPU_INSTRUCTIONS_H

#include <dpu_builtins.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes an atomic bit; waits as long as it is taken. BIT is the address of its symbol. */
__DPU_INLINE void __dpu_acquire(uintptr_t bit)
{
    __asm__ volatile(".insn i 0x0b, 3, x0, %0, 0" : : "r"(bit) : "memory");
}

__DPU_INLINE bool __dpu_try_acquire(uintptr_t bit)
{
    uint32_t taken;
    __asm__ volatile(".insn i 0x0b, 3, %0, %1, 0" : "=r"(taken) : "r"(bit) : "memory");
    return taken != 0;
}

__DPU_INLINE void __dpu_release(uintptr_t bit)
{
    __asm__ volatile(".insn i 0x0b, 4, x0, %0, 0" : : "r"(bit) : "memory");
}

/* Goes to sleep until another tasklet resumes this one. */
__DPU_INLINE void __dpu_stop(void)
{
    __asm__ volatile(".insn r 0x0b, 6, 1, x0, x0, x0" : : : "memory");
}

/* Wakes a tasklet; waits until it sleeps, if it does not yet. */
__DPU_INLINE void __dpu_resume(uint32_t id)
{
    __asm__ volatile(".insn r 0x0b, 6, 3, x0, %0, x0" : : "r"(id) : "memory");
}

__DPU_INLINE uint32_t __dpu_time(void)
{
    uint32_t value;
    __asm__ volatile(".insn r 0x0b, 6, 4, %0, x0, x0" : "=r"(value) : : "memory");
    return value;
}

__DPU_INLINE uint32_t __dpu_time_cfg(uint32_t config)
{
    uint32_t value;
    __asm__ volatile(".insn r 0x0b, 6, 5, %0, %1, x0" : "=r"(value) : "r"(config) : "memory");
    return value;
}

__DPU_INLINE void __dpu_nop(void)
{
    __asm__ volatile(".insn r 0x0b, 6, 6, x0, x0, x0" : : : "memory");
}

/* One for every byte that is the same in both. */
__DPU_INLINE uint32_t __dpu_cmpb4(uint32_t a, uint32_t b)
{
    uint32_t equal;
    __asm__(".insn r 0x0b, 6, 10, %0, %1, %2" : "=r"(equal) : "r"(a), "r"(b));
    return equal;
}

/* Stops the DPU in fault; the number tells the host why. */
#define __dpu_fault(number) \
    do { \
        __asm__ volatile(".insn i 0x0b, 5, x0, x0, %0" : : "i"(number) : "memory"); \
        __builtin_unreachable(); \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
