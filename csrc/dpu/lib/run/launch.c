/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: running programs, asking how they do, and waiting for them. */
#include "dpu/lib/run/launch.h"

#include "common/clock.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/observe/recorder.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/remote.h"
#include "dpu/lib/run/checks.h"
#include "dpu/lib/run/debug_session.h"
#include "dpu/lib/run/fault.h"
#include "dpu/lib/run/launch_report.h"
#include "dpu/lib/run/slice.h"
#include "dpu/lib/run/waiting.h"
#include "dpu/lib/run/warnings.h"
#include "dpu/lib/schedule/operation.h"
#include "dpu/lib/schedule/submit.h"
#include "hostcode/compiler.h"
#include "dpu/translate/translate.h"
#include "dpu_management.h"
#include "dpu_program.h"
#include "dpusoft.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Time that softEngine=translated waits for a compiler. */
#define TRANSLATION_LIMIT (60 * CLOCK_SECOND)

/* DPUs of a launch of which each says how it ended. */
#define TOLD_MAX 4

/* Time that a thread waits for a launch elsewhere before others have their turn. */
#define AWAY_LIMIT (20 * CLOCK_MILLISECOND)

/* DPUs whose launches are under way in this process. */
static _Atomic int32_t running_here;

enum ending { IN_FAULT, EARLY, ASLEEP, ENDINGS };

struct launch {
    struct dpulib_boot boot;
    _Atomic uint32_t endings[ENDINGS]; /* DPUs */
    struct dpulib_launch_figures figures;
};

static void add_figures(struct dpulib_launch_figures *figures, const struct dpu_t *dpu)
{
    const struct dpu_run_result *result = &dpu->result;
    uint64_t longest = atomic_load(&figures->cycles);
    while (longest < result->cycles &&
           !atomic_compare_exchange_weak(&figures->cycles, &longest, result->cycles))
        continue;
    atomic_fetch_add(&figures->instructions, result->instructions);
    atomic_fetch_add(&figures->dma_bytes, result->dma_read_bytes + result->dma_write_bytes);
    atomic_fetch_or(&figures->runtimes, 1u << dpulib_runtime_of(dpu));
}

static bool is_interrupted(const struct dpu_t *dpu)
{
    dpulib_lock();
    bool interrupted = dpu->interrupted;
    dpulib_unlock();
    return interrupted;
}

static const char *path_of(const struct dpu_t *dpu)
{
    const char *path = dpu->program != NULL ? dpu->program->program_path : NULL;
    return path != NULL ? path : "";
}

/* The first ones of a launch are told in full, the others are counted. */
static bool is_told(struct launch *launch, enum ending ending)
{
    return atomic_fetch_add_explicit(&launch->endings[ending], 1, memory_order_relaxed) < TOLD_MAX;
}

static dpu_error_t end_in_fault(struct dpu_t *dpu, struct launch *launch)
{
    char text[DPULIB_EXPLANATION_MAX];
    dpu->status = DPUSOFT_FAULT;
    dpulib_explain(dpu, text, sizeof text);
    dpulib_record_ending(dpu, text);
    if (is_told(launch, IN_FAULT))
        dpulib_log(DPULIB_WARNING, "DPU %u.%u.%u '%s' is in fault: %s", dpu->rank->id, dpu->slice,
                   dpu->member, path_of(dpu), text);
    return dpulib_fail_again(DPU_ERR_DPU_FAULT, "DPU %u.%u.%u (id 0x%x): %s", dpu->rank->id,
                             dpu->slice, dpu->member, dpu_get_id(dpu), text);
}

/* All tasklets have stopped, but not all of them at their ends. */
static dpu_error_t end_asleep(struct dpu_t *dpu, struct launch *launch)
{
    char text[DPULIB_EXPLANATION_MAX];
    if (!is_told(launch, ASLEEP))
        return DPU_OK;
    dpulib_explain(dpu, text, sizeof text);
    dpulib_warn(dpu->rank, "DPU %u.%u.%u '%s': %s", dpu->rank->id, dpu->slice, dpu->member,
                path_of(dpu), text);
    return DPU_OK;
}

