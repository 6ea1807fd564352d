/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processor.h: the vector instructions that the processor executes and whose registers the system
 * saves. __builtin_cpu_supports() says no to all of them where zig cc compiles.
 */
#ifndef OFFCHIP_COMMON_PROCESSOR_H
#define OFFCHIP_COMMON_PROCESSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* SAVED names registers in XCR0, WANTED bits of ebx in leaf 7. */
static inline bool processor_has(uint32_t saved, unsigned wanted)
{
    unsigned a, b, c, d;
    uint32_t low, high;
    const unsigned needed = bit_OSXSAVE | bit_FMA | bit_F16C;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed)
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & saved) == saved && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (b & wanted) == wanted;
}

/* The answer is kept in KNOWN, 0 at first: a hypervisor takes microseconds for each question. */
static inline bool processor_remembers(_Atomic signed char *known, uint32_t saved, unsigned wanted)
{
    signed char answer = atomic_load_explicit(known, memory_order_relaxed);
    if (answer == 0) {
        answer = processor_has(saved, wanted) ? 1 : -1;
        atomic_store_explicit(known, answer, memory_order_relaxed);
    }
    return answer > 0;
}

/* AVX2, FMA and F16C, with ymm registers. */
static inline bool processor_has_avx2(void)
{
    static _Atomic signed char known;
    return processor_remembers(&known, 0x06, bit_AVX2);
}

/* AVX-512 F, BW, DQ and VL as well, with zmm and mask registers. */
static inline bool processor_has_avx512(void)
{
    static _Atomic signed char known;
    return processor_remembers(&known, 0xE6,
                               bit_AVX2 | bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
}
#else
static inline bool processor_has_avx2(void)
{
    return false;
}

static inline bool processor_has_avx512(void)
{
    return false;
}
#endif

#endif
