/* SPDX-License-Identifier: BSD-3-Clause */
/* time.h: the types that libc++'s headers take from C's, for C++ alone. A DPU has no clock but the
 * counter of perfcounter.h. */
#ifndef DPU_RUNTIME_CPLUSPLUS_TIME_H
#define DPU_RUNTIME_CPLUSPLUS_TIME_H

#include <stddef.h>

typedef long long time_t;
typedef long long clock_t;

struct timespec {
    time_t tv_sec;
    long long tv_nsec;
};

struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};

#endif
