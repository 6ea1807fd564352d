/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c: who takes part in the rounds, for how long, and how a run ends.
 *
 * Rounds are run in batches in which nothing changes: a batch ends when a tasklet starts, stops
 * or waits for DMA, when one comes back from DMA, at the limit of cycles, and often enough for an
 * interruption to be noticed. So the interpreters count nothing but rounds.
 */
#include "ahead.h"
#include "interpreters.h"
#include "timing.h"

#include <string.h>

/* Instructions between two looks at the flag: a few milliseconds even if each is slow. */
#define POLL_INSTRUCTIONS 65536
#define NEVER UINT64_MAX
#define EVERY_THREAD UINT32_MAX

/* Puts those that can issue into m->order. Returns the cycle at which one more can. */
static uint64_t choose_runnable(struct dpu_machine *m, uint32_t only)
{
    uint64_t next = NEVER;
    m->runnable = 0;
    m->regroup = false;
    for (uint32_t id = 0; id < m->thread_count; id++) {
        struct dpu_thread *t = &m->threads[id];
        if ((m->run_bits >> id & 1) == 0 || (only != EVERY_THREAD && only != id))
            continue;

        if (t->ready <= m->cycles)
            m->order[m->runnable++] = t;
        else if (t->ready < next)
            next = t->ready;
    }

    m->order[m->runnable] = &m->threads[DPU_MACHINE_THREADS];
    return next;
}

/* Rounds until the given cycle is reached or passed. */
static uint64_t rounds_until(const struct dpu_machine *m, uint64_t cycle)
{
    uint64_t length = dpu_round_cycles(m, m->runnable);
    return cycle == NEVER ? NEVER : (cycle - m->cycles + length - 1) / length;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Runs m->order for at most ROUNDS and accounts for it. False for a fault. */
static bool run_batch(struct dpu_machine *m, uint64_t rounds)
{
    uint64_t done = m->runnable > 1 ? dpu_run_ahead(m, rounds) : 0;
    uint32_t faulted = 0;
    if (done == 0) {
        m->batch_rounds = m->runnable > 1 ? smaller(rounds, m->ahead.pause) : rounds;
        faulted = m->runnable == 1 ? dpu_run_single(m) : dpu_run_rounds(m);
        done = m->batch_rounds;
    }

    m->batch_rounds = done;
    m->rounds += done;
    m->cycles += done * dpu_round_cycles(m, m->runnable);
    m->instructions += done * m->runnable;
    for (uint32_t i = 0; i < m->runnable; i++)
        m->order[i]->instructions += done;

    /* Of the round with the fault, those up to it have issued, one a cycle. */
    for (uint32_t i = 0; i < faulted; i++)
        m->order[i]->instructions++;

    m->instructions += faulted;
    m->cycles += faulted;
    m->rounds_done = 0;
    m->slot = 0;
    return faulted == 0;
}

static enum dpu_run_status run(struct dpu_machine *m, uint64_t rounds, uint32_t only)
{
    uint64_t limit = m->launch_cycles + m->options.max_cycles;
    if (m->options.max_cycles == 0 || limit < m->launch_cycles)
        limit = NEVER;
    m->ahead.is_timed = false;
    for (;;) {
        if (m->fault.kind != DPU_FAULT_NONE)
            return DPU_RUN_FAULT;

        uint64_t ready = choose_runnable(m, only);
        if (m->runnable == 0 && ready == NEVER)
            return DPU_RUN_DONE;
        if (rounds == 0)
            return DPU_RUN_STEPPED;
        if (m->cycles >= limit)
            return DPU_RUN_CYCLE_LIMIT;
        if (atomic_exchange_explicit(&m->interrupt, 0, memory_order_acquire) != 0)
            return DPU_RUN_INTERRUPTED;

        if (m->runnable == 0) {
            m->cycles = smaller(ready, limit);
            continue;
        }

        uint64_t batch = smaller(rounds, POLL_INSTRUCTIONS / m->runnable);
        batch = smaller(batch, rounds_until(m, ready));
        batch = smaller(batch, rounds_until(m, limit));
        if (run_batch(m, batch) && rounds != NEVER)
            rounds -= m->batch_rounds;
    }
}

static enum dpu_run_status run_and_report(struct dpu_machine *m, uint64_t rounds, uint32_t only,
                                          struct dpu_run_result *result)
{
    enum dpu_run_status status = run(m, rounds, only);
    if (result != NULL) {
        dpu_machine_get_result(m, result);
        result->status = (uint32_t)status;
    }
    return status;
}

void dpu_machine_boot(struct dpu_machine *m)
{
    m->launch_cycles = m->cycles;
    m->launch_instructions = m->instructions;
    m->launch_rounds = m->rounds;
    m->launch_dma = m->dma;
    for (uint32_t id = 0; id < DPU_MACHINE_THREADS; id++)
        m->threads[id].instructions = 0;

    if (m->fault.kind != DPU_FAULT_NONE)
        return;

    m->threads[0].op = m->operations;
    m->threads[0].ready = 0;
    m->run_bits |= 1;
}

enum dpu_run_status dpu_machine_launch(struct dpu_machine *m, struct dpu_run_result *result)
{
    dpu_machine_boot(m);
    return run_and_report(m, NEVER, EVERY_THREAD, result);
}

enum dpu_run_status dpu_machine_run(struct dpu_machine *m, struct dpu_run_result *result)
{
    return run_and_report(m, NEVER, EVERY_THREAD, result);
}

enum dpu_run_status dpu_machine_step(struct dpu_machine *m, uint64_t rounds,
                                     struct dpu_run_result *result)
{
    return run_and_report(m, rounds, EVERY_THREAD, result);
}

enum dpu_run_status dpu_machine_step_thread(struct dpu_machine *m, uint32_t thread,
                                            struct dpu_run_result *result)
{
    return run_and_report(m, 1, thread, result);
}

void dpu_machine_interrupt(struct dpu_machine *m)
{
    atomic_store_explicit(&m->interrupt, 1, memory_order_release);
}

void dpu_machine_get_result(const struct dpu_machine *m, struct dpu_run_result *result)
{
    memset(result, 0, sizeof *result);
    result->status = m->fault.kind != DPU_FAULT_NONE ? DPU_RUN_FAULT : DPU_RUN_DONE;
    if ((m->run_bits & ((1u << DPU_MACHINE_THREADS) - 1)) != 0 && m->fault.kind == 0)
        result->status = DPU_RUN_STEPPED;
    result->cycles = m->cycles - m->launch_cycles;
    result->rounds = m->rounds - m->launch_rounds;
    result->instructions = m->instructions - m->launch_instructions;
    result->dma_read_bytes = m->dma.read_bytes - m->launch_dma.read_bytes;
    result->dma_write_bytes = m->dma.write_bytes - m->launch_dma.write_bytes;
    for (uint32_t id = 0; id < DPU_MACHINE_THREADS; id++)
        result->thread_instructions[id] = m->threads[id].instructions;

    if (m->fault.kind == DPU_FAULT_NONE)
        return;

    result->fault = m->fault.kind;
    result->fault_thread = m->fault.thread;
    result->fault_pc = dpu_pc(m, m->threads[m->fault.thread].op);
    result->breakpoint = m->fault.breakpoint;
    result->fault_address = m->fault.address;
    result->fault_detail = m->fault.detail;
}
