/* SPDX-License-Identifier: BSD-3-Clause */
/* Order among the threads of a team: barriers, critical, single, reductions, and doacross loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/futex.h"
#include "veo/run/openmp.h"
#include "veo/run/special.h"
#include "veo/run/team_time.h"
#include "veo/run/thread.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* --- locks --- */

enum { FREE, TAKEN, WAITED_FOR };

bool verun_word_try(_Atomic uint32_t *word)
{
    uint32_t free_word = FREE;
    if (!atomic_compare_exchange_strong(word, &free_word, TAKEN))
        return false;
    verun_team_time_lock(verun_member()->team->time, (uint64_t)(uintptr_t)word);
    return true;
}

void verun_word_lock(_Atomic uint32_t *word)
{
    if (verun_word_try(word))
        return;
    while (atomic_exchange(word, WAITED_FOR) != FREE)
        futex_sleep(word, WAITED_FOR, -1);
    verun_team_time_lock(verun_member()->team->time, (uint64_t)(uintptr_t)word);
}

void verun_word_unlock(_Atomic uint32_t *word)
{
    verun_team_time_unlock(verun_member()->team->time, (uint64_t)(uintptr_t)word);
    if (atomic_exchange(word, FREE) == WAITED_FOR)
        futex_wake_all(word);
}

/* --- barriers, critical, master --- */

bool verun_kmpc_barrier(struct ve_core *core)
{
    verun_team_barrier(verun_member());
    core->s[0] = 0; /* cancel_barrier: nothing was cancelled */
    return true;
}

/* loc, number, lock */
bool verun_kmpc_critical(struct ve_core *core)
{
    verun_word_lock(pointer(core->s[2]));
    return true;
}

bool verun_kmpc_end_critical(struct ve_core *core)
{
    verun_word_unlock(pointer(core->s[2]));
    return true;
}

bool verun_kmpc_master(struct ve_core *core)
{
    core->s[0] = verun_member()->number == 0;
    return true;
}

/* loc, number, thread */
bool verun_kmpc_masked(struct ve_core *core)
{
    core->s[0] = verun_member()->number == (uint32_t)core->s[2];
    return true;
}

bool verun_kmpc_flush(struct ve_core *core)
{
    (void)core;
    atomic_thread_fence(memory_order_seq_cst);
    return true;
}

/* --- single --- */

bool verun_kmpc_single(struct ve_core *core)
{
    struct verun_member *member = verun_member();
    uint64_t number = member->singles++;
    core->s[0] = atomic_compare_exchange_strong(&member->team->singles, &number, number + 1);
    return true;
}

/* loc, number, size, values, copy(to, from), whether this thread has them */
bool verun_kmpc_copyprivate(struct ve_core *core)
{
    struct verun_member *member = verun_member();
    struct verun_team *team = member->team;
    const uint64_t own = core->s[3];
    const uint64_t function = core->s[4];
    const bool has_it = (int)core->s[5] != 0;
    uint64_t ignored;
    bool done = true;
    if (has_it)
        team->copied = own;
    verun_team_barrier(member);
    if (!has_it) {
        const uint64_t args[] = {own, team->copied};
        done = verun_call(core->owner, function, args, 2, &ignored);
    }
    if (done)
        verun_team_barrier(member);
    else if (team->size > 1)
        verun_stop(core);
    return done;
}

/* --- reductions: threads add their parts one after the other, in the order of their numbers, so
 * that sums are the same each time --- */

bool verun_kmpc_reduce(struct ve_core *core)
{
    struct verun_member *member = verun_member();
    struct verun_team *team = member->team;
    const uint64_t turn = member->reductions++ * team->size + member->number;
    pthread_mutex_lock(team->lock);
    while (team->reduced != turn)
        pthread_cond_wait(team->changed, team->lock);
    pthread_mutex_unlock(team->lock);
    verun_team_time_lock(team->time, (uint64_t)(uintptr_t)&team->reduced);
    core->s[0] = 1;
    return true;
}

