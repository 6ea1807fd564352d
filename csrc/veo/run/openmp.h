/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * openmp.h: OpenMP of VE code: teams of threads, and what their members share.
 *
 * Each thread of a team is one of the host, with a core of its own. A member of a team calls these
 * for itself; what blocks says so. Private to csrc/veo/run/openmp_*.c.
 */
#ifndef VERUN_OPENMP_H
#define VERUN_OPENMP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/machine/core.h"
#include "veo/run/team_time.h"
#include "veo/time/phase.h"

/* Threads of a team at most, and levels of regions that may have several. */
enum { VERUN_TEAM_MAX = 256, VERUN_LEVELS_MAX = 16 };
/* Loops that the members of a team can be in at the same time, as they need not wait after one. */
enum { VERUN_LOOPS = 8 };

/* How the iterations of a loop are given to threads; the numbers are omp.h's omp_sched_t. */
struct verun_schedule {
    enum { VERUN_STATIC = 1, VERUN_DYNAMIC, VERUN_GUIDED, VERUN_AUTO } kind;
    uint64_t chunk; /* 0: not stated */
};

/* A loop, as its team sees it. Under the lock of the team. */
struct verun_loop {
    uint64_t number;   /* of the team's loops it is this one, from 1 on */
    uint32_t left;     /* members that have not left it */
    uint64_t next;     /* dynamic and guided: the first iteration that nobody has */
    uint64_t ordered;  /* the iteration whose ordered region may run */
    double passed_at;  /* when the one before it ended, in modelled time */
    uint8_t *posted;   /* of depend(source): a byte for each iteration */
    double *posted_at; /* when, in modelled time; NULL: no report is made */
};

struct verun_team {
    uint32_t size;
    uint32_t level;  /* regions around it, with those of one thread */
    uint32_t active; /* without them */
    pthread_mutex_t *lock;
    pthread_cond_t *changed;
    uint32_t running; /* members other than the first that are not at the end */
    uint32_t waiting; /* at the barrier */
    uint64_t barriers;
    uint64_t reduced; /* members that have added their part, of all reductions */
    _Atomic uint64_t singles;
    struct verun_team_time *time; /* NULL: of one thread, or no report is made */
    uint64_t copied;              /* address of what single copyprivate() gives to the others */
    uint64_t function;
    const uint64_t *args;
    size_t nargs;
    struct verun_loop loops[VERUN_LOOPS];
};

/* A thread's place in a team. */
struct verun_member {
    struct verun_team *team;
    struct verun_member *around; /* the place of the thread that made the team; NULL: none did */
    uint32_t number;
    uint32_t threads;               /* of its regions, unless they say otherwise */
    uint32_t wanted;                /* num_threads() of the next one; 0: not said */
    struct verun_schedule schedule; /* of schedule(runtime) */
    struct ve_progress since;       /* what its core had done after the last barrier */

    /* Constructs that it has come to; all members come to the same ones. */
    uint64_t singles, loops, reductions;

    /* The loop that it is in. */
    struct verun_loop *loop;
    struct verun_schedule kind;
    bool is_ordered;
    bool passed; /* this iteration's ordered region has ended */
    uint64_t low, step, count;
    uint64_t at, end; /* the iterations that it has been given and not passed */
    uint64_t chunks;  /* static: given to it so far */

    /* The nest of loops whose iterations wait for each other; low, high and step of each. */
    struct verun_loop *nest;
    const int64_t *bounds;
    uint32_t depth;
};

/* This thread's place in the innermost team. */
struct verun_member *verun_member(void);

/*
 * Calls FUNCTION by SIZE threads, the caller among them, as the first; 0: as many as usual. Blocks
 * until all have returned. False if the code stopped on the caller's core.
 */
bool verun_team_run(uint64_t function, const uint64_t *args, size_t nargs, uint32_t size);

/* A team of the caller alone, until the second is called. False without memory. */
bool verun_team_begin(void);
void verun_team_end(void);

/* Blocks until all members are there. */
void verun_team_barrier(struct verun_member *member);

/* Levels of regions that may have several threads: reads it, and sets it if COUNT is not 0. */
uint32_t verun_team_levels(uint32_t count);

/* Enters the member's next loop; blocks while another one is in its place. It comes and goes with
 * the lock of the team held. */
struct verun_loop *verun_loop_enter(struct verun_member *member);
void verun_loop_leave(const struct verun_member *member, struct verun_loop *loop);

/* Locks of VE code: a word, 0 while nobody has it. The first blocks. */
void verun_word_lock(_Atomic uint32_t *word);
bool verun_word_try(_Atomic uint32_t *word);
void verun_word_unlock(_Atomic uint32_t *word);

/* A number from LOW to HIGH in the environment; OTHERWISE if there is none, with a warning if it is
 * something else. */
uint32_t verun_openmp_setting(const char *name, uint32_t low, uint32_t high, uint32_t otherwise);

/* OMP_SCHEDULE. */
struct verun_schedule verun_openmp_schedule(void);

#endif
