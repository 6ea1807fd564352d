/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cores.h"
#include "veo/run/openmp.h"
#include "veo/run/team_time.h"
#include "veo/run/thread.h"

/* A Vector Engine has this many cores, and so a program of it as many threads. */
enum { VE_CORES = 8 };

/* A thread that is kept for the regions of the one that made it: variables of its own last. */
struct helper {
    pthread_t id;
    struct crew *crew;          /* of the thread that made it */
    struct verun_member member; /* team is NULL while it has nothing to do */
    bool ended;                 /* it is to end */
};

/* Threads and places of a thread that begins regions. */
struct crew {
    pthread_mutex_t lock; /* of helpers, and of the teams that they and this thread are */
    pthread_cond_t changed;
    struct helper *helpers[VERUN_TEAM_MAX];
    uint32_t count;
    uint32_t busy;           /* the first ones are in teams */
    struct verun_team alone; /* around all regions */
    struct verun_member first;
    struct verun_member *member; /* the innermost */
};

/* A team of one thread. */
struct single {
    struct verun_team team;
    struct verun_member member;
};

static _Thread_local struct crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                         .changed = PTHREAD_COND_INITIALIZER};
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t usual_threads;
static _Atomic uint32_t levels;
static struct verun_schedule usual_schedule;

/* --- settings --- */

static void end_helpers(void *argument)
{
    struct crew *mine = argument;
    pthread_mutex_lock(&mine->lock);
    for (uint32_t i = 0; i < mine->count; i++)
        mine->helpers[i]->ended = true;
    pthread_cond_broadcast(&mine->changed);
    pthread_mutex_unlock(&mine->lock);

    for (uint32_t i = 0; i < mine->count; i++) {
        pthread_join(mine->helpers[i]->id, NULL);
        free(mine->helpers[i]);
    }
    mine->count = 0;
}

static void start(void)
{
    uint32_t cores = usable_cores();
    pthread_key_create(&key, end_helpers);
    usual_threads = verun_openmp_setting("OMP_NUM_THREADS", 1, VERUN_TEAM_MAX,
                                         cores < VE_CORES ? cores : VE_CORES);
    usual_schedule = verun_openmp_schedule();
    atomic_store(&levels, verun_openmp_setting("OMP_MAX_ACTIVE_LEVELS", 1, VERUN_LEVELS_MAX, 1));
}

uint32_t verun_team_levels(uint32_t count)
{
    pthread_once(&once, start);
    if (count != 0)
        atomic_store(&levels, count < VERUN_LEVELS_MAX ? count : VERUN_LEVELS_MAX);
    return atomic_load(&levels);
}

struct verun_member *verun_member(void)
{
    if (crew.member != NULL)
        return crew.member;

    pthread_once(&once, start);
    crew.alone = (struct verun_team){.size = 1, .lock = &crew.lock, .changed = &crew.changed};
    crew.first = (struct verun_member){
        .team = &crew.alone, .threads = usual_threads, .schedule = usual_schedule};
    crew.member = &crew.first;
    return crew.member;
}

/* How many threads the next region has if SIZE are asked for (0: nobody asked). */
static uint32_t team_size(const struct verun_member *member, uint32_t size)
{
    if (member->team->active >= verun_team_levels(0))
        return 1;
    if (size == 0)
        size = member->threads;
    return size < VERUN_TEAM_MAX - crew.busy ? size : VERUN_TEAM_MAX - crew.busy;
}

/* --- teams --- */

/* The region's code, by the thread whose place MEMBER is. */
static bool call_region(struct verun_member *member)
{
    const struct verun_team *team = member->team;
    struct verun_thread *thread = verun_thread();
    if (thread == NULL) {
        fprintf(stderr, "[VE] ERROR: out of memory: a thread of OpenMP cannot start\n");
        abort();
    }
    if (member->number != 0)
        verun_team_time_enter(team->time, &member->since);

    /* Two pointers to the number of the thread come before what the region shares. */
    const size_t nargs = team->nargs + 2;
    uint64_t few[32];
    uint64_t *args = nargs <= sizeof few / sizeof *few ? few : malloc(nargs * sizeof *args);
    if (args == NULL) {
        fprintf(stderr, "[VE] ERROR: out of memory: a region of OpenMP cannot start\n");
        abort();
    }
    uint64_t ignored;
    struct verun_member *before = crew.member;
    args[0] = args[1] = (uint64_t)(uintptr_t)&member->number;
    memcpy(&args[2], team->args, team->nargs * sizeof *args);
    crew.member = member;
    bool done = verun_call(thread, team->function, args, nargs, &ignored);
    crew.member = before;
    if (args != few)
        free(args);
    if (!done && team->size > 1)
        verun_stop(thread->core); /* the others would wait for it */
    return done;
}

