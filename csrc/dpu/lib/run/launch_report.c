/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_report.c: what came of a launch; waiting with a limit; making an end of it. */
#include "dpu/lib/run/launch_report.h"

#include "common/clock.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/remote/remote.h"
#include "dpu/lib/run/fault.h"
#include "dpu/lib/schedule/oldest.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/translate/translate.h"
#include "dpusoft.h"

#include <string.h>

static uint32_t engine_of(const struct dpu_t *dpu)
{
    const struct dpu_machine *machine = dpu->machine;
    const char *name = dpu_machine_engine_name(machine);
    if (strcmp(name, "lockstep") == 0)
        return DPUSOFT_ENGINE_LOCKSTEP;
    if (strcmp(name, "drift") != 0)
        return *name != 0 ? DPUSOFT_ENGINE_TURNS : DPUSOFT_ENGINE_NONE;
    return dpulib_remote_was_translated(dpu) || dpu_translate_is_used(machine)
               ? DPUSOFT_ENGINE_TRANSLATED
               : DPUSOFT_ENGINE_DRIFT;
}

uint32_t dpulib_runtime_of(const struct dpu_t *dpu)
{
    dpulib_lock();
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    const struct dpu_elf_symbol *symbol =
        program != NULL ? program->elf.known[DPU_ELF_KNOWN_RUNTIME_COSTS] : NULL;
    uint32_t runtime = symbol != NULL ? symbol->value : DPUSOFT_RUNTIME_OTHER;
    dpulib_unlock();
    return runtime <= DPUSOFT_RUNTIME_UPMEM_COSTS ? runtime : DPUSOFT_RUNTIME_OTHER;
}

/* A structure of a caller that was built against another version is filled as far as it goes. */
void dpulib_fill_launch_report(struct dpu_t *dpu, uint32_t status, struct dpusoft_report *report)
{
    const struct dpu_run_result *result = &dpu->result;
    struct dpusoft_report full = {
        .size = report->size,
        .status = status,
        .fault = result->fault,
        .fault_thread = result->fault_thread,
        .fault_pc = result->fault_pc,
        .breakpoint = result->breakpoint,
        .fault_address = result->fault_address,
        .nr_threads = dpu_machine_thread_count(dpu->machine),
        .cycles = result->cycles,
        .instructions = result->instructions,
        .dma_read_bytes = result->dma_read_bytes,
        .dma_write_bytes = result->dma_write_bytes,
        .engine = engine_of(dpu),
        .seconds = (double)result->cycles / (double)dpulib_clock(&dpu->rank->configuration),
        .runtime = dpulib_runtime_of(dpu),
        .joules = dpulib_joules(&dpu->rank->configuration, result->instructions),
        .cache_bytes = 1024 * dpu->rank->configuration.machine.cache_kib,
        .cache_hits = result->cache.hits,
        .cache_misses = result->cache.misses,
        .cache_write_backs = result->cache.write_backs,
        .cache_fill_bytes = result->cache.fill_bytes,
    };
    _Static_assert(sizeof full.thread_instructions + sizeof full.more_thread_instructions ==
                       sizeof result->thread_instructions,
                   "one number per tasklet");
    memcpy(full.thread_instructions, result->thread_instructions, sizeof full.thread_instructions);
    memcpy(full.more_thread_instructions, result->thread_instructions + DPU_MACHINE_THREADS,
           sizeof full.more_thread_instructions);
    memcpy(report, &full, report->size < sizeof full ? report->size : sizeof full);
}

dpu_error_t dpulib_check_launch_report(const struct dpusoft_report *report)
{
    if (report == NULL || report->size < offsetof(struct dpusoft_report, cycles))
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE,
                           "report is NULL, or its field size is not set");
    return DPU_OK;
}

static dpu_error_t get_report(struct dpu_t *dpu, void *report)
{
    dpulib_fill_launch_report(dpu, dpu->status, report);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_get_report(struct dpu_set_t set, struct dpusoft_report *report)
{
    struct dpu_t *dpu;
    dpu_error_t status = dpulib_check_single(set, &dpu);
    if (status == DPU_OK)
        status = dpulib_check_launch_report(report);
    if (status != DPU_OK)
        return status;
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = get_report, .argument = report});
}

struct description {
    char *text;
    size_t size;
};

static dpu_error_t describe(struct dpu_t *dpu, void *argument)
{
    const struct description *description = argument;
    dpulib_describe_fault(dpu, description->text, description->size);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_describe_fault(struct dpu_set_t set, char *text, size_t size)
{
    struct dpu_t *dpu;
    dpu_error_t status = dpulib_check_single(set, &dpu);
    if (status != DPU_OK)
        return status;
    if (text == NULL || size == 0)
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE,
                           "text must not be NULL and size must not be 0");

    struct description description = {text, size};
    return dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = describe, .argument = &description});
}

/* Waits by dpulib_drain() or dpulib_await_room(). */
static dpu_error_t wait_by(bool (*wait)(struct dpu_set_t set, int64_t deadline),
                           struct dpu_set_t set, int64_t timeout_ns, bool *over)
{
    dpu_error_t status = dpulib_check_set(set);
    if (status != DPU_OK)
        return status;
    bool in_time = wait(set, clock_deadline(timeout_ns));
    if (over != NULL)
        *over = in_time;
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpusoft_wait(struct dpu_set_t set, int64_t timeout_ns, bool *done)
{
    return wait_by(dpulib_drain, set, timeout_ns, done);
}

DPU_EXPORT dpu_error_t dpusoft_wait_for_room(struct dpu_set_t set, int64_t timeout_ns, bool *room)
{
    return wait_by(dpulib_await_room, set, timeout_ns, room);
}

DPU_EXPORT dpu_error_t dpusoft_waits_for(struct dpu_set_t set, char *text, size_t size)
{
    if (text == NULL || size == 0)
        return dpulib_fail(DPU_ERR_INVALID_BUFFER_SIZE,
                           "text must not be NULL and size must not be 0");
    *text = 0;

    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    if (status == DPU_OK)
        dpulib_oldest_describe(&set, text, size);
    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpusoft_interrupt(struct dpu_set_t set)
{
    struct dpu_t *dpu;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    for (struct dpulib_cursor at = {0};
         status == DPU_OK && (dpu = dpulib_next_dpu(&set, &at)) != NULL;) {
        if (dpu->launches == 0 && !dpu->debugging)
            continue;
        dpu->interrupted = dpu->launches != 0;
        dpu_machine_interrupt(dpu->machine);
    }

    dpulib_unlock();
    return status;
}
