/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/run/checks.h"
#include "veo/run/gates.h"
#include "veo/run/report.h"
#include "veo/run/system.h"
#include "veo/run/thread_time.h"
#include "veo/run/trace.h"

/* As much as NEC's libraries give to a thread at least; pages are taken when they are touched. */
#define STACK ((size_t)256 << 20)
#define GUARD ((size_t)1 << 16)

/* The thread pointer, what lies at it, and the variables behind that. */
enum { AREA_BEFORE = 4096, BLOCK = 256, PARAMETERS_AT = 24, OWN_VARIABLES = 64 };
#define VARIABLES ((size_t)4 << 20)

/* The thread-local variables of a library. */
struct variables {
    const struct velink_tls *tls;
    uint64_t number;
    struct variables *next; /* older ones */
};

static uint64_t communication[32]; /* a page of these registers, which threads of a process share */
static struct variables *variables;
static _Atomic uint64_t numbers;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t reserved = BLOCK;
static void (*_Atomic stop_process)(const struct ve_core *core);

static void end_thread(void *argument)
{
    struct verun_thread *thread = argument;
    if (thread->core != NULL) {
        verun_checks_detach(thread->core);
        ve_core_destroy(thread->core);
    }
    verun_thread_time_end();
    verun_report_detach();
    if (thread->stack != NULL)
        munmap(thread->stack, GUARD + STACK);
    if (thread->area != NULL)
        munmap(thread->area, AREA_BEFORE + VARIABLES);
    free(thread);
}

static void make_key(void)
{
    pthread_key_create(&key, end_thread);
}

static void *reserve_pages(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

static void set_registers(struct verun_thread *thread)
{
    struct ve_core *core = thread->core;
    uint64_t low = (uint64_t)(uintptr_t)thread->stack + GUARD;
    thread->pointer = (uint64_t)(uintptr_t)thread->area + AREA_BEFORE;

    /* System calls have their parameters before the thread pointer. */
    uint64_t parameters = (uint64_t)(uintptr_t)thread->area;
    memcpy(thread->area + AREA_BEFORE, &thread->pointer, sizeof thread->pointer);
    memcpy(thread->area + AREA_BEFORE + PARAMETERS_AT, &parameters, sizeof parameters);
    core->s[VE_S_LIMIT] = low;
    core->s[VE_S_STACK] = low + STACK;
    core->s[VE_S_THREAD] = thread->pointer;
    core->stack_low = low;
    core->owner = thread;
    core->communication = communication;
    core->communication_count = sizeof communication / sizeof *communication;
    core->monitor_call = verun_system_call;
    verun_gates_attach(core);
    verun_trace_attach(core);
    verun_report_attach(core);
    verun_checks_attach(core);
}

struct verun_thread *verun_thread(void)
{
    pthread_once(&once, make_key);
    struct verun_thread *thread = pthread_getspecific(key);
    if (thread != NULL)
        return thread;

    thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->core = ve_core_create();
    thread->stack = reserve_pages(GUARD + STACK);
    thread->area = reserve_pages(AREA_BEFORE + VARIABLES);
    if (thread->core == NULL || thread->stack == NULL || thread->area == NULL ||
        mprotect(thread->stack, GUARD, PROT_NONE) != 0) {
        end_thread(thread);
        return NULL;
    }

    set_registers(thread);
    pthread_setspecific(key, thread);
    return thread;
}

uint64_t verun_thread_variable(const char *name)
{
    /* Of NEC's C++, whose functions keep a list of what an exception would have to undo. */
    static const char *const names[] = {"__curr_eh_stack_entry", "__eh_curr_region",
                                        "__catch_clause_number"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return OWN_VARIABLES + i * sizeof(uint64_t);
    return 0;
}

bool verun_reserve(size_t size, size_t align, uint64_t *offset)
{
    pthread_mutex_lock(&lock);
    *offset = (reserved + align - 1) & ~(uint64_t)(align - 1);
    bool fits = align <= AREA_BEFORE && *offset <= VARIABLES && size <= VARIABLES - *offset;
    if (fits)
        reserved = *offset + size;
    pthread_mutex_unlock(&lock);
    return fits;
}

bool verun_add_variables(const struct velink_tls *tls)
{
    struct variables *new = tls->size != 0 ? malloc(sizeof *new) : NULL;
    if (new == NULL)
        return tls->size == 0;

    pthread_mutex_lock(&lock);
    *new = (struct variables){tls, atomic_load(&numbers) + 1, variables};
    variables = new;
    atomic_store(&numbers, new->number);
    pthread_mutex_unlock(&lock);
    return true;
}

void verun_remove_variables(const struct velink_tls *tls)
{
    pthread_mutex_lock(&lock);
    struct variables **at = &variables;
    while (*at != NULL && (*at)->tls != tls)
        at = &(*at)->next;
    struct variables *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
}

void verun_start_variables(struct verun_thread *thread)
{
    if (thread->initialised == atomic_load_explicit(&numbers, memory_order_acquire))
        return;

    pthread_mutex_lock(&lock);
    for (const struct variables *at = variables; at != NULL; at = at->next)
        if (at->number > thread->initialised)
            memcpy((void *)(uintptr_t)(thread->pointer + at->tls->offset), at->tls->image,
                   at->tls->image_size);
    thread->initialised = atomic_load(&numbers);
    pthread_mutex_unlock(&lock);
}

void verun_set_stop(void (*stop)(const struct ve_core *core))
{
    atomic_store(&stop_process, stop);
}

void verun_stop(const struct ve_core *core)
{
    void (*stop)(const struct ve_core *) = atomic_load(&stop_process);
    if (stop != NULL)
        stop(core);
    fprintf(stderr, "[VE] ERROR: a thread of VE code stopped at 0x%llx: %s\n",
            (unsigned long long)core->fault.ic, ve_fault_text(core->fault.kind));
    abort();
}

bool verun_call(struct verun_thread *thread, uint64_t function, const uint64_t *args, size_t nargs,
                uint64_t *result)
{
    struct ve_core *core = thread->core;
    uint64_t stack = core->s[VE_S_STACK];
    size_t words = nargs > 8 ? nargs : 8;
    verun_start_variables(thread);

    core->s[VE_S_STACK] = (stack - VERUN_FRAME_ARGUMENTS - words * sizeof *args) & ~UINT64_C(15);
    uint64_t *frame = (uint64_t *)(uintptr_t)(core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS);
    for (size_t i = 0; i < nargs; i++) {
        frame[i] = args[i];
        if (i < 8)
            core->s[i] = args[i];
    }

    core->s[VE_S_CALLEE] = function;
    if (core->checks != NULL)
        ve_checks_enter(core->checks, (unsigned)nargs, (uint64_t)(uintptr_t)frame,
                        nargs * sizeof *args, thread->depth == 0);
    thread->depth++;
    bool done = ve_core_run(core, function);
    if (--thread->depth == 0)
        verun_report_settle();
    core->s[VE_S_STACK] = stack;
    *result = core->s[0];
    return done;
}