static void *help(void *argument)
{
    struct helper *helper = argument;
    struct crew *theirs = helper->crew;
    pthread_mutex_lock(&theirs->lock);
    while (!helper->ended) {
        struct verun_team *team = helper->member.team;
        if (team == NULL) {
            pthread_cond_wait(&theirs->changed, &theirs->lock);
            continue;
        }

        pthread_mutex_unlock(&theirs->lock);
        call_region(&helper->member);
        pthread_mutex_lock(&theirs->lock);
        verun_team_time_leave(team->time, &helper->member.since);
        helper->member.team = NULL;
        team->running--;
        pthread_cond_broadcast(&theirs->changed);
    }
    pthread_mutex_unlock(&theirs->lock);
    return NULL;
}

static void add_helper(void)
{
    struct helper *helper = calloc(1, sizeof *helper);
    int error = ENOMEM;
    if (helper != NULL) {
        helper->crew = &crew;
        error = pthread_create(&helper->id, NULL, help, helper);
    }
    if (error != 0) {
        fprintf(stderr,
                "[VE] ERROR: thread %u of OpenMP cannot start: %s; OMP_NUM_THREADS limits "
                "their number\n",
                crew.count + 1, strerror(error));
        abort();
    }
    crew.helpers[crew.count++] = helper;
    pthread_setspecific(key, &crew);
}

static struct verun_member place(struct verun_team *team, struct verun_member *around,
                                 uint32_t number)
{
    return (struct verun_member){.team = team,
                                 .around = around,
                                 .number = number,
                                 .threads = around->threads,
                                 .schedule = around->schedule};
}

bool verun_team_run(uint64_t function, const uint64_t *args, size_t nargs, uint32_t size)
{
    struct verun_member *around = verun_member();
    struct verun_team team = {.lock = &crew.lock,
                              .changed = &crew.changed,
                              .level = around->team->level + 1,
                              .function = function,
                              .args = args,
                              .nargs = nargs};
    team.size = team_size(around, size != 0 ? size : around->wanted);
    team.active = around->team->active + (team.size > 1);
    around->wanted = 0;
    struct verun_member first = place(&team, around, 0);
    team.time = team.size > 1 ? verun_team_time_begin(team.size, &first.since) : NULL;
    const uint32_t before = crew.busy;
    crew.busy += team.size - 1;
    while (crew.count < crew.busy)
        add_helper();

    pthread_mutex_lock(&crew.lock);
    team.running = team.size - 1;
    for (uint32_t i = 1; i < team.size; i++)
        crew.helpers[before + i - 1]->member = place(&team, around, i);
    if (team.size > 1)
        pthread_cond_broadcast(&crew.changed);
    pthread_mutex_unlock(&crew.lock);

    bool done = call_region(&first);

    pthread_mutex_lock(&crew.lock);
    while (team.running != 0)
        pthread_cond_wait(&crew.changed, &crew.lock);
    pthread_mutex_unlock(&crew.lock);
    verun_team_time_end(team.time, &first.since);
    crew.busy = before;
    return done;
}

bool verun_team_begin(void)
{
    struct verun_member *around = verun_member();
    struct single *single = calloc(1, sizeof *single);
    if (single == NULL)
        return false;
    single->team = (struct verun_team){.size = 1,
                                       .level = around->team->level + 1,
                                       .active = around->team->active,
                                       .lock = &crew.lock,
                                       .changed = &crew.changed};
    single->member = place(&single->team, around, 0);
    around->wanted = 0;
    crew.member = &single->member;
    return true;
}

void verun_team_end(void)
{
    struct verun_member *member = verun_member();
    crew.member = member->around;
    free(member->team); /* the first field of a single */
}

void verun_team_barrier(struct verun_member *member)
{
    struct verun_team *team = member->team;
    if (team->size == 1)
        return;

    pthread_mutex_lock(team->lock);
    uint64_t number = team->barriers;
    verun_team_time_arrive(team->time, &member->since, team->waiting + 1 == team->size);
    if (++team->waiting == team->size) {
        team->waiting = 0;
        team->barriers++;
        pthread_cond_broadcast(team->changed);
    }
    while (team->barriers == number)
        pthread_cond_wait(team->changed, team->lock);
    pthread_mutex_unlock(team->lock);
    verun_team_time_depart(team->time);
}

struct verun_loop *verun_loop_enter(struct verun_member *member)
{
    struct verun_team *team = member->team;
    uint64_t number = ++member->loops;
    struct verun_loop *loop = &team->loops[number % VERUN_LOOPS];
    pthread_mutex_lock(team->lock);
    while (loop->number != number && loop->left != 0)
        pthread_cond_wait(team->changed, team->lock);
    if (loop->number != number) {
        *loop = (struct verun_loop){.number = number, .left = team->size};
        verun_team_time_loop(team->time, (uint32_t)(loop - team->loops));
    }
    return loop;
}

void verun_loop_leave(const struct verun_member *member, struct verun_loop *loop)
{
    if (--loop->left == 0) {
        free(loop->posted);
        free(loop->posted_at);
        loop->posted = NULL;
        loop->posted_at = NULL;
    }
    pthread_cond_broadcast(member->team->changed);
    pthread_mutex_unlock(member->team->lock);
}
