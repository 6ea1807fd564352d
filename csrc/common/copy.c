/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "common/clock.h"
#include "common/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LAST_CACHE_USUAL (32 << 20)
#define LARGE_AT_ALL ((size_t)24 << 20)
#define PAGE ((size_t)4096)
#define PAGES_AT_ONCE 4
/* Copies of large ranges that are timed, half of them in each way; times are for so many bytes. */
#define TRIALS 6
#define TRIAL_UNIT (UINT64_C(1) << 20)
#define TRIAL_LEAST ((size_t)1 << 20)

#if defined(__x86_64__)

/* --- by vectors --- */

#define LINE 64 /* of a cache, in bytes */
/* From so many bytes on, the ranges do not fit the first cache together, and it pays to ask for
 * lines of the destination before they are stored to. */
#define WANT_LEAST ((size_t)24 << 10)
#define WANT_AHEAD ((size_t)512)

#define VECTOR_BYTES 16
#define TARGET __attribute__((target("sse2,prfchw")))
#define VECTORS(name) sse2_##name
#include "common/copy_vectors.inc"

#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2,prfchw")))
#define VECTORS(name) avx2_##name
#include "common/copy_vectors.inc"

#define VECTOR_BYTES 64
#define TARGET __attribute__((target("avx512f,prfchw")))
#define VECTORS(name) avx512_##name
#include "common/copy_vectors.inc"

static bool has_sse2(void)
{
    return true; /* all x86-64 processors */
}

static const struct copy_routine routines[] = {
    {"avx512", processor_has_avx512, avx512_copy},
    {"avx2", processor_has_avx2, avx2_copy},
    {"sse2", has_sse2, sse2_copy},
};

#else

static bool always(void)
{
    return true;
}

static void by_library(void *to, const void *from, size_t bytes)
{
    memmove(to, from, bytes);
}

static const struct copy_routine routines[] = {{"memmove", always, by_library}};

#endif

const struct copy_routine *copy_routine(size_t index)
{
    return index < sizeof routines / sizeof *routines ? &routines[index] : NULL;
}

typedef void copy_function(void *to, const void *from, size_t bytes);

static copy_function choose_and_copy;
static copy_function *_Atomic by_vectors = choose_and_copy;

/* The first call; several threads that make it at once choose the same. */
static void choose_and_copy(void *to, const void *from, size_t bytes)
{
    const struct copy_routine *routine = routines;
    while (!routine->is_supported())
        routine++;
    atomic_store_explicit(&by_vectors, routine->copy, memory_order_relaxed);
    routine->copy(to, from, bytes);
}

/* --- past the caches --- */

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

/* Bytes that one core can use, which sysconf() does not say: there a processor of AMD has the sum
 * of all.
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
 * Of a very large cache, a core has the use of a part only. */
bool copy_is_large(size_t bytes)
{
    static _Atomic size_t least;
    size_t limit = atomic_load_explicit(&least, memory_order_relaxed);
    if (!limit) {
        limit = last_cache() / 8 * 3;
        limit = limit < LARGE_AT_ALL ? limit : LARGE_AT_ALL;
        atomic_store_explicit(&least, limit, memory_order_relaxed);
    }

    return bytes >= limit;
}

#if defined(__x86_64__)
static inline void stream_line(uint8_t *to, const uint8_t *from)
{
    const __m128i *in = (const __m128i *)(const void *)from;
    __m128i *out = (__m128i *)(void *)to;
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);

    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
}

/* Some lines of each page in turn: four streams keep memory busier than one. */
static void stream_pages(uint8_t *to, const uint8_t *from)
{
    for (size_t at = 0; at < PAGE; at += 2 * LINE) {
        for (size_t page = 0; page < PAGES_AT_ONCE * PAGE; page += PAGE) {
            stream_line(to + page + at, from + page + at);
            stream_line(to + page + at + LINE, from + page + at + LINE);
        }
    }
}
#endif

void copy_past_caches(void *to, const void *from, size_t bytes)
{
    size_t done = 0;
#if defined(__x86_64__)
    const size_t step = PAGES_AT_ONCE * PAGE, head = -(uintptr_t)to % LINE;
    uint8_t *out = to;
    const uint8_t *in = from;
    if (bytes >= head + step) {
        memcpy(out, in, head);
        for (done = head; bytes - done >= step; done += step)
            stream_pages(out + done, in + done);

        /* Such stores are not in order with what follows, as when a rank says that it is done. */
        _mm_sfence();
    }
#endif
    copy_memory((uint8_t *)to + done, (const uint8_t *)from + done, bytes - done);
}

/* --- either --- */

static void copy_by_vectors(void *to, const void *from, size_t bytes)
{
    atomic_load_explicit(&by_vectors, memory_order_relaxed)(to, from, bytes);
}

void copy_trials_add(struct copy_trials *trials, bool past, uint64_t bytes, int64_t ns)
{
    uint64_t each = (uint64_t)ns * TRIAL_UNIT / bytes + 1;
    uint64_t least = atomic_load_explicit(&trials->least[past], memory_order_relaxed);
    while ((!least || each < least) &&
           !atomic_compare_exchange_weak_explicit(&trials->least[past], &least, each,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

static bool is_past_quicker(struct copy_trials *trials)
{
    return atomic_load_explicit(&trials->least[true], memory_order_relaxed) <
           atomic_load_explicit(&trials->least[false], memory_order_relaxed);
}

bool copy_trials_choose(struct copy_trials *trials, bool *is_trial)
{
    unsigned made = atomic_load_explicit(&trials->made, memory_order_relaxed);
    if (made < TRIALS)
        made = atomic_fetch_add_explicit(&trials->made, 1, memory_order_relaxed);

    *is_trial = made < TRIALS;
    if (*is_trial)
        return made % 2;
    return is_past_quicker(trials);
}

static struct copy_trials large_trials;

bool copy_is_settled(size_t whole)
{
    return !copy_is_large(whole) ||
           atomic_load_explicit(&large_trials.made, memory_order_relaxed) >= TRIALS;
}

/* The first copies are made in both ways in turns, and timed: which one is quicker depends on the
 * processor, and on what else uses its memory. The time of a piece says little, as its lines leave
 * the caches later. */
static void copy_large(void *to, const void *from, size_t bytes)
{
    struct copy_trials *trials = &large_trials;
    bool is_trial = false;
    bool past = bytes < TRIAL_LEAST ? copy_is_settled(SIZE_MAX) && is_past_quicker(trials)
                                    : copy_trials_choose(trials, &is_trial);
    int64_t began = is_trial ? clock_now() : 0;
    (past ? copy_past_caches : copy_by_vectors)(to, from, bytes);
    if (is_trial)
        copy_trials_add(trials, past, bytes, clock_now() - began);
}

void copy_many(void *to, const void *from, size_t bytes, size_t whole)
{
    const uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
    const bool apart = ahead >= bytes && -ahead >= bytes;
    if (apart && copy_is_large(whole))
        copy_large(to, from, bytes);
    else
        copy_by_vectors(to, from, bytes);
}
