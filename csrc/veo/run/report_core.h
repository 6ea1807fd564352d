/* SPDX-License-Identifier: BSD-3-Clause */
/* report_core.h: a thread's core with its time. Private to report.c, team_time.c and
 * thread_time.c. */
#ifndef VERUN_REPORT_CORE_H
#define VERUN_REPORT_CORE_H

#include "veo/run/report.h"
#include "veo/time/meter.h"

struct verun_core_time {
    struct ve_meter meter;
    void (*observe)(struct ve_core *core, const struct ve_instruction *instruction,
                    uint64_t address); /* who looked before; NULL: nobody */
    const char *function;              /* whose call is under way; NULL: none */
    bool is_claimed; /* what it counts goes to a call, or to a thread that waits for it */
};

/* This thread's; NULL: no report is made. */
struct verun_core_time *verun_core_time(void);

/* Adds to the total of the process. Any thread. */
void verun_report_add(const struct ve_counters *counters);

#endif
