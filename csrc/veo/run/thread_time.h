/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_time.h: modelled time of threads that VE code creates: each begins when it is created, and
 * who joins it waits until it ends, and gets what it counted. Without a report (report.h) there is
 * no struct verun_thread_time: all take NULL and do nothing.
 *
 * Any thread may call these. None blocks, but for a lock that is held shortly.
 */
#ifndef VERUN_THREAD_TIME_H
#define VERUN_THREAD_TIME_H

#include <pthread.h>

struct verun_thread_time;

/* For a thread that the caller is about to create; NULL without a report, or without memory. */
struct verun_thread_time *verun_thread_time_make(void);
/* It could not be created. */
void verun_thread_time_drop(struct verun_thread_time *time);

/* By the new thread, before VE code runs, and when it ends. */
void verun_thread_time_begin(struct verun_thread_time *time);
void verun_thread_time_end(void);

/* It was joined by the caller, or detached. */
void verun_thread_time_joined(pthread_t id);
void verun_thread_time_detached(pthread_t id);

#endif
