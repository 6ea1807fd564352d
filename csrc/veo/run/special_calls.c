/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that call VE code, or go on elsewhere in it. */
#include <errno.h>
#include <libgen.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "veo/run/finish.h"
#include "veo/run/special.h"
#include "veo/run/thread.h"
#include "veo/run/thread_time.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* As POSIX has it; glibc's function of that name returns a pointer. */
bool verun_strerror_r(struct ve_core *core)
{
    char text[128];
    const char *message = strerror_r((int)core->s[0], text, sizeof text);
    int length = snprintf(pointer(core->s[1]), core->s[2], "%s", message);
    core->s[0] = (uint64_t)length < core->s[2] ? 0 : ERANGE;
    return true;
}

/* POSIX's, which the header declares; glibc's of that name keeps a trailing '/'. */
bool verun_basename(struct ve_core *core)
{
    core->s[0] = (uint64_t)(uintptr_t)__xpg_basename(pointer(core->s[0]));
    return true;
}

/* musl's mask of all categories has bits that are none of the host's. */
bool verun_newlocale(struct ve_core *core)
{
    int mask = (int)core->s[0] & LC_ALL_MASK;
    core->s[0] = (uint64_t)(uintptr_t)newlocale(mask, pointer(core->s[1]), pointer(core->s[2]));
    return true;
}

/* --- comparing --- */

struct comparison {
    struct verun_thread *thread;
    uint64_t function;
    uint64_t argument; /* the third one that qsort_r() passes on */
    bool stopped;      /* it raised an exception */
};

static int compare(const void *a, const void *b, void *argument)
{
    struct comparison *comparison = argument;
    const uint64_t args[] = {(uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b, comparison->argument};
    uint64_t result = 0;
    if (!comparison->stopped)
        comparison->stopped =
            !verun_call(comparison->thread, comparison->function, args, 3, &result);
    return comparison->stopped ? 0 : (int)(int32_t)result;
}

static bool sort(struct ve_core *core, uint64_t argument)
{
    struct comparison comparison = {core->owner, core->s[3], argument, false};
    qsort_r(pointer(core->s[0]), core->s[1], core->s[2], compare, &comparison);
    return !comparison.stopped;
}

bool verun_qsort(struct ve_core *core)
{
    return sort(core, 0);
}

bool verun_qsort_r(struct ve_core *core)
{
    return sort(core, core->s[4]);
}

bool verun_bsearch(struct ve_core *core)
{
    struct comparison comparison = {core->owner, core->s[4], 0, false};
    const uint64_t key = core->s[0];
    const uint64_t base = core->s[1];
    const uint64_t size = core->s[3];
    uint64_t low = 0;
    uint64_t high = core->s[2];
    uint64_t found = 0;
    while (low < high && found == 0 && !comparison.stopped) {
        uint64_t middle = low + (high - low) / 2;
        int order = compare(pointer(key), pointer(base + middle * size), &comparison);
        if (order == 0)
            found = base + middle * size;
        else if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    core->s[0] = found;
    return !comparison.stopped;
}

/* --- the end of the process --- */

bool verun_atexit(struct ve_core *core)
{
    core->s[0] = verun_at_exit(core->s[0], 0) ? 0 : UINT64_MAX;
    return true;
}

bool verun_cxa_atexit(struct ve_core *core)
{
    core->s[0] = verun_at_exit(core->s[0], core->s[1]) ? 0 : UINT64_MAX;
    return true;
}

/* --- threads --- */

struct start {
    uint64_t function;
    uint64_t argument;
    struct verun_thread_time *time;
};

static void *run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    uint64_t result = 0;
    free(argument);
    struct verun_thread *thread = verun_thread();
    if (thread == NULL)
        abort();
    verun_thread_time_begin(start.time);
    if (!verun_call(thread, start.function, &start.argument, 1, &result))
        verun_stop(thread->core);
    return pointer(result);
}

bool verun_pthread_create(struct ve_core *core)
{
    struct start *start = malloc(sizeof *start);
    int error = 12; /* ENOMEM */
    if (start != NULL) {
        *start = (struct start){core->s[2], core->s[3], verun_thread_time_make()};
        error = pthread_create(pointer(core->s[0]), pointer(core->s[1]), run_thread, start);
        if (error != 0) {
            verun_thread_time_drop(start->time);
            free(start);
        }
    }
    core->s[0] = (uint64_t)error;
    return true;
}

static bool end_join(struct ve_core *core, pthread_t id, int error)
{
    if (error == 0)
        verun_thread_time_joined(id);
    core->s[0] = (uint64_t)error;
    return true;
}

bool verun_pthread_join(struct ve_core *core)
{
    const pthread_t id = core->s[0];
    return end_join(core, id, pthread_join(id, pointer(core->s[1])));
}

bool verun_pthread_tryjoin_np(struct ve_core *core)
{
    const pthread_t id = core->s[0];
    return end_join(core, id, pthread_tryjoin_np(id, pointer(core->s[1])));
}

bool verun_pthread_timedjoin_np(struct ve_core *core)
{
    const pthread_t id = core->s[0];
    return end_join(core, id, pthread_timedjoin_np(id, pointer(core->s[1]), pointer(core->s[2])));
}

bool verun_pthread_detach(struct ve_core *core)
{
    const pthread_t id = core->s[0];
    const int error = pthread_detach(id);
    if (error == 0)
        verun_thread_time_detached(id);
    core->s[0] = (uint64_t)error;
    return true;
}

/* Called here, where sanitizers see that frames end without returning. */
bool verun_pthread_exit(struct ve_core *core)
{
    pthread_exit(pointer(core->s[0]));
}

/* The host's once cannot call VE code; this one lets others wait as that does. */
bool verun_pthread_once(struct ve_core *core)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    enum { RUNNING = 1, DONE = 2 };
    int *state = pointer(core->s[0]);
    uint64_t ignored;
    bool ended = true;
    pthread_mutex_lock(&lock);
    while (*state == RUNNING)
        pthread_cond_wait(&done, &lock);
    if (*state != DONE) {
        *state = RUNNING;
        pthread_mutex_unlock(&lock);
        ended = verun_call(core->owner, core->s[1], NULL, 0, &ignored);
        pthread_mutex_lock(&lock);
        *state = DONE;
        pthread_cond_broadcast(&done);
    }
    pthread_mutex_unlock(&lock);
    core->s[0] = 0;
    return ended;
}

