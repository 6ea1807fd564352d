/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of OpenMP, and what omp.h declares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cores.h"
#include "veo/run/float_registers.h"
#include "veo/run/openmp.h"
#include "veo/run/special.h"
#include "veo/run/thread.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* --- regions --- */

static bool fork_region(struct ve_core *core, uint32_t size)
{
    /* The arguments follow those three that have names. */
    const uint64_t *args =
        pointer(core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + 3 * sizeof(uint64_t));
    return verun_team_run(core->s[2], args, (uint32_t)core->s[1], size);
}

/* loc, number of arguments, function, ... */
bool verun_kmpc_fork_call(struct ve_core *core)
{
    return fork_region(core, 0);
}

/* The same, for a league: there is one team. */
bool verun_kmpc_fork_teams(struct ve_core *core)
{
    return fork_region(core, 1);
}

/* loc, number of arguments, function, condition, the argument */
bool verun_kmpc_fork_call_if(struct ve_core *core)
{
    const uint64_t args[] = {core->s[4]};
    return verun_team_run(core->s[2], args, (uint32_t)core->s[1] != 0,
                          (int)core->s[3] != 0 ? 0 : 1);
}

bool verun_kmpc_serialized_parallel(struct ve_core *core)
{
    (void)core;
    if (verun_team_begin())
        return true;
    fprintf(stderr, "[VE] ERROR: out of memory: a region of OpenMP cannot start\n");
    abort();
}

bool verun_kmpc_end_serialized_parallel(struct ve_core *core)
{
    (void)core;
    verun_team_end();
    return true;
}

/* loc, number, threads */
bool verun_kmpc_push_num_threads(struct ve_core *core)
{
    verun_member()->wanted = (int)core->s[2] > 0 ? (uint32_t)core->s[2] : 0;
    return true;
}

/* --- omp.h: what is asked for --- */

#define GET(name, value) \
    bool verun_##name(struct ve_core *core) \
    { \
        core->s[0] = (uint64_t)(value); \
        return true; \
    }

GET(one, 1)
GET(zero, 0)
GET(omp_get_thread_num, verun_member()->number)
GET(omp_get_num_threads, verun_member()->team->size)
GET(omp_get_max_threads, verun_member()->threads)
GET(omp_get_num_procs, usable_cores())
GET(omp_get_thread_limit, VERUN_TEAM_MAX)
GET(omp_in_parallel, verun_member()->team->active != 0)
GET(omp_get_level, verun_member()->team->level)
GET(omp_get_active_level, verun_member()->team->active)
GET(omp_get_max_active_levels, verun_team_levels(0))
GET(omp_get_supported_active_levels, VERUN_LEVELS_MAX)
GET(omp_get_nested, verun_team_levels(0) > 1)

/* The place of this thread, or of one that made its team, at a level; NULL: there is none. */
static const struct verun_member *ancestor(int level)
{
    const struct verun_member *member = verun_member();
    while (member != NULL && (int)member->team->level > level)
        member = member->around;
    return level >= 0 && member != NULL && (int)member->team->level == level ? member : NULL;
}

bool verun_omp_get_ancestor_thread_num(struct ve_core *core)
{
    const struct verun_member *member = ancestor((int)core->s[0]);
    core->s[0] = member != NULL ? member->number : UINT64_MAX;
    return true;
}

bool verun_omp_get_team_size(struct ve_core *core)
{
    const struct verun_member *member = ancestor((int)core->s[0]);
    core->s[0] = member != NULL ? member->team->size : UINT64_MAX;
    return true;
}

