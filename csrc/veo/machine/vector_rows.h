/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_rows.h: operands of vector instructions as rows of 256 elements, and loops over them that
 * the compiler vectorises. Pure but for the core that they are given.
 */
#ifndef OFFCHIP_VE_VECTOR_ROWS_H
#define OFFCHIP_VE_VECTOR_ROWS_H

#include <fenv.h>

#include "veo/machine/operands.h"

/* Rows are whole registers: two of them are the same or have nothing in common, which makes the
 * iterations of a loop over elements independent. */
#ifdef __clang__
#define VE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define VE_LOOP _Pragma("GCC ivdep")
#endif

/* Functions that are too large for a copy in each executor. */
#define VE_ONCE __attribute__((noinline, unused)) static

/* Elements as what an instruction takes them for. */
typedef uint64_t __attribute__((may_alias)) ve_u64;
typedef uint32_t __attribute__((may_alias)) ve_u32;
typedef double __attribute__((may_alias)) ve_f64;
typedef float __attribute__((may_alias)) ve_f32;

/* All ones for each element whose bit in the mask register is set, else 0. */
VE_ONCE void ve_lanes(const struct ve_core *core, unsigned mask, uint64_t *lanes)
{
    for (size_t word = 0; word < 4; word++) {
        uint64_t bits = core->vm[mask & 15][word];
        for (size_t i = 0; i < 64; i++)
            lanes[64 * word + i] = -(bits << i >> 63);
    }
}

/* The same for both halves: the register masks the upper ones, its successor the lower ones. */
VE_ONCE void ve_half_lanes(const struct ve_core *core, unsigned mask, uint64_t *lanes)
{
    unsigned upper = mask & 14;
    unsigned lower = mask == 0 ? 0 : upper + 1;
    for (size_t word = 0; word < 4; word++) {
        uint64_t high = core->vm[upper][word];
        uint64_t low = core->vm[lower][word];
        for (size_t i = 0; i < 64; i++)
            lanes[64 * word + i] = -(high << i >> 63) << 32 | (-(low << i >> 63) & UINT32_MAX);
    }
}

VE_ONCE void ve_fill(uint64_t *row, uint64_t value)
{
    for (size_t i = 0; i < VE_VECTOR_LENGTH; i++)
        row[i] = value;
}

/* The exceptions that the host noted, of which an operation keeps less than what it is computed
 * with. */
#if defined(__aarch64__)
enum { VE_HOST_FLAGS = 0x9F };

static inline unsigned ve_host_flags(void)
{
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags) : : "memory");
    return (unsigned)flags;
}

static inline void ve_set_host_flags(uint64_t flags)
{
    __asm__ volatile("msr fpsr, %0" : : "r"(flags) : "memory");
}
#else
enum { VE_HOST_FLAGS = 63 };

static inline unsigned ve_host_flags(void)
{
    __asm__ volatile("" ::: "memory");
    return __builtin_ia32_stmxcsr();
}

static inline void ve_set_host_flags(unsigned flags)
{
    __builtin_ia32_ldmxcsr(flags);
}
#endif

static inline void ve_keep_host_flags(unsigned before, unsigned kept)
{
    unsigned now = ve_host_flags();
    ve_set_host_flags(before | (now & kept));
}

#endif