bool verun_kmpc_end_reduce_nowait(struct ve_core *core)
{
    struct verun_team *team = verun_member()->team;
    (void)core;
    verun_team_time_unlock(team->time, (uint64_t)(uintptr_t)&team->reduced);
    pthread_mutex_lock(team->lock);
    team->reduced++;
    pthread_cond_broadcast(team->changed);
    pthread_mutex_unlock(team->lock);
    return true;
}

bool verun_kmpc_end_reduce(struct ve_core *core)
{
    verun_kmpc_end_reduce_nowait(core);
    return verun_kmpc_barrier(core);
}

/* --- doacross: iterations of a nest of loops that wait for others --- */

struct dimension {
    int64_t low, high, step;
};

/* The number of an iteration in the nest; COUNT gets that of all. False: there is no such one. */
static bool number_of(const struct verun_member *member, const int64_t *vector, uint64_t *number,
                      uint64_t *count)
{
    *number = 0;
    *count = 1;
    for (uint32_t i = 0; i < member->depth; i++) {
        struct dimension d;
        memcpy(&d, &member->bounds[3 * (size_t)i], sizeof d);
        const int64_t length = (d.high - d.low) / d.step;
        const int64_t at = vector != NULL ? (vector[i] - d.low) / d.step : 0;
        if (length < 0 || at < 0 || at > length)
            return false;
        *number = *number * ((uint64_t)length + 1) + (uint64_t)at;
        *count *= (uint64_t)length + 1;
    }
    return true;
}

/* loc, number, loops, their bounds */
bool verun_kmpc_doacross_init(struct ve_core *core)
{
    struct verun_member *member = verun_member();
    uint64_t first;
    uint64_t count;
    member->depth = (uint32_t)core->s[2];
    member->bounds = pointer(core->s[3]);
    member->nest = verun_loop_enter(member);
    if (member->nest->posted == NULL && number_of(member, NULL, &first, &count)) {
        bool is_timed = member->team->time != NULL;
        member->nest->posted = calloc(count, 1);
        member->nest->posted_at = is_timed ? calloc(count, sizeof *member->nest->posted_at) : NULL;
        if (member->nest->posted == NULL || (is_timed && member->nest->posted_at == NULL)) {
            fprintf(stderr,
                    "[VE] ERROR: out of memory: %llu iterations cannot wait for each other\n",
                    (unsigned long long)count);
            abort();
        }
    }
    pthread_mutex_unlock(member->team->lock);
    return true;
}

/* loc, number, vector */
bool verun_kmpc_doacross_post(struct ve_core *core)
{
    const struct verun_member *member = verun_member();
    const struct verun_team *team = member->team;
    uint64_t number;
    uint64_t count;
    if (!number_of(member, pointer(core->s[2]), &number, &count))
        return true;
    pthread_mutex_lock(team->lock);
    member->nest->posted[number] = 1;
    if (member->nest->posted_at != NULL)
        member->nest->posted_at[number] = verun_time_now();
    pthread_cond_broadcast(team->changed);
    pthread_mutex_unlock(team->lock);
    return true;
}

bool verun_kmpc_doacross_wait(struct ve_core *core)
{
    const struct verun_member *member = verun_member();
    const struct verun_team *team = member->team;
    uint64_t number;
    uint64_t count;
    if (!number_of(member, pointer(core->s[2]), &number, &count))
        return true;
    pthread_mutex_lock(team->lock);
    while (member->nest->posted[number] == 0)
        pthread_cond_wait(team->changed, team->lock);
    if (member->nest->posted_at != NULL)
        verun_time_wait(member->nest->posted_at[number]);
    pthread_mutex_unlock(team->lock);
    return true;
}

bool verun_kmpc_doacross_fini(struct ve_core *core)
{
    const struct verun_member *member = verun_member();
    (void)core;
    pthread_mutex_lock(member->team->lock);
    verun_loop_leave(member, member->nest);
    return true;
}
