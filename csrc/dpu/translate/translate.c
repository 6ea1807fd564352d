/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * translate.c: which programs are translated, and the thread that does it.
 *
 * A program goes through the states below. What is to be done next is in a queue, one entry per
 * program; the thread is started for the first entry, and ends when the queue is empty.
 */
#include "translate.h"

#include "common/clock.h"
#include "job.h"
#include "runner.h"
#include "hostcode/unseen_process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum state {
    NEW,    /* nothing was done */
    QUEUED, /* in the queue, or at work */
    ABSENT, /* the cache does not have it */
    READY,  /* there is code */
    FAILED, /* it cannot be compiled here */
};

/* A translation is made anew if the interpreter still has so much to do: so many instructions, and
 * one of so many of all. */
#define MISSED_MANY UINT64_C(5000000)
#define MISSED_SHARE 32
#define ATTEMPTS 4

#define STACK_SIZE ((size_t)1 << 20)
/* Time that exit() waits for a thread that is about to end. */
#define EXIT_LIMIT (2 * CLOCK_SECOND)

struct entry {
    struct dpu_program *program; /* a reference */
    bool compiles, everything;
    struct entry *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_once_t once;
    struct entry *first, **last;
    bool works, stopped;
    struct dpu_translate_totals totals;
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
    service.first = NULL;
    service.last = &service.first;
    service.works = false;
    host_unseen_forget();
    host_build_forget();
}

static void set_up(void)
{
    start_anew();
    pthread_atfork(NULL, NULL, start_anew);
}

/* With the lock. False after the deadline. */
static bool wait_until(int64_t deadline)
{
    const struct timespec until = {
        .tv_sec = (time_t)(deadline / CLOCK_SECOND),
        .tv_nsec = (long)(deadline % CLOCK_SECOND),
    };
    return pthread_cond_timedwait(&service.changed, &service.lock, &until) != ETIMEDOUT;
}

/* Nothing is compiled for a process that ends. */
__attribute__((destructor)) static void stop(void)
{
    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    service.stopped = true;
    bool works = service.works;
    pthread_mutex_unlock(&service.lock);
    if (!works)
        return;

    host_unseen_stop();
    int64_t deadline = clock_deadline(EXIT_LIMIT);
    pthread_mutex_lock(&service.lock);
    while (service.works && wait_until(deadline))
        continue;
    pthread_mutex_unlock(&service.lock);
    host_build_clean_up();
}

/* --- the thread --- */

static bool install(struct dpu_program *program, const struct dpu_loaded *loaded)
{
    struct dpu_record *record = dpu_record_of(program);
    struct dpu_host_code *code = malloc(sizeof *code);
    if (code == NULL)
        return false;

    *code = (struct dpu_host_code){.loaded = *loaded, .older = atomic_load(&record->code)};
    atomic_store_explicit(&record->code, code, memory_order_release);
    return true;
}

static enum state perform(const struct entry *entry)
{
    struct dpu_record *record = dpu_record_of(entry->program);
    struct dpu_loaded loaded;
    struct host_build_figures figures = {0};
    bool done = entry->compiles
                    ? dpu_job_compile(entry->program, entry->everything, &loaded, &figures)
                    : dpu_job_find(entry->program, &loaded);
    size_t size = done ? loaded.object.size : 0;
    if (done && !install(entry->program, &loaded)) {
        dpu_module_unload(&loaded);
        done = false;
    }

    pthread_mutex_lock(&service.lock);
    service.totals.loaded += done && !entry->compiles;
    service.totals.compiled += done && entry->compiles;
    service.totals.failed += !done && entry->compiles;
    service.totals.compile_ns += figures.compile_ns;
    service.totals.source_bytes += figures.source_bytes;
    service.totals.code_bytes += size;
    if (done) {
        record->counted = atomic_load(&entry->program->executed);
        atomic_store(&record->missed, 0);
    }

    pthread_mutex_unlock(&service.lock);
    if (done)
        return READY;
    if (atomic_load(&record->code) != NULL)
        return READY;
    return entry->compiles ? FAILED : ABSENT;
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&service.lock);
    while (service.first != NULL && !service.stopped) {
        struct entry *entry = service.first;
        service.first = entry->next;
        if (service.first == NULL)
            service.last = &service.first;
        pthread_mutex_unlock(&service.lock);

        enum state state = perform(entry);
        pthread_mutex_lock(&service.lock);
        atomic_store(&dpu_record_of(entry->program)->state, state);
        pthread_cond_broadcast(&service.changed);
        pthread_mutex_unlock(&service.lock);

        dpu_program_unref(entry->program);
        free(entry);
        pthread_mutex_lock(&service.lock);
    }

    service.works = false;
    pthread_cond_broadcast(&service.changed);
    pthread_mutex_unlock(&service.lock);
    return NULL;
}

