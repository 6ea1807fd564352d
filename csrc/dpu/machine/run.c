/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: a run from its first round to its status, whichever engine advances it. */
#include "engine.h"
#include "observed.h"
#include "program.h"
#include "remote_access.h"
#include "snapshot.h"
#include "turns.h"

#include <string.h>

#define NEVER UINT64_MAX

uint64_t dpu_run_limit(const struct dpu_machine *m)
{
    uint64_t limit = m->launch_cycles + m->options.max_cycles;
    return m->options.max_cycles == 0 || limit < m->launch_cycles ? NEVER : limit;
}

bool dpu_run_goes_on(struct dpu_machine *m, uint64_t stop, uint64_t limit)
{
    return m->fault.kind == DPU_FAULT_NONE && (m->run_bits & m->eligible) != 0 &&
           m->rounds < stop && m->cycles < limit &&
           atomic_load_explicit(&m->interrupt, memory_order_relaxed) == 0;
}

/* Runs the tasklets of ELIGIBLE for up to ROUNDS. */
static enum dpu_run_status run(struct dpu_machine *m, uint64_t rounds, uint64_t eligible)
{
    uint64_t limit = dpu_run_limit(m);
    uint64_t stop = rounds < NEVER - m->rounds ? m->rounds + rounds : NEVER;

    m->eligible = eligible;
    m->ahead.is_timed = false;
    for (;;) {
        if (m->fault.kind != DPU_FAULT_NONE)
            return DPU_RUN_FAULT;
        if ((m->run_bits & m->eligible) == 0)
            return DPU_RUN_DONE;
        if (m->rounds >= stop)
            return DPU_RUN_STEPPED;
        if (m->cycles >= limit)
            return DPU_RUN_CYCLE_LIMIT;
        if (atomic_exchange_explicit(&m->interrupt, 0, memory_order_acquire) != 0)
            return DPU_RUN_INTERRUPTED;

        m->engine->advance(m, stop, limit);
    }
}

/* A launch is over when the cache, if there is one, is written back. */
static void flush(struct dpu_machine *m)
{
    if (m->options.cache_kib == 0)
        return;

    const uint64_t before = m->cycles;
    dpu_cache_flush(m);
    if (dpu_is_observed(m) && m->cycles != before)
        dpu_observe_flush(m, m->cycles - before);
}

bool dpu_run_is_ready(struct dpu_machine *m)
{
    return dpu_cache_make(m) && (!m->iram_changed || dpu_program_join(m));
}

enum stepping { AT_ONCE, STEP_BY_STEP };

static enum dpu_run_status run_and_report(struct dpu_machine *m, enum stepping stepping,
                                          uint64_t rounds, uint64_t eligible,
                                          struct dpu_run_result *result)
{
    enum dpu_run_status status = DPU_RUN_NO_MEMORY;
    if (m->remote != NULL)
        dpu_remote_before_run(m);
    if (dpu_run_is_ready(m)) {
        uint64_t before = m->instructions;
        m->engine = dpu_choose_engine(m, stepping == STEP_BY_STEP);
        status = run(m, rounds, eligible);
        if (status == DPU_RUN_DONE && (m->run_bits & m->thread_bits) == 0)
            flush(m);
        dpu_snapshot_drop(m);
        if (dpu_is_observed(m))
            dpu_observe_end(m, status);
        atomic_fetch_add_explicit(&m->program->executed, m->instructions - before,
                                  memory_order_relaxed);
    }

    if (m->remote != NULL)
        dpu_remote_after_run(m);
    if (result != NULL) {
        dpu_machine_get_result(m, result);
        result->status = (uint32_t)status;
    }
    return status;
}

