/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/arithmetic/half.h"

#include <string.h>

#include "common/processor.h"

static uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits > 0x7F800000)
        return (uint16_t)(sign | 0x7E00 | (bits >> 13 & 0x3FF));
    if (bits >= 0x477FF000) /* rounds to more than the largest */
        return (uint16_t)(sign | 0x7C00);
    if (bits < 0x38800000) { /* below the smallest normal one */
        if (bits < 0x33000000)
            return (uint16_t)sign;
        uint32_t shift = 126 - (bits >> 23);
        uint32_t fraction = (bits & 0x7FFFFF) | 0x800000;
        uint32_t half = fraction >> shift;
        uint32_t rest = fraction & ((1U << shift) - 1);
        uint32_t middle = 1U << (shift - 1);
        half += rest > middle || (rest == middle && (half & 1));
        return (uint16_t)(sign | half);
    }

    bits += 0xFFF + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1F;
    uint32_t fraction = half & 0x3FF;
    uint32_t bits;

    if (exponent == 31) {
        bits = sign | 0x7F800000 | fraction << 13 | (fraction ? 0x400000 : 0);
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else if (fraction) {
        uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21;
        bits = sign | (113 - shift) << 23 | (fraction << shift & 0x3FF) << 13;
    } else {
        bits = sign;
    }

    float value;
    memcpy(&value, &bits, sizeof value);

    return value;
}

static void narrow_plain(uint16_t *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = half_from_float(from[i]);
}

static void widen_plain(float *to, const uint16_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = half_to_float(from[i]);
}

static void round_plain(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = half_to_float(half_from_float(from[i]));
}

#if defined(__x86_64__)
#include <immintrin.h>

#define F16C __attribute__((target("avx,f16c")))

F16C static void narrow_f16c(uint16_t *to, const float *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    narrow_plain(to + i, from + i, n - i);
}

F16C static void widen_f16c(float *to, const uint16_t *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(
            to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
    widen_plain(to + i, from + i, n - i);
}

F16C static void round_f16c(float *to, const float *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0)));
    round_plain(to + i, from + i, n - i);
}

#else
#define narrow_f16c narrow_plain
#define widen_f16c widen_plain
#define round_f16c round_plain
#endif

void acclib_half_narrow(uint16_t *to, const float *from, size_t n)
{
    (processor_has_avx2() ? narrow_f16c : narrow_plain)(to, from, n);
}

void acclib_half_widen(float *to, const uint16_t *from, size_t n)
{
    (processor_has_avx2() ? widen_f16c : widen_plain)(to, from, n);
}

void acclib_half_round(float *to, const float *from, size_t n)
{
    (processor_has_avx2() ? round_f16c : round_plain)(to, from, n);
}

void acclib_half_narrow_plain(uint16_t *to, const float *from, size_t n)
{
    narrow_plain(to, from, n);
}

void acclib_half_widen_plain(float *to, const uint16_t *from, size_t n)
{
    widen_plain(to, from, n);
}
