/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arithmetic.h: what the functions that the compiler calls have in common.
 *
 * They have the names and the conventions of compiler-rt. Floating-point numbers go by their bits
 * and are rounded to nearest, ties to even. A NaN that comes in is returned, made
 * quiet. The tests build the same files for the host, where the names have a prefix.
 */
#ifndef DPU_RUNTIME_ARITHMETIC_H
#define DPU_RUNTIME_ARITHMETIC_H

#include <stdint.h>

#ifdef DPU_RUNTIME_HOST_TEST
#define RUNTIME(name) dpu_runtime##name
#else
#define RUNTIME(name) name
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE static inline __attribute__((always_inline, unused))

typedef struct {
    uint32_t high;
    uint32_t low;
} words_t;

INLINE uint32_t high_word(uint64_t x)
{
    return (uint32_t)(x >> 32);
}

INLINE uint32_t low_word(uint64_t x)
{
    return (uint32_t)x;
}

INLINE uint64_t join_words(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The bits that x >> n loses, at the top of the word; 0 < n < 32. */
INLINE uint32_t lost_bits(uint32_t x, uint32_t n)
{
    return x << (32 - n);
}

#endif
