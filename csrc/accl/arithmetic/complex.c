/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/complex.h"

#include <stdint.h>

/* Lanes of a vector for each pair of parts, of which the first is I. */
#define REALS(i, lanes) i, i
#define IMAGINARIES(i, lanes) i + 1, i + 1
#define SWAPPED(i, lanes) i + 1, i
#define MINUS_PLUS(i, lanes) sign, 0
#define PAIRS_2(of, lanes) of(0, lanes)
#define PAIRS_4(of, lanes) PAIRS_2(of, lanes), of(2, lanes)
#define PAIRS_8(of, lanes) PAIRS_4(of, lanes), of(4, lanes), of(6, lanes)
#define PAIRS_16(of, lanes) \
    PAIRS_8(of, lanes), of(8, lanes), of(10, lanes), of(12, lanes), of(14, lanes)

/* Vectors of LANES parts; what is left, and all of it where the compiler has no shuffles, by pairs.
 */
#if __has_builtin(__builtin_shufflevector)
/* A difference is a sum with the other sign: gcc 12.2 makes fused operations, which round once, of
 * alternating differences and sums, whatever -ffp-contract says (its bug 106902). So the build
 * turns vectorising off, which would make such pairs of the loop below. */
#define VECTORS(type, bits_type, lanes) \
    typedef bits_type bits __attribute__((vector_size(lanes * sizeof(type)))); \
    const bits_type sign = (bits_type)1 << (8 * sizeof(type) - 1); \
    for (; i + (lanes) <= 2 * n; i += (lanes)) { \
        vector x = *(const vector *)(const void *)(a + i); \
        vector y = *(const vector *)(const void *)(b + i); \
        vector real = __builtin_shufflevector(x, x, PAIRS_##lanes(REALS, lanes)); \
        vector imaginary = __builtin_shufflevector(x, x, PAIRS_##lanes(IMAGINARIES, lanes)); \
        vector other = __builtin_shufflevector(y, y, PAIRS_##lanes(SWAPPED, lanes)); \
        real *= y; \
        imaginary *= other; \
        real += (vector)((bits)imaginary ^ (bits){PAIRS_##lanes(MINUS_PLUS, lanes)}); \
        *(vector *)(void *)(to + i) = real; \
    }
#else
#define VECTORS(type, bits_type, lanes)
#endif

#define PRODUCT(name, attribute, type, bits_type, lanes) \
    attribute void acclib_prod_complex_##name(void *result, const void *left, const void *right, \
                                              size_t n) \
    { \
        typedef type part __attribute__((aligned(1), may_alias)); \
        typedef type vector \
            __attribute__((vector_size(lanes * sizeof(type)), aligned(1), may_alias)); \
        const part *a = left, *b = right; \
        part *to = result; \
        size_t i = 0; \
        VECTORS(type, bits_type, lanes) \
        for (; i < 2 * n; i += 2) { \
            type real = a[i] * b[i] - a[i + 1] * b[i + 1]; \
            type imaginary = a[i] * b[i + 1] + a[i + 1] * b[i]; \
            to[i] = real; \
            to[i + 1] = imaginary; \
        } \
    }

PRODUCT(float_base, , float, uint32_t, 4)
PRODUCT(double_base, , double, uint64_t, 2)
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
PRODUCT(float_avx2, AVX2, float, uint32_t, 8)
PRODUCT(double_avx2, AVX2, double, uint64_t, 4)
PRODUCT(float_avx512, AVX512, float, uint32_t, 16)
PRODUCT(double_avx512, AVX512, double, uint64_t, 8)
#endif
