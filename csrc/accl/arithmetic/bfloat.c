/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/bfloat.h"

#include <stdint.h>

#include "common/processor.h"

typedef uint16_t any_uint16_t __attribute__((aligned(1), may_alias));
typedef uint32_t bits_of_float __attribute__((may_alias));

/* The bits of a float32 that is a bfloat16. */
static inline uint32_t rounded(uint32_t bits)
{
    uint32_t near = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
    return (bits & 0x7FFFFFFF) > 0x7F800000 ? (bits | 0x400000) & 0xFFFF0000 : near;
}

/* Loops for the compiler to vectorise. */
#define LOOPS(suffix, attribute) \
    attribute static void narrow##suffix(any_uint16_t *to, const bits_of_float *from, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) \
            to[i] = (uint16_t)(rounded(from[i]) >> 16); \
    } \
    attribute static void widen##suffix(bits_of_float *to, const any_uint16_t *from, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) \
            to[i] = (uint32_t)from[i] << 16; \
    } \
    attribute static void round##suffix(bits_of_float *to, const bits_of_float *from, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) \
            to[i] = rounded(from[i]); \
    }

LOOPS(_base, )
#if defined(__x86_64__)
LOOPS(_avx2, __attribute__((target("avx2"))))
#define CHOSEN(name) (processor_has_avx2() ? name##_avx2 : name##_base)
#else
#define CHOSEN(name) name##_base
#endif

void acclib_bfloat_narrow(void *to, const float *from, size_t n)
{
    CHOSEN(narrow)(to, (const bits_of_float *)from, n);
}

void acclib_bfloat_widen(float *to, const void *from, size_t n)
{
    CHOSEN(widen)((bits_of_float *)to, from, n);
}

void acclib_bfloat_round(float *to, const float *from, size_t n)
{
    CHOSEN(round)((bits_of_float *)to, (const bits_of_float *)from, n);
}
