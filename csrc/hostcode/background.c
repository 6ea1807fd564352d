/* SPDX-License-Identifier: BSD-3-Clause */
/* background.c: the thread of a library that compiles in the background. */
#include "background.h"

#include "build.h"
#include "common/clock.h"
#include "unseen_process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#define STACK_SIZE ((size_t)1 << 20)
/* Time that exit() waits for a thread that is about to end. */
#define EXIT_LIMIT (2 * CLOCK_SECOND)

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_once_t once;
    const struct host_background_jobs *jobs; /* NULL before the first start */
    bool works, stopped;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* In a forked child, whose parent had the thread. */
static void start_anew(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&service.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&service.lock, NULL);
    if (service.jobs != NULL)
        service.jobs->forget();
    service.works = false;
    host_unseen_forget();
    host_build_forget();
}

static void set_up(void)
{
    start_anew();
    pthread_atfork(NULL, NULL, start_anew);
}

void host_background_lock(void)
{
    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
}

void host_background_unlock(void)
{
    pthread_mutex_unlock(&service.lock);
}

bool host_background_wait(int64_t deadline)
{
    const struct timespec until = {
        .tv_sec = (time_t)(deadline / CLOCK_SECOND),
        .tv_nsec = (long)(deadline % CLOCK_SECOND),
    };
    return service.works &&
           pthread_cond_timedwait(&service.changed, &service.lock, &until) != ETIMEDOUT;
}

/* Nothing is compiled for a process that ends. */
__attribute__((destructor)) static void stop(void)
{
    host_background_lock();
    service.stopped = true;
    bool works = service.works;
    host_background_unlock();
    if (!works)
        return;

    host_unseen_stop();
    int64_t deadline = clock_deadline(EXIT_LIMIT);
    host_background_lock();
    while (host_background_wait(deadline))
        continue;
    host_background_unlock();
    host_build_clean_up();
}

static void *work(void *unused)
{
    (void)unused;
    host_background_lock();
    while (!service.stopped && service.jobs->perform())
        pthread_cond_broadcast(&service.changed);

    service.works = false;
    pthread_cond_broadcast(&service.changed);
    host_background_unlock();
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(void)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

bool host_background_start(const struct host_background_jobs *jobs)
{
    service.jobs = jobs;
    if (!service.works && !service.stopped)
        service.works = start_thread();
    return service.works && !service.stopped;
}
