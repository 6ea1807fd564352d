/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/thread_time.h"

#include <stdbool.h>
#include <stdlib.h>

#include "veo/run/report_core.h"

struct verun_thread_time {
    pthread_t id;
    double start, end;
    bool has_ended, is_detached;
    struct ve_counters counters; /* once it has ended */
    struct verun_thread_time *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct verun_thread_time *all; /* that have begun and were not joined */
static _Thread_local struct verun_thread_time *own;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- the end of the process --- */

/* Adds what nobody has joined to the total. */
static void settle(void)
{
    pthread_mutex_lock(&lock);
    for (struct verun_thread_time *time = all; time != NULL; time = time->next)
        if (time->has_ended)
            verun_report_add(&time->counters);
    pthread_mutex_unlock(&lock);
}

/* Before the total is written, which was registered earlier. */
static void register_settle(void)
{
    atexit(settle);
}

/* --- threads --- */

struct verun_thread_time *verun_thread_time_make(void)
{
    const struct verun_core_time *mine = verun_core_time();
    struct verun_thread_time *time = mine != NULL ? calloc(1, sizeof *time) : NULL;
    if (time != NULL) {
        time->start = ve_meter_now(&mine->meter);
        pthread_once(&once, register_settle);
    }
    return time;
}

void verun_thread_time_drop(struct verun_thread_time *time)
{
    free(time);
}

void verun_thread_time_begin(struct verun_thread_time *time)
{
    struct verun_core_time *mine = verun_core_time();
    pthread_attr_t attributes;
    int state = PTHREAD_CREATE_JOINABLE;
    if (time == NULL || mine == NULL) {
        free(time);
        return;
    }

    mine->is_claimed = true;
    ve_meter_start(&mine->meter, mine->meter.model, time->start);
    own = time;
    time->id = pthread_self();
    pthread_mutex_lock(&lock);
    if (pthread_getattr_np(time->id, &attributes) == 0) {
        pthread_attr_getdetachstate(&attributes, &state);
        pthread_attr_destroy(&attributes);
    }
    time->is_detached = state == PTHREAD_CREATE_DETACHED;
    time->next = all;
    all = time;
    pthread_mutex_unlock(&lock);
}

/* With the lock. NULL if the thread was created without a report. The id of one that was joined
 * just now may be that of a new one already: the oldest is meant. */
static struct verun_thread_time **find(pthread_t id)
{
    struct verun_thread_time **found = NULL;
    for (struct verun_thread_time **at = &all; *at != NULL; at = &(*at)->next)
        if (pthread_equal((*at)->id, id) != 0)
            found = at;
    return found;
}

static void take_out(struct verun_thread_time **at)
{
    struct verun_thread_time *time = *at;
    *at = time->next;
    free(time);
}

void verun_thread_time_end(void)
{
    struct verun_core_time *mine = verun_core_time();
    if (own == NULL || mine == NULL)
        return;

    pthread_mutex_lock(&lock);
    struct verun_thread_time **at = &all;
    while (*at != own)
        at = &(*at)->next;
    own->counters = ve_meter_read(&mine->meter);
    own->end = ve_meter_now(&mine->meter);
    own->has_ended = true;
    if (own->is_detached) {
        verun_report_add(&own->counters);
        take_out(at);
    }
    pthread_mutex_unlock(&lock);
    own = NULL;
    mine->is_claimed = false;
    ve_meter_start(&mine->meter, mine->meter.model, 0);
}

void verun_thread_time_joined(pthread_t id)
{
    struct verun_core_time *mine = verun_core_time();
    if (mine == NULL)
        return;
    pthread_mutex_lock(&lock);
    struct verun_thread_time **at = find(id);
    if (at != NULL) {
        ve_meter_wait(&mine->meter, (*at)->end);
        ve_meter_take(&mine->meter, &(*at)->counters);
        take_out(at);
    }
    pthread_mutex_unlock(&lock);
}

void verun_thread_time_detached(pthread_t id)
{
    pthread_mutex_lock(&lock);
    struct verun_thread_time **at = find(id);
    if (at != NULL) {
        (*at)->is_detached = true;
        if ((*at)->has_ended) {
            verun_report_add(&(*at)->counters);
            take_out(at);
        }
    }
    pthread_mutex_unlock(&lock);
}
