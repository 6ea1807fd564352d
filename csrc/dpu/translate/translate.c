/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * translate.c: programs that are translated, and their queue.
 *
 * A program goes through the states below. What is to be done next is in a queue, one entry per
 * program, for the thread of background.h.
 */
#include "translate.h"

#include "hostcode/background.h"
#include "job.h"
#include "runner.h"

#include <stdlib.h>

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

struct entry {
    struct dpu_program *program; /* a reference */
    bool compiles, everything;
    uint32_t lanes; /* 0: code for one DPU */
    struct entry *next;
};

/* Guarded by the lock of background.h. */
static struct {
    struct entry *first, **last;
    struct dpu_translate_totals totals;
} queue = {.last = &queue.first};

/* --- the thread --- */

static bool install(struct dpu_record *record, const struct dpu_loaded *loaded)
{
    struct dpu_host_code *code = malloc(sizeof *code);
    if (code == NULL)
        return false;

    *code = (struct dpu_host_code){.loaded = *loaded, .older = atomic_load(&record->code)};
    atomic_store_explicit(&record->code, code, memory_order_release);
    return true;
}

static bool install_lanes(struct dpu_record *record, const struct dpu_loaded *loaded)
{
    struct dpu_lanes_module *lanes = malloc(sizeof *lanes);
    if (lanes == NULL)
        return false;

    const struct dpu_module *module = loaded->module;
    *lanes = (struct dpu_lanes_module){
        .loaded = *loaded,
        .code = {(uint32_t)module->lanes, module->run_lanes, module->move_in, module->move_out,
                 module->spans, record->missed_at, &record->lanes_missed},
        .older = atomic_load(&record->lanes),
    };
    atomic_store_explicit(&record->lanes, lanes, memory_order_release);
    return true;
}

static enum state perform(const struct entry *entry)
{
    struct dpu_record *record = dpu_record_of(entry->program);
    struct dpu_loaded loaded;
    struct host_build_figures figures = {0};
    bool done = entry->compiles ? dpu_job_compile(entry->program, entry->everything, entry->lanes,
                                                  &loaded, &figures)
                                : dpu_job_find(entry->program, entry->lanes, &loaded);
    size_t size = done ? loaded.object.size : 0;
    if (done && !(entry->lanes != 0 ? install_lanes(record, &loaded) : install(record, &loaded))) {
        dpu_module_unload(&loaded);
        done = false;
    }

    host_background_lock();
    queue.totals.loaded += done && !entry->compiles;
    queue.totals.compiled += done && entry->compiles;
    queue.totals.failed += !done && entry->compiles;
    queue.totals.compile_ns += figures.compile_ns;
    queue.totals.source_bytes += figures.source_bytes;
    queue.totals.code_bytes += size;
    if (done && entry->lanes != 0) {
        atomic_store(&record->lanes_missed, 0);
        atomic_store(&record->lanes_executed, 0);
        atomic_store(&record->together, 0);
        atomic_store(&record->trials, 0);
    }

    if (done && entry->lanes == 0) {
        record->counted = atomic_load(&entry->program->executed);
        atomic_store(&record->missed, 0);
    }

    host_background_unlock();
    if (done)
        return READY;
    if (entry->lanes != 0 ? atomic_load(&record->lanes) != NULL
                          : atomic_load(&record->code) != NULL)
        return READY;
    return entry->compiles ? FAILED : ABSENT;
}

static void forget(void)
{
    queue.first = NULL;
    queue.last = &queue.first;
}

/* With the lock: the first of the queue. */
static bool perform_next(void)
{
    struct entry *entry = queue.first;
    if (entry == NULL)
        return false;

    queue.first = entry->next;
    if (queue.first == NULL)
        queue.last = &queue.first;
    host_background_unlock();

    enum state state = perform(entry);
    host_background_lock();
    struct dpu_record *record = dpu_record_of(entry->program);
    atomic_store(entry->lanes != 0 ? &record->lanes_state : &record->state, state);
    host_background_unlock();

    dpu_program_unref(entry->program);
    free(entry);
    host_background_lock();
    return true;
}

static const struct host_background_jobs jobs = {perform_next, forget};

/* --- what is to be done --- */