/* With the lock. Signals are for the program's own threads. */
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

/* --- what is to be done --- */

/* With the lock. */
static void add(struct dpu_program *program, bool compiles, bool everything)
{
    struct dpu_record *record = dpu_record_of(program);
    struct entry *entry = service.stopped ? NULL : malloc(sizeof *entry);
    if (entry == NULL)
        return;

    *entry = (struct entry){.program = program, .compiles = compiles, .everything = everything};
    *service.last = entry;
    service.last = &entry->next;
    if (!service.works)
        service.works = start_thread();
    if (!service.works) {
        service.first = NULL;
        service.last = &service.first;
        free(entry);
        return;
    }

    dpu_program_ref(program);
    record->attempts += compiles;
    atomic_store(&record->state, QUEUED);
}

static struct dpu_record *find_or_make_record(struct dpu_program *program)
{
    struct dpu_record *record = dpu_record_of(program);
    if (record != NULL)
        return record;

    record = dpu_record_new();
    struct dpu_translation *expected = NULL;
    if (record != NULL &&
        !atomic_compare_exchange_strong(&program->translation, &expected, &record->base))
        record->base.release(&record->base);
    return dpu_record_of(program);
}

/* True if the interpreter still executes much of a program that was translated. */
static bool misses_much(const struct dpu_record *record, uint64_t executed)
{
    uint64_t missed = atomic_load_explicit(&record->missed, memory_order_relaxed);
    return missed >= MISSED_MANY && missed > (executed - record->counted) / MISSED_SHARE;
}

/* With the lock. */
static void consider(struct dpu_program *program, struct dpu_record *record, bool at_once)
{
    uint64_t executed = atomic_load_explicit(&program->executed, memory_order_relaxed);
    switch ((enum state)atomic_load(&record->state)) {
    case NEW:
        if (at_once || executed >= DPU_LOOK_AFTER)
            add(program, false, at_once);
        break;
    case ABSENT:
        if (at_once || executed >= DPU_TRANSLATE_AFTER)
            add(program, true, at_once);
        break;
    case READY:
        if (record->attempts < ATTEMPTS && misses_much(record, executed))
            add(program, true, false);
        break;
    case QUEUED:
    case FAILED: break;
    }
}

void dpu_translate_poll(struct dpu_machine *m, bool at_once)
{
    struct dpu_program *program = m->program;
    if (program == NULL || program->needs_turns ||
        (!at_once &&
         atomic_load_explicit(&program->executed, memory_order_relaxed) < DPU_LOOK_AFTER))
        return;

    struct dpu_record *record = find_or_make_record(program);
    uint32_t state = record != NULL ? atomic_load(&record->state) : QUEUED;
    if (state == QUEUED || state == FAILED)
        return;

    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    consider(program, record, at_once);
    pthread_mutex_unlock(&service.lock);
}

bool dpu_translate_wait(struct dpu_machine *m, int64_t deadline)
{
    if (m->iram_changed && !dpu_program_join(m))
        return false;

    struct dpu_program *program = m->program;
    struct dpu_record *record = NULL;
    if (program != NULL && !program->needs_turns)
        record = find_or_make_record(program);
    if (record == NULL)
        return false;

    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    for (;;) {
        enum state state = (enum state)atomic_load(&record->state);
        if (state == NEW || state == ABSENT)
            consider(program, record, true);
        state = (enum state)atomic_load(&record->state);
        if (state != QUEUED || !wait_until(deadline))
            break;
    }

    pthread_mutex_unlock(&service.lock);
    return dpu_translate_is_ready(m);
}

bool dpu_translate_is_ready(const struct dpu_machine *m)
{
    struct dpu_record *record = m->program != NULL ? dpu_record_of(m->program) : NULL;
    return record != NULL && atomic_load(&record->code) != NULL;
}

bool dpu_translate_is_used(const struct dpu_machine *m)
{
    return m->options.engine != DPU_ENGINE_DRIFT && dpu_translate_is_ready(m);
}

void dpu_translate_get_totals(struct dpu_translate_totals *totals)
{
    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    *totals = service.totals;
    pthread_mutex_unlock(&service.lock);
}
