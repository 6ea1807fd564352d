/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FIRST 1024
#define MOST ((size_t)1 << 17)

/* The mutex guards what follows. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct offchip_trace_event *events;
static size_t count, room;
static uint64_t dropped;
static pid_t owner; /* 0: nobody traces */

static void forget(void)
{
    free(events);
    events = NULL;
    count = room = 0;
    dropped = 0;
}

void offchip_trace_begin(void)
{
    pthread_mutex_lock(&guard);
    forget();
    owner = getpid();
    pthread_mutex_unlock(&guard);
}

int64_t offchip_trace_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool make_room(void)
{
    if (count < room)
        return true;
    if (room == MOST)
        return false;

    size_t more = room == 0 ? FIRST : 2 * room;
    struct offchip_trace_event *longer = realloc(events, more * sizeof *events);
    if (longer == NULL)
        return false;
    events = longer;
    room = more;
    return true;
}

void offchip_trace_add(const char *name, int64_t begin, uint64_t bytes, int32_t rank)
{
    int64_t end = offchip_trace_now();
    /* Before the mutex, which another thread may have had when this process was made. */
    if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != getpid())
        return;

    pthread_mutex_lock(&guard);
    if (make_room())
        events[count++] = (struct offchip_trace_event){
            name, begin, end, bytes, (int32_t)syscall(SYS_gettid), rank};
    else
        dropped++;
    pthread_mutex_unlock(&guard);
}

struct offchip_trace_event *offchip_trace_take(size_t *number, uint64_t *lost)
{
    *number = 0;
    *lost = 0;
    if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != getpid())
        return NULL;

    pthread_mutex_lock(&guard);
    struct offchip_trace_event *taken = events;
    *number = count;
    *lost = dropped;
    events = NULL;
    forget();
    pthread_mutex_unlock(&guard);
    return taken;
}
