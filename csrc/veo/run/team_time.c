/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/team_time.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "veo/run/openmp.h"
#include "veo/run/report_core.h"

/* A lock that a member has taken, and when others hold it. */
struct lock {
    uint64_t address;
    double taken; /* by who has it now; -1: nobody */
    struct ve_queue queue;
    struct lock *next;
};

/* A member, as a loop sees it. */
struct turn {
    double time;    /* when it asked; of one that is not here yet -1, and of one that is through
                       infinity */
    bool is_asking; /* otherwise it will ask later than that */
};

struct verun_team_time {
    const struct ve_time_model *model;
    struct ve_phase phase;
    double start;              /* of the team */
    double resume;             /* when all went on after the last barrier */
    struct ve_counters others; /* of the members that have left */
    pthread_mutex_t mutex;     /* of the list of locks */
    struct lock *locks;
    uint32_t size;
    struct turn turns[]; /* of each loop, of each member */
};

double verun_time_now(void)
{
    const struct verun_core_time *mine = verun_core_time();
    return mine != NULL ? ve_meter_now(&mine->meter) : 0;
}

void verun_time_wait(double until)
{
    struct verun_core_time *mine = verun_core_time();
    if (mine != NULL)
        ve_meter_wait(&mine->meter, until);
}

/* --- teams --- */

struct verun_team_time *verun_team_time_begin(uint32_t size, struct ve_progress *since)
{
    const struct verun_core_time *mine = verun_core_time();
    if (mine == NULL)
        return NULL;
    size_t turns = (size_t)VERUN_LOOPS * size;
    struct verun_team_time *time = calloc(1, sizeof *time + turns * sizeof *time->turns);
    if (time == NULL)
        return NULL;

    time->model = mine->meter.model;
    time->size = size;
    time->start = ve_meter_now(&mine->meter);
    pthread_mutex_init(&time->mutex, NULL);
    ve_phase_start(&time->phase, time->start);
    *since = ve_progress(&mine->meter);
    return time;
}

void verun_team_time_enter(const struct verun_team_time *time, struct ve_progress *since)
{
    struct verun_core_time *mine = verun_core_time();
    if (time == NULL || mine == NULL)
        return;
    mine->is_claimed = true;
    ve_meter_start(&mine->meter, time->model, time->start);
    *since = ve_progress(&mine->meter);
}

void verun_team_time_leave(struct verun_team_time *time, struct ve_progress *since)
{
    struct verun_core_time *mine = verun_core_time();
    if (time == NULL || mine == NULL)
        return;
    ve_phase_arrive(&time->phase, &mine->meter, since);
    const struct ve_counters counters = ve_meter_read(&mine->meter);
    ve_counters_add(&time->others, &counters);
    mine->is_claimed = false;
    ve_meter_start(&mine->meter, time->model, 0);
}

static void forget_locks(struct verun_team_time *time)
{
    for (struct lock *lock = time->locks, *next; lock != NULL; lock = next) {
        next = lock->next;
        free(lock);
    }
    time->locks = NULL;
}

void verun_team_time_end(struct verun_team_time *time, struct ve_progress *since)
{
    struct verun_core_time *mine = verun_core_time();
    if (time == NULL || mine == NULL)
        return;
    ve_phase_arrive(&time->phase, &mine->meter, since);
    ve_meter_wait(&mine->meter, ve_phase_end(&time->phase, time->model));
    ve_meter_take(&mine->meter, &time->others);
    forget_locks(time);
    pthread_mutex_destroy(&time->mutex);
    free(time);
}

/* --- barriers --- */

void verun_team_time_arrive(struct verun_team_time *time, struct ve_progress *since, bool is_last)
{
    const struct verun_core_time *mine = verun_core_time();
    if (time == NULL || mine == NULL)
        return;
    ve_phase_arrive(&time->phase, &mine->meter, since);
    if (is_last)
        time->resume = ve_phase_end(&time->phase, time->model);
}

void verun_team_time_depart(const struct verun_team_time *time)
{
    if (time != NULL)
        verun_time_wait(time->resume);
}

/* --- locks --- */

/* NULL without memory. */
static struct lock *find_lock(struct verun_team_time *time, uint64_t address)
{
    struct lock *lock = time->locks;
    while (lock != NULL && lock->address != address)
        lock = lock->next;
    if (lock == NULL && (lock = calloc(1, sizeof *lock)) != NULL) {
        *lock = (struct lock){.address = address, .taken = -1, .next = time->locks};
        time->locks = lock;
    }
    return lock;
}

void verun_team_time_lock(struct verun_team_time *time, uint64_t address)
{
    if (time == NULL)
        return;
    pthread_mutex_lock(&time->mutex);
    struct lock *lock = find_lock(time, address);
    if (lock != NULL)
        lock->taken = verun_time_now();
    pthread_mutex_unlock(&time->mutex);
}

void verun_team_time_unlock(struct verun_team_time *time, uint64_t address)
{
    if (time == NULL)
        return;
    double now = verun_time_now();
    pthread_mutex_lock(&time->mutex);
    struct lock *lock = find_lock(time, address);
    /* When another one had it in modelled time, all that was done with it is done later. */
    if (lock != NULL && lock->taken >= 0) {
        now += ve_queue_hold(&lock->queue, lock->taken, now - lock->taken) - lock->taken;
        lock->taken = -1;
    }
    pthread_mutex_unlock(&time->mutex);
    verun_time_wait(now);
}

/* --- pieces of loops --- */

static struct turn *turns_of(struct verun_team_time *time, uint32_t loop)
{
    return &time->turns[(size_t)loop * time->size];
}

void verun_team_time_loop(struct verun_team_time *time, uint32_t loop)
{
    for (uint32_t i = 0; time != NULL && i < time->size; i++)
        turns_of(time, loop)[i] = (struct turn){-1, false};
}

void verun_team_time_ask(struct verun_team_time *time, uint32_t loop, uint32_t member)
{
    if (time != NULL)
        turns_of(time, loop)[member] = (struct turn){verun_time_now(), true};
}

bool verun_team_time_may_take(const struct verun_team_time *time, uint32_t loop, uint32_t member)
{
    if (time == NULL)
        return true;
    const struct turn *turns = &time->turns[(size_t)loop * time->size];
    const double mine = turns[member].time;
    for (uint32_t i = 0; i < time->size; i++) {
        bool after =
            turns[i].time > mine || (turns[i].time == mine && (!turns[i].is_asking || i > member));
        if (i != member && !after)
            return false;
    }
    return true;
}

void verun_team_time_take(struct verun_team_time *time, uint32_t loop, uint32_t member, bool none)
{
    if (time == NULL)
        return;
    struct turn *turn = &turns_of(time, loop)[member];
    turn->is_asking = false;
    if (none)
        turn->time = INFINITY;
}
