/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LAST_CACHE_USUAL (32 << 20)
#define READ_AHEAD 1024 /* bytes */

#if defined(__x86_64__)
/* Bytes of the largest cache that leaf LEAF of cpuid describes; all leaves of the kind have one
 * form. */
static size_t largest_cache(unsigned leaf)
{
    size_t largest = 0;
    unsigned a, b, c, d;
    for (unsigned i = 0; i < 8 && __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); i++) {
        size_t line = (b & 0xFFF) + 1, parts = (b >> 12 & 0x3FF) + 1, ways = (b >> 22) + 1;
        size_t bytes = line * parts * ways * ((size_t)c + 1);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}
#endif

/* What one core can use, which sysconf() does not say: there a processor of AMD has the sum of all.
 */
static size_t last_cache(void)
{
    size_t bytes = 0;
#if defined(__x86_64__)
    bytes = largest_cache(0x8000001D); /* AMD */
    if (!bytes)
        bytes = largest_cache(4); /* Intel */
#endif
    return bytes ? bytes : LAST_CACHE_USUAL;
}

/* Three eighths of the last cache: with the source three quarters, and other ranks want some too.
 */
bool copy_is_large(size_t bytes)
{
    static _Atomic size_t least;
    size_t limit = atomic_load_explicit(&least, memory_order_relaxed);
    if (!limit) {
        limit = last_cache() / 8 * 3;
        atomic_store_explicit(&least, limit, memory_order_relaxed);
    }
    return bytes >= limit;
}

void copy_past_caches(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    uint8_t *out = to;
    const uint8_t *in = from;
    size_t head = (64 - (uintptr_t)out % 64) % 64;
    if (head > bytes)
        head = bytes;
    memcpy(out, in, head);
    size_t at = head;
    for (; at + 64 <= bytes; at += 64) {
        const __m128i *line = (const __m128i *)(const void *)(in + at);
        __m128i *stored = (__m128i *)(void *)(out + at);
        __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1);
        __m128i c = _mm_loadu_si128(line + 2), d = _mm_loadu_si128(line + 3);
        _mm_prefetch((const char *)line + READ_AHEAD, _MM_HINT_NTA);
        _mm_stream_si128(stored, a);
        _mm_stream_si128(stored + 1, b);
        _mm_stream_si128(stored + 2, c);
        _mm_stream_si128(stored + 3, d);
    }
    /* Such stores are not in order with what follows, as when a rank says that it is done. */
    _mm_sfence();
    memcpy(out + at, in + at, bytes - at);
#else
    memcpy(to, from, bytes);
#endif
}

void copy_memory(void *to, const void *from, size_t bytes)
{
    uintptr_t apart = (uintptr_t)to > (uintptr_t)from ? (uintptr_t)to - (uintptr_t)from
                                                      : (uintptr_t)from - (uintptr_t)to;
    if (copy_is_large(bytes) && apart >= bytes)
        copy_past_caches(to, from, bytes);
    else
        memmove(to, from, bytes);
}