/* It keeps the state that it was stopped in, and does not run until it is loaded. */
static dpu_error_t end_early(struct dpu_t *dpu, struct launch *launch, enum dpusoft_status status)
{
    char text[DPULIB_EXPLANATION_MAX];
    dpu->status = (uint32_t)status;
    dpu->stuck = true;
    dpulib_explain(dpu, text, sizeof text);
    dpulib_record_ending(dpu, text);

    /* Callers that take warnings have the text of the error. */
    if (is_told(launch, EARLY) && !dpulib_keeps_warnings(dpu->rank))
        dpulib_log(DPULIB_WARNING, "DPU %u.%u.%u '%s': %s", dpu->rank->id, dpu->slice, dpu->member,
                   path_of(dpu), text);
    return dpulib_fail_again(DPU_ERR_TIMEOUT, "DPU %u.%u.%u (id 0x%x): %s", dpu->rank->id,
                             dpu->slice, dpu->member, dpu_get_id(dpu), text);
}

static dpu_error_t refuse_stuck(const struct dpu_t *dpu)
{
    return dpulib_fail(DPU_ERR_TIMEOUT,
                       "DPU %u.%u.%u was stopped in the middle of its program: load one again",
                       dpu->rank->id, dpu->slice, dpu->member);
}

/* When all DPUs are done with it. */
static void end_launch(void *argument)
{
    static const char *const texts[] = {
        [IN_FAULT] = "are in fault",
        [EARLY] = "were stopped before the end",
        [ASLEEP] = "ended while tasklets slept",
    };
    struct launch *launch = argument;
    for (int i = 0; i < ENDINGS; i++) {
        uint32_t count = atomic_load(&launch->endings[i]);
        if (count > TOLD_MAX)
            dpulib_log(DPULIB_WARNING, "%u more DPUs of this launch %s", count - TOLD_MAX,
                       texts[i]);
    }

    free(launch);
}

static dpu_error_t begin(struct dpu_t *dpu, const struct dpulib_boot *boot)
{
    struct dpu_machine *machine = dpu->machine;
    struct dpu_thread_state state;
    dpu->status = DPUSOFT_STEPPED;
    if (boot->boot) {
        dpu_machine_boot(machine);
        return DPU_OK;
    }
    if (!dpu_machine_get_thread(machine, boot->thread, &state))
        return dpulib_fail(DPU_ERR_INVALID_THREAD_ID, "a DPU has %u tasklets, not a tasklet %u",
                           dpu_machine_thread_count(machine), boot->thread);

    state.running = 1;
    if (!boot->resume)
        state.pc = 0;
    dpu_machine_set_thread(machine, boot->thread, &state);
    return DPU_OK;
}

static void count_here(struct dpu_t *dpu, bool here)
{
    if (dpu->here != here)
        atomic_fetch_add_explicit(&running_here, here ? 1 : -1, memory_order_relaxed);
    dpu->here = here;
}

/* A slice of a launch that a server runs is some time; none, if DPUs that run here could use it. */
static enum dpu_run_status wait_for_server(struct dpu_t *dpu)
{
    if (is_interrupted(dpu))
        return dpulib_remote_recall(dpu);
    bool is_alone = atomic_load_explicit(&running_here, memory_order_relaxed) == 0;
    return dpulib_remote_wait(dpu, is_alone ? AWAY_LIMIT : 0);
}

static enum dpu_run_status run_slice(struct dpu_t *dpu)
{
    count_here(dpu, true);
    return dpulib_slice(dpu);
}

static enum dpu_run_status take_turn(struct dpu_t *dpu, bool *away)
{
    dpulib_take_turn(dpu);
    enum dpu_run_status status = dpulib_remote_is_away(dpu) ? wait_for_server(dpu) : run_slice(dpu);
    *away = dpulib_remote_is_away(dpu);
    pthread_mutex_unlock(&dpu->turn);
    return status;
}

__attribute__((constructor)) static void check_compiler(void)
{
    struct host_compiler compiler;
    if (dpulib_setting(DPULIB_DPU_SOFT_CC) != NULL && !host_compiler_find(&compiler, "DPU_SOFT_CC"))
        dpulib_refuse_setting(DPULIB_DPU_SOFT_CC,
                              "its first word is no program; an empty value is for no compiler");
}

static dpu_error_t refuse_engine(const char *engine, const char *needs)
{
    return dpulib_fail(DPU_ERR_INVALID_PROFILE,
                       "softEngine=%s needs %s; softEngine=auto does without", engine, needs);
}

/* Launches that ask for translated code have it from the first instruction on. Some programs cannot
 * be translated, and some compilers fail. */
