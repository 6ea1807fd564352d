/* SPDX-License-Identifier: BSD-3-Clause */
/* timed.h: how long something takes, in seconds of this thread's processor time. */
#ifndef OFFCHIP_ACCELFORGE_TIMED_H
#define OFFCHIP_ACCELFORGE_TIMED_H

#include <time.h>

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The fastest of some runs of a statement, after one that does not count. */
#define BEST_OF(runs, statement) \
    ({ \
        double best = 1e9; \
        for (long run = -1; run < (runs); run++) { \
            double start = processor_seconds(); \
            statement; \
            double took = processor_seconds() - start; \
            if (run >= 0 && took < best) \
                best = took; \
        } \
        best; \
    })

#endif