/* With the lock. */
static void add(struct dpu_program *program, bool compiles, bool everything, uint32_t lanes)
{
    struct dpu_record *record = dpu_record_of(program);
    struct entry *entry = host_background_start(&jobs) ? malloc(sizeof *entry) : NULL;
    if (entry == NULL)
        return;

    *entry = (struct entry){program, compiles, everything, lanes, NULL};
    *queue.last = entry;
    queue.last = &entry->next;
    dpu_program_ref(program);
    record->attempts += compiles && lanes == 0;
    record->lanes_attempts += compiles && lanes != 0;
    atomic_store(lanes != 0 ? &record->lanes_state : &record->state, QUEUED);
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
            add(program, false, at_once, 0);
        break;
    case ABSENT:
        if (at_once || executed >= DPU_TRANSLATE_AFTER)
            add(program, true, at_once, 0);
        break;
    case READY:
        if (record->attempts < ATTEMPTS && misses_much(record, executed))
            add(program, true, false, 0);
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

    host_background_lock();
    consider(program, record, at_once);
    host_background_unlock();
}

/* True if there is translated code for the program of M. */
static bool is_ready(const struct dpu_machine *m)
{
    struct dpu_record *record = m->program != NULL ? dpu_record_of(m->program) : NULL;
    return record != NULL && atomic_load(&record->code) != NULL;
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

    host_background_lock();
    for (;;) {
        enum state state = (enum state)atomic_load(&record->state);
        if (state == NEW || state == ABSENT)
            consider(program, record, true);
        state = (enum state)atomic_load(&record->state);
        if (state != QUEUED || !host_background_wait(deadline))
            break;
    }

    host_background_unlock();
    return is_ready(m);
}

uint32_t dpu_translate_lanes_of_host(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 16;
    if (__builtin_cpu_supports("avx2"))
        return 8;
#endif
    return 0;
}

static bool lanes_miss_much(const struct dpu_record *record)
{
    uint64_t missed = atomic_load_explicit(&record->lanes_missed, memory_order_relaxed);
    return missed >= MISSED_MANY &&
           missed >
               atomic_load_explicit(&record->lanes_executed, memory_order_relaxed) / MISSED_SHARE;
}

/* With the lock. */
static void consider_lanes(struct dpu_program *program, struct dpu_record *record, bool at_once)
{
    const uint32_t lanes = dpu_translate_lanes_of_host();
    uint64_t executed = atomic_load_explicit(&program->executed, memory_order_relaxed);
    switch ((enum state)atomic_load(&record->lanes_state)) {
    case NEW: add(program, false, at_once, lanes); break;
    case ABSENT:
        if (at_once || executed >= DPU_LANES_AFTER)
            add(program, true, at_once, lanes);
        break;
    case READY:
        if (record->lanes_attempts < ATTEMPTS && lanes_miss_much(record))
            add(program, true, false, lanes);
        break;
    case QUEUED:
    case FAILED: break;
    }
}

/* True if what is there says that nothing is to be done, now or soon. */
static bool has_lanes(const struct dpu_record *record)
{
    uint32_t state = atomic_load(&record->lanes_state);
    return state == QUEUED || state == FAILED || (state == READY && !lanes_miss_much(record));
}

const struct dpu_lanes_code *dpu_translate_lanes(struct dpu_machine *m, int64_t deadline)
{
    struct dpu_program *program = m->program;
    struct dpu_record *record = NULL;
    if (program != NULL && !program->needs_turns && dpu_translate_lanes_of_host() != 0)
        record = find_or_make_record(program);
    if (record == NULL)
        return NULL;

    if (deadline != 0 || !has_lanes(record)) {
        host_background_lock();
        do
            consider_lanes(program, record, deadline != 0);
        while (deadline != 0 && atomic_load(&record->lanes_state) == QUEUED &&
               host_background_wait(deadline));
        host_background_unlock();
    }

    const struct dpu_lanes_module *module =
        atomic_load_explicit(&record->lanes, memory_order_acquire);
    return module != NULL ? &module->code : NULL;
}

bool dpu_translate_is_used(const struct dpu_machine *m)
{
    return m->options.engine != DPU_ENGINE_DRIFT && is_ready(m);
}

void dpu_translate_get_totals(struct dpu_translate_totals *totals)
{
    host_background_lock();
    *totals = queue.totals;
    host_background_unlock();
}