static dpu_error_t wait_for_code(struct dpu_t *dpu)
{
    static struct dpulib_told told;
    struct host_compiler compiler;
    const uint32_t engine = dpu->rank->configuration.machine.engine;
    const bool in_lockstep = engine == DPU_ENGINE_LOCKSTEP;
    const int64_t deadline = clock_deadline(TRANSLATION_LIMIT);
    if (engine != DPU_ENGINE_TRANSLATED && !in_lockstep)
        return DPU_OK;

    const char *name = in_lockstep ? "lockstep" : "translated";
    if (in_lockstep && dpu_translate_lanes_of_host() == 0)
        return refuse_engine(name, "a processor with AVX2 or AVX-512");
    if (dpu_translate_wait(dpu->machine, deadline) &&
        (!in_lockstep || dpu_translate_lanes(dpu->machine, deadline) != NULL))
        return DPU_OK;
    if (!host_compiler_find(&compiler, "DPU_SOFT_CC"))
        return refuse_engine(name, "a C compiler of the host, and there is none: install gcc, "
                                   "clang or zig, or name one in DPU_SOFT_CC");
    dpulib_log_once(&told, DPULIB_WARNING,
                    "'%s' runs without translated code, which softEngine=%s asks for", path_of(dpu),
                    name);
    return DPU_OK;
}

/* Up to the first instruction. */
static dpu_error_t begin_launch(struct dpu_t *dpu, struct launch *launch)
{
    dpu_error_t status = dpulib_remote_check(dpu);
    if (status != DPU_OK)
        return status;
    if (dpu->stuck)
        return refuse_stuck(dpu);
    if (is_interrupted(dpu))
        return end_early(dpu, launch, DPUSOFT_INTERRUPTED);
    if (dpu->remote == NULL)
        status = wait_for_code(dpu);
    if (status != DPU_OK)
        return status;
    dpulib_record_begin(dpu, launch->figures.number);
    dpulib_checks_begin(dpu);
    return begin(dpu, &launch->boot);
}

/* How a launch has ended whose last slice has this status. */
static dpu_error_t end_of(struct dpu_t *dpu, struct launch *launch, enum dpu_run_status status)
{
    add_figures(&launch->figures, dpu);
    dpulib_record_end(dpu);
    dpulib_checks_end(dpu, status);
    switch (status) {
    case DPU_RUN_DONE:
        dpu->status = DPUSOFT_DONE;
        return dpulib_sleepers(dpu) != 0 ? end_asleep(dpu, launch) : DPU_OK;
    case DPU_RUN_FAULT: return end_in_fault(dpu, launch);
    case DPU_RUN_CYCLE_LIMIT: return end_early(dpu, launch, DPUSOFT_CYCLE_LIMIT);
    case DPU_RUN_NO_MEMORY:
        dpu->status = DPUSOFT_INTERRUPTED;
        dpu->stuck = true;
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (decoded program)");
    case DPU_RUN_STEPPED:
    case DPU_RUN_INTERRUPTED: break;
    }

    return end_early(dpu, launch, DPUSOFT_INTERRUPTED);
}

/* `stepping` is set between two slices. */
static enum dpulib_progress after_slice(struct dpu_t *dpu, struct launch *launch,
                                        enum dpu_run_status status, bool away, dpu_error_t *error)
{
    bool ended = status != DPU_RUN_INTERRUPTED && status != DPU_RUN_STEPPED;
    dpu->stepping = away || (!ended && !is_interrupted(dpu) && !dpulib_checks_deadlock(dpu));
    if (dpu->stepping)
        return DPULIB_UNFINISHED;

    *error = end_of(dpu, launch, status);
    return DPULIB_FINISHED;
}

/* One of several that had it at once, all of which run here. */
static enum dpulib_progress after_shared_slice(struct dpu_t *dpu, void *argument,
                                               enum dpu_run_status status, dpu_error_t *error)
{
    enum dpulib_progress progress = after_slice(dpu, argument, status, false, error);
    if (progress == DPULIB_FINISHED)
        count_here(dpu, false);
    return progress;
}

/* Begins a launch. True if it is over, or another has it for now. */
static bool starts_elsewhere(struct dpu_t *dpu, struct launch *launch,
                             enum dpulib_progress *progress, dpu_error_t *error)
{
    enum dpu_run_status debugged;
    *progress = DPULIB_FINISHED;
    *error = begin_launch(dpu, launch);
    if (*error != DPU_OK)
        return true;
    if (dpulib_debug_launch(dpu, &debugged)) {
        *error = end_of(dpu, launch, debugged);
        return true;
    }

    *progress = DPULIB_UNFINISHED;
    pthread_mutex_lock(&dpu->turn);
    dpu->stepping = dpulib_remote_launch(dpu);
    pthread_mutex_unlock(&dpu->turn);
    return dpu->stepping;
}

