/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of C++'s libraries, as far as they are there: memory, guards, and those of libc++. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "veo/run/special.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* --- memory --- */

static bool return_block(struct ve_core *core, void *block)
{
    if (block == NULL) {
        fprintf(stderr, "[VE] ERROR: out of memory: VE code cannot catch std::bad_alloc\n");
        abort();
    }
    core->s[0] = (uint64_t)(uintptr_t)block;
    return true;
}

bool verun_new(struct ve_core *core)
{
    return return_block(core, malloc(core->s[0] != 0 ? core->s[0] : 1));
}

bool verun_new_nothrow(struct ve_core *core)
{
    core->s[0] = (uint64_t)(uintptr_t)malloc(core->s[0] != 0 ? core->s[0] : 1);
    return true;
}

/* size, alignment */
bool verun_new_aligned(struct ve_core *core)
{
    void *block = NULL;
    const size_t align = core->s[1] > sizeof block ? core->s[1] : sizeof block;
    return return_block(core, posix_memalign(&block, align, core->s[0]) == 0 ? block : NULL);
}

bool verun_delete(struct ve_core *core)
{
    free(pointer(core->s[0]));
    return true;
}

bool verun_new_there(struct ve_core *core)
{
    core->s[0] = core->s[1];
    return true;
}

bool verun_delete_there(struct ve_core *core)
{
    (void)core;
    return true;
}

/* The second address may be NULL if there is nothing to move. */
bool verun_vec_memmove(struct ve_core *core)
{
    if (core->s[2] != 0)
        memmove(pointer(core->s[0]), pointer(core->s[1]), core->s[2]);
    return true;
}

/* --- guards of variables in functions --- */

/* Byte 0 of a guard: it is initialised; byte 1: it is being initialised. */
static pthread_mutex_t guards = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t guarded = PTHREAD_COND_INITIALIZER;

bool verun_cxa_guard_acquire(struct ve_core *core)
{
    uint8_t *guard = pointer(core->s[0]);
    pthread_mutex_lock(&guards);
    while (guard[0] == 0 && guard[1] != 0)
        pthread_cond_wait(&guarded, &guards);
    core->s[0] = guard[0] == 0;
    guard[1] = 1;
    pthread_mutex_unlock(&guards);
    return true;
}

bool verun_cxa_guard_release(struct ve_core *core)
{
    uint8_t *guard = pointer(core->s[0]);
    pthread_mutex_lock(&guards);
    guard[0] = 1;
    guard[1] = 0;
    pthread_cond_broadcast(&guarded);
    pthread_mutex_unlock(&guards);
    return true;
}

bool verun_cxa_pure_virtual(struct ve_core *core)
{
    (void)core;
    fprintf(stderr, "[VE] ERROR: a pure virtual function was called\n");
    abort();
}

/* --- libc++ --- */

/* Sizes of hash tables: the smallest prime number that is not less. */
bool verun_next_prime(struct ve_core *core)
{
    uint64_t number = core->s[0] > 2 ? core->s[0] | 1 : core->s[0] == 0 ? 0 : 2;
    for (bool prime = number <= 2; !prime; number += prime ? 0 : 2) {
        prime = true;
        for (uint64_t factor = 3; factor <= number / factor && prime; factor += 2)
            prime = number % factor != 0;
    }
    core->s[0] = number;
    return true;
}

/* A point in time is a structure: s0 is where it goes. */
static bool return_time(const struct ve_core *core, clockid_t clock, long per_second)
{
    struct timespec now;
    clock_gettime(clock, &now);
    int64_t count = now.tv_sec * per_second + now.tv_nsec / (1000000000 / per_second);
    memcpy(pointer(core->s[0]), &count, sizeof count);
    return true;
}

bool verun_steady_now(struct ve_core *core)
{
    return return_time(core, CLOCK_MONOTONIC, 1000000000);
}

bool verun_system_now(struct ve_core *core)
{
    return return_time(core, CLOCK_REALTIME, 1000000);
}

/* A mutex of libc++ begins with one of pthread's. */
bool verun_mutex_lock(struct ve_core *core)
{
    pthread_mutex_lock(pointer(core->s[0]));
    return true;
}

bool verun_mutex_try_lock(struct ve_core *core)
{
    core->s[0] = pthread_mutex_trylock(pointer(core->s[0])) == 0;
    return true;
}

bool verun_mutex_unlock(struct ve_core *core)
{
    pthread_mutex_unlock(pointer(core->s[0]));
    return true;
}