/* Without destructors, which would be VE code at the end of a thread. */
bool verun_pthread_key_create(struct ve_core *core)
{
    core->s[0] = (uint64_t)pthread_key_create(pointer(core->s[0]), NULL);
    return true;
}

/* --- jumps --- */

enum { SAVED_FIRST = 18, SAVED_LAST = 33, JUMP_WORDS = 4 + SAVED_LAST - SAVED_FIRST + 1 };

bool verun_setjmp(struct ve_core *core)
{
    const struct verun_thread *thread = core->owner;
    uint64_t words[JUMP_WORDS] = {core->s[VE_S_STACK], core->s[VE_S_FRAME], core->s[VE_S_LINK],
                                  thread->depth};
    memcpy(&words[4], &core->s[SAVED_FIRST], sizeof words - 4 * sizeof *words);
    memcpy(pointer(core->s[0]), words, sizeof words);
    core->s[0] = 0;
    return true;
}

bool verun_longjmp(struct ve_core *core)
{
    const struct verun_thread *thread = core->owner;
    uint64_t words[JUMP_WORDS];
    uint64_t value = (uint32_t)core->s[1] != 0 ? (uint64_t)(int64_t)(int32_t)core->s[1] : 1;
    memcpy(words, pointer(core->s[0]), sizeof words);
    if (words[3] != thread->depth) {
        fprintf(stderr, "[VE] ERROR: longjmp() out of a function that the host called (as qsort() "
                        "does) is not supported\n");
        ve_raise(core, VE_FAULT_ILSP, words[2]);
        return false;
    }

    core->s[VE_S_STACK] = words[0];
    core->s[VE_S_FRAME] = words[1];
    core->s[VE_S_LINK] = words[2];
    memcpy(&core->s[SAVED_FIRST], &words[4], sizeof words - 4 * sizeof *words);
    core->s[0] = value;
    return true;
}

/* --- memory of compilers' own --- */

/* Of a pair: the distance of a module's block from the thread pointer, and of the variable there.
 */
bool verun_tls_get_addr(struct ve_core *core)
{
    uint64_t pair[2];
    const struct verun_thread *thread = core->owner;
    memcpy(pair, pointer(core->s[0]), sizeof pair);
    core->s[0] = thread->pointer + pair[0] + pair[1];
    return true;
}

/* Takes room for alloca(): s0 bytes; the frame's lower part moves down with the stack pointer. */
bool verun_grow_stack(struct ve_core *core)
{
    core->s[VE_S_STACK] = (core->s[VE_S_STACK] - core->s[0]) & ~UINT64_C(15);
    if (core->s[VE_S_STACK] < core->stack_low) {
        ve_raise(core, VE_FAULT_STACK, core->s[VE_S_STACK]);
        return false;
    }
    return true;
}

/* The same; s1 is the negative of an alignment. */
bool verun_grow_stack_align(struct ve_core *core)
{
    core->s[VE_S_STACK] = (core->s[VE_S_STACK] - core->s[0]) & core->s[1] & ~UINT64_C(15);
    if (core->s[VE_S_STACK] < core->stack_low) {
        ve_raise(core, VE_FAULT_STACK, core->s[VE_S_STACK]);
        return false;
    }
    return true;
}