/* A DPU whose server is lost, whatever it was doing. */
static dpu_error_t end_lost(struct dpu_t *dpu, dpu_error_t lost)
{
    dpu->status = DPUSOFT_INTERRUPTED;
    dpu->stuck = true;
    return lost;
}

/* One slice; `stepping` is set between two of them. */
static enum dpulib_progress run_some(struct dpu_t *dpu, struct launch *launch, dpu_error_t *error)
{
    enum dpulib_progress progress;
    if (!dpu->stepping && starts_elsewhere(dpu, launch, &progress, error))
        return progress;

    bool away;
    enum dpu_run_status status = take_turn(dpu, &away);
    dpu_error_t lost = dpulib_remote_check(dpu);
    if (lost != DPU_OK) {
        dpu->stepping = false;
        *error = end_lost(dpu, lost);
        return DPULIB_FINISHED;
    }

    return after_slice(dpu, launch, status, away, error);
}

static enum dpulib_progress advance(struct dpu_t *dpu, void *argument, dpu_error_t *error)
{
    enum dpulib_progress progress = run_some(dpu, argument, error);
    if (progress == DPULIB_FINISHED)
        count_here(dpu, false);
    return progress;
}

dpu_error_t dpulib_launch(struct dpu_set_t set, struct dpulib_boot boot, bool async)
{
    static const struct dpulib_together together = {dpulib_most_slices, dpulib_slices_match,
                                                    dpulib_slice_together, after_shared_slice};
    struct launch *launch = calloc(1, sizeof *launch);
    if (launch == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (launch)");
    launch->boot = boot;
    launch->figures.number = dpulib_record_number();

    const struct dpulib_spec spec = {
        .kind = set.kind == DPU_SET_DPU ? DPULIB_JOB_LAUNCH_DPU : DPULIB_JOB_LAUNCH_RANK,
        .advance = advance,
        .together = &together,
        .argument = launch,
        .release = end_launch,
        .figures = &launch->figures,
    };
    return dpulib_submit(set, &spec, async);
}

static dpu_error_t check_programs(struct dpu_set_t set)
{
    struct dpu_t *dpu;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&set, &at)) != NULL;)
        if (dpu->program == NULL)
            status = dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED,
                                 "DPU %u.%u.%u has no program: load one first", dpu->rank->id,
                                 dpu->slice, dpu->member);

    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpu_launch(struct dpu_set_t dpu_set, dpu_launch_policy_t policy)
{
    dpu_error_t status = check_programs(dpu_set);
    if (status != DPU_OK)
        return status;
    return dpulib_launch(dpu_set, (struct dpulib_boot){.boot = true}, policy == DPU_ASYNCHRONOUS);
}

DPU_EXPORT dpu_error_t dpu_status(struct dpu_set_t dpu_set, bool *done, bool *fault)
{
    struct dpu_t *dpu;
    bool all_done = true, one_in_fault = false;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(dpu_set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&dpu_set, &at)) != NULL;) {
        all_done = all_done && dpu->launches == 0;
        one_in_fault = one_in_fault || dpu->in_fault;
    }

    dpulib_unlock();

    if (status == DPU_OK && done != NULL)
        *done = all_done;
    if (status == DPU_OK && fault != NULL)
        *fault = one_in_fault;
    return status;
}

DPU_EXPORT dpu_error_t dpu_sync(struct dpu_set_t dpu_set)
{
    dpu_error_t status = dpulib_check_set(dpu_set);
    if (status != DPU_OK)
        return status;

    dpulib_drain(dpu_set, CLOCK_NEVER);
    uint32_t failed = 0;
    dpulib_lock();
    status = dpulib_check_set_locked(dpu_set);
    if (status != DPU_OK) {
        dpulib_unlock();
        return status;
    }

    for (uint32_t i = 0; i < dpulib_set_ranks(&dpu_set); i++) {
        struct dpu_rank_t *rank = dpulib_set_rank(&dpu_set, i);
        if (status == DPU_OK && rank->error != DPU_OK)
            status = dpulib_fail_again(rank->error, "%s",
                                       rank->detail != NULL ? rank->detail : DPULIB_NO_DETAIL);
        failed += rank->failures;
        rank->failures = 0;
        rank->error = DPU_OK;
        free(rank->detail);
        rank->detail = NULL;
    }

    dpulib_unlock();
    return dpulib_count_failures(status, failed);
}