void dpu_machine_boot(struct dpu_machine *m)
{
    m->launch_cycles = m->refresh_interval = m->cycles;
    m->launch_instructions = m->instructions;
    m->launch_rounds = m->rounds;
    m->launch_dma = m->dma;
    for (uint32_t id = 0; id < m->thread_count; id++)
        m->threads[id].instructions = 0;

    if (dpu_transfers_leave_state(m)) {
        dpu_dram_reset(m);
        dpu_tlb_reset(m);
    }
    dpu_cache_reset(m);
    if (m->fault.kind != DPU_FAULT_NONE)
        return;

    m->threads[0].op = m->operations;
    m->threads[0].ready = 0;
    m->run_bits |= 1;
    if (dpu_is_observed(m))
        dpu_observe_boot(m);
}

enum dpu_run_status dpu_machine_launch(struct dpu_machine *m, struct dpu_run_result *result)
{
    dpu_machine_boot(m);
    return dpu_machine_run(m, result);
}

enum dpu_run_status dpu_machine_run(struct dpu_machine *m, struct dpu_run_result *result)
{
    return run_and_report(m, AT_ONCE, NEVER, m->thread_bits, result);
}

enum dpu_run_status dpu_machine_step(struct dpu_machine *m, uint64_t rounds,
                                     struct dpu_run_result *result)
{
    return run_and_report(m, STEP_BY_STEP, rounds, m->thread_bits, result);
}

/* The end does not depend on where an interrupt ended the slice before. */
uint64_t dpu_run_rounds_of_slice(const struct dpu_machine *m, uint64_t rounds)
{
    uint64_t passed = m->rounds - m->launch_rounds;
    return rounds - passed % rounds;
}

enum dpu_run_status dpu_machine_slice(struct dpu_machine *m, uint64_t rounds,
                                      struct dpu_run_result *result)
{
    return run_and_report(m, AT_ONCE, dpu_run_rounds_of_slice(m, rounds), m->thread_bits, result);
}

void dpu_run_rest(struct dpu_machine *m, uint64_t stop, uint64_t executed,
                  struct dpu_run_result *result)
{
    uint64_t rounds = stop > m->rounds ? stop - m->rounds : 0;
    run_and_report(m, AT_ONCE, rounds, m->thread_bits, result);
    atomic_fetch_add_explicit(&m->program->executed, executed, memory_order_relaxed);
}

enum dpu_run_status dpu_machine_step_thread(struct dpu_machine *m, uint32_t thread,
                                            struct dpu_run_result *result)
{
    uint64_t eligible = thread < m->thread_count ? UINT64_C(1) << thread : 0;
    return run_and_report(m, STEP_BY_STEP, 1, eligible, result);
}

void dpu_machine_interrupt(struct dpu_machine *m)
{
    atomic_store_explicit(&m->interrupt, 1, memory_order_release);
}

void dpu_machine_get_result(const struct dpu_machine *m, struct dpu_run_result *result)
{
    memset(result, 0, sizeof *result);
    result->status = m->fault.kind != DPU_FAULT_NONE ? DPU_RUN_FAULT : DPU_RUN_DONE;
    if ((m->run_bits & m->thread_bits) != 0 && m->fault.kind == 0)
        result->status = DPU_RUN_STEPPED;
    result->cycles = m->cycles - m->launch_cycles;
    result->rounds = m->rounds - m->launch_rounds;
    result->instructions = m->instructions - m->launch_instructions;
    result->dma_read_bytes = m->dma.read_bytes - m->launch_dma.read_bytes;
    result->dma_write_bytes = m->dma.write_bytes - m->launch_dma.write_bytes;
    result->cache = m->cache.totals;
    for (uint32_t id = 0; id < m->thread_count; id++)
        result->thread_instructions[id] = m->threads[id].instructions;

    if (m->fault.kind == DPU_FAULT_NONE)
        return;

    result->fault = m->fault.kind;
    result->fault_thread = m->fault.thread;
    result->fault_pc = dpu_pc(m, m->threads[m->fault.thread].op);
    result->breakpoint = m->fault.breakpoint;
    result->fault_address = m->fault.address;
    result->fault_detail = m->fault.detail;
    result->fault_bytes = m->fault.bytes;
}
