/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in nanoseconds, and deadlines made of the monotonic one. */
#ifndef OFFCHIP_CLOCK_H
#define OFFCHIP_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER INT64_MAX
#define CLOCK_MILLISECOND INT64_C(1000000)
#define CLOCK_SECOND INT64_C(1000000000)

static inline int64_t clock_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec;
}

/* Time of the processor that this thread has had, so that others who are busy do not matter. */
static inline int64_t clock_of_thread(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec;
}

/* As clock_now(), some milliseconds late, for a fraction of the cost. */
static inline int64_t clock_coarse(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec;
}

/* The time TIMEOUT_NS from now; negative stands for no limit. */
static inline int64_t clock_deadline(int64_t timeout_ns)
{
    if (timeout_ns < 0)
        return CLOCK_NEVER;
    int64_t now = clock_now();
    return timeout_ns > CLOCK_NEVER - now ? CLOCK_NEVER : now + timeout_ns;
}

#endif
