/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Durations of calls, by the processor's counter where it has one that never stops: it is read in a
 * fraction of the time that the system's clock takes, which a call of 100 ns would notice.
 */
#ifndef ACCL_TICKS_H
#define ACCL_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct ticks {
    bool counts; /* else ticks are nanoseconds */
    uint64_t at_start;
    int64_t started; /* the clock then */
};

static inline uint64_t ticks_now(const struct ticks *ticks)
{
#if defined(__x86_64__)
    if (ticks->counts)
        return __builtin_ia32_rdtsc();
#else
    (void)ticks;
#endif
    return (uint64_t)clock_now();
}

static inline void ticks_start(struct ticks *ticks)
{
    ticks->counts = false;
#if defined(__x86_64__)
    unsigned a, b, c, d;
    ticks->counts = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1U << 8);
#endif
    ticks->started = clock_now();
    ticks->at_start = ticks_now(ticks);
}

/* Assumes the counter's average rate since the start. */
static inline uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t duration)
{
    if (!ticks->counts)
        return duration;
    uint64_t counted = ticks_now(ticks) - ticks->at_start;
    int64_t passed = clock_now() - ticks->started;
    if (passed <= 0 || counted == 0)
        return duration;
    return (uint64_t)((double)duration * (double)passed / (double)counted);
}

#endif