bool verun_wtime(struct ve_core *core)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    put_double(core, 0, (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    return true;
}

bool verun_wtick(struct ve_core *core)
{
    put_double(core, 0, 1e-9);
    return true;
}

/* --- omp.h: what is set --- */

bool verun_omp_set_num_threads(struct ve_core *core)
{
    const int count = (int)core->s[0];
    if (count > 0)
        verun_member()->threads = count < VERUN_TEAM_MAX ? (uint32_t)count : VERUN_TEAM_MAX;
    return true;
}

bool verun_omp_set_nested(struct ve_core *core)
{
    verun_team_levels((int)core->s[0] != 0 ? VERUN_LEVELS_MAX : 1);
    return true;
}

bool verun_omp_set_max_active_levels(struct ve_core *core)
{
    const int count = (int)core->s[0];
    verun_team_levels(count > 1 ? (uint32_t)count : 1);
    return true;
}

/* The bit that a kind has for "monotonic" says nothing: all are. */
bool verun_omp_set_schedule(struct ve_core *core)
{
    const uint32_t kind = (uint32_t)core->s[0] & INT32_MAX;
    const int chunk = (int)core->s[1];
    if (kind >= VERUN_STATIC && kind <= VERUN_AUTO)
        verun_member()->schedule = (struct verun_schedule){kind, chunk > 0 ? (uint64_t)chunk : 0};
    return true;
}

bool verun_omp_get_schedule(struct ve_core *core)
{
    const struct verun_schedule schedule = verun_member()->schedule;
    const int32_t kind = (int32_t)schedule.kind;
    const int32_t chunk = (int32_t)schedule.chunk;
    memcpy(pointer(core->s[0]), &kind, sizeof kind);
    memcpy(pointer(core->s[1]), &chunk, sizeof chunk);
    return true;
}

/* --- omp.h: locks --- */

/* One that its owner may take again. The owner is known by the address of a variable of its own. */
struct nested {
    _Atomic uint32_t word;
    int32_t count;
    _Atomic uint64_t owner;
};

static _Thread_local char me;

bool verun_omp_init_lock(struct ve_core *core)
{
    memset(pointer(core->s[0]), 0, sizeof(uint64_t));
    return true;
}

bool verun_omp_set_lock(struct ve_core *core)
{
    verun_word_lock(pointer(core->s[0]));
    return true;
}

bool verun_omp_unset_lock(struct ve_core *core)
{
    verun_word_unlock(pointer(core->s[0]));
    return true;
}

bool verun_omp_test_lock(struct ve_core *core)
{
    core->s[0] = verun_word_try(pointer(core->s[0]));
    return true;
}

bool verun_omp_init_nest_lock(struct ve_core *core)
{
    memset(pointer(core->s[0]), 0, sizeof(struct nested));
    return true;
}

static int count_again(struct nested *lock)
{
    lock->owner = (uint64_t)(uintptr_t)&me;
    return ++lock->count;
}

bool verun_omp_set_nest_lock(struct ve_core *core)
{
    struct nested *lock = pointer(core->s[0]);
    if (lock->owner != (uint64_t)(uintptr_t)&me)
        verun_word_lock(&lock->word);
    count_again(lock);
    return true;
}

bool verun_omp_test_nest_lock(struct ve_core *core)
{
    struct nested *lock = pointer(core->s[0]);
    bool taken = lock->owner == (uint64_t)(uintptr_t)&me || verun_word_try(&lock->word);
    core->s[0] = taken ? (uint64_t)count_again(lock) : 0;
    return true;
}

bool verun_omp_unset_nest_lock(struct ve_core *core)
{
    struct nested *lock = pointer(core->s[0]);
    if (--lock->count == 0) {
        lock->owner = 0;
        verun_word_unlock(&lock->word);
    }
    return true;
}

/* --- memory of omp_alloc() and of variables that allocate() names --- */

bool verun_omp_alloc(struct ve_core *core)
{
    core->s[0] = (uint64_t)(uintptr_t)malloc(core->s[0]);
    return true;
}

bool verun_omp_free(struct ve_core *core)
{
    free(pointer(core->s[0]));
    return true;
}

/* number, size, allocator */
bool verun_kmpc_alloc(struct ve_core *core)
{
    core->s[0] = (uint64_t)(uintptr_t)malloc(core->s[1]);
    return true;
}

/* number, alignment, size, allocator */
bool verun_kmpc_aligned_alloc(struct ve_core *core)
{
    void *block = NULL;
    const size_t align = core->s[1] > sizeof block ? core->s[1] : sizeof block;
    core->s[0] = posix_memalign(&block, align, core->s[2]) == 0 ? (uint64_t)(uintptr_t)block : 0;
    return true;
}

/* number, block, allocator */
bool verun_kmpc_free(struct ve_core *core)
{
    free(pointer(core->s[1]));
    return true;
}
