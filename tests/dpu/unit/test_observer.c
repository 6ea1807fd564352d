/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observed machines: results, cycles and order are those of turns; hooks are told what will happen,
 * and when.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"
#include "dpu/machine/observe.h"

enum { TASKLETS = 12, LOCK = 9, SHARED = 64 };

#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)

struct log {
    uint32_t boots, ends, instructions, reads, writes, dmas, taken, refused, releases, stops;
    uint32_t resumes, slept, waited, faults, last_pc, last_address, fault_kind;
    uint64_t dma_wait, sleep, cycles, rounds, issued, end_of_transfer;
    enum dpu_run_status status;
};

static void on_boot(void *context, struct dpu_machine *m)
{
    (void)m;
    ((struct log *)context)->boots++;
}

static void on_end(void *context, struct dpu_machine *m, enum dpu_run_status status)
{
    struct log *log = context;
    (void)m;
    log->ends++;
    log->status = status;
}

static void on_instruction(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc)
{
    struct log *log = context;
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(m, thread, &state));
    CHECK(state.pc == pc);
    log->instructions++;
    log->last_pc = pc;
}

static void on_access(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access)
{
    struct log *log = context;
    (void)m, (void)thread;
    CHECK(pc == log->last_pc);
    log->reads += !access->writes;
    log->writes += access->writes;
    log->last_address = access->address;
    CHECK(access->size == 4 || access->size == 8);
}

static void on_dma(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                   const struct dpu_transfer *transfer)
{
    struct log *log = context;
    (void)thread, (void)pc;
    CHECK(transfer->issued == dpu_machine_now(m));
    log->dmas++;
}

static void on_transferred(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                           const struct dpu_transfer *transfer)
{
    struct log *log = context;
    (void)m, (void)thread, (void)pc;
    CHECK(transfer->start >= transfer->issued && transfer->start >= log->end_of_transfer);
    CHECK(transfer->engine_end > transfer->start && transfer->tasklet_end > transfer->start);
    log->end_of_transfer = transfer->engine_end;
}

static void on_acquire(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       uint32_t bit, bool taken)
{
    struct log *log = context;
    bool is_set;
    (void)thread, (void)pc;
    CHECK(bit == LOCK && dpu_machine_get_atomic(m, bit, &is_set) && is_set == !taken);
    log->taken += taken;
    log->refused += !taken;
}

static void on_release(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       uint32_t bit)
{
    (void)m, (void)thread, (void)pc;
    CHECK(bit == LOCK);
    ((struct log *)context)->releases++;
}

static void on_run_bit(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       enum dpu_run_bit_change change, uint32_t target, bool was_set)
{
    struct log *log = context;
    (void)m, (void)pc;
    log->stops += change == DPU_RUN_BIT_STOP;
    log->resumes += change == DPU_RUN_BIT_RESUME;
    CHECK(change != DPU_RUN_BIT_STOP || (target == thread && was_set));
}

static void on_wait(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_wait wait, uint64_t since, uint64_t until)
{
    struct log *log = context;
    (void)m, (void)thread, (void)pc;
    CHECK(until > since);
    log->waited += wait == DPU_WAIT_DMA;
    log->slept += wait == DPU_WAIT_SLEEP;
    *(wait == DPU_WAIT_DMA ? &log->dma_wait : &log->sleep) += until - since;
}

static void on_span(void *context, struct dpu_machine *m, const struct dpu_span *span)
{
    struct log *log = context;
    (void)m;
    log->cycles += span->cycles;
    log->rounds += span->rounds;
    log->issued += span->rounds * span->runnable;
}

static void on_fault(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                     enum dpu_fault_kind kind)
{
    struct log *log = context;
    (void)m, (void)thread, (void)pc;
    log->faults++;
    log->fault_kind = (uint32_t)kind;
}

static const struct dpu_observer all_hooks = {
    .booted = on_boot,
    .ended = on_end,
    .instruction = on_instruction,
    .access = on_access,
    .dma = on_dma,
    .transferred = on_transferred,
    .acquire = on_acquire,
    .release = on_release,
    .run_bit = on_run_bit,
    .waited = on_wait,
    .passed = on_span,
    .fault = on_fault,
};

/* Transfers, a lock, stores to a word that all share. */
static void load_busy(struct dpu_machine *machine)
{
    LOAD(machine, BOOT_CHAIN(TASKLETS, 0), MOVE(1, 50),
         /* 3: */ W("acquire", "rici", ZERO, LOCK, CC_NZ, 3), W("lw", "erri", 0, 2, ZERO, SHARED),
         W("add", "rri", 2, 2, 1), W("sw", "erir", 0, ZERO, SHARED, 2),
         W("release", "rici", ZERO, LOCK, 0, 8), W("lsl", "rri", 3, ID, 8),
         W("ldma", "rri", 3, 3, 15), REPEAT(3), STOP);
}

static void test_results_are_those_of_turns(void)
{
    struct dpu_machine *observed = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_machine *turns = dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE);
    struct log log = {0};
    struct dpu_observer observer = all_hooks;
    struct dpu_run_result a, b;
    load_busy(observed);
    load_busy(turns);

    observer.context = &log;
    dpu_machine_observe(observed, &observer);
    CHECK(dpu_machine_launch(observed, &a) == DPU_RUN_DONE);
    CHECK(dpu_machine_launch(turns, &b) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_machine_engine_name(observed), "observed") == 0);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK(dpu_wram_word(observed, SHARED) == dpu_wram_word(turns, SHARED));

    CHECK(log.boots == 1 && log.ends == 1 && log.status == DPU_RUN_DONE && log.faults == 0);
    CHECK(log.instructions == a.instructions && log.issued == a.instructions);
    CHECK(log.cycles == a.cycles && log.rounds == a.rounds);
    CHECK(log.reads == 50 * TASKLETS && log.writes == log.reads && log.dmas == log.reads);
    CHECK(log.taken == 50 * TASKLETS && log.releases == log.taken && log.refused > 0);
    CHECK(log.stops == TASKLETS && log.slept == 0 && log.waited > 0 && log.dma_wait > 0);

    /* Without observer it has its usual engine again. */
    dpu_machine_unobserve(observed, &observer);
    CHECK(dpu_machine_launch(observed, NULL) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_machine_engine_name(observed), "drift") == 0);
    CHECK(log.boots == 1);
    dpu_machine_destroy(observed);
    dpu_machine_destroy(turns);
}

/* Tasklet 1 sleeps until tasklet 0, after a transfer, resumes it. */
static void test_sleep(void)
{
    struct log log = {0};
    struct dpu_observer observer = all_hooks;
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, BOOT_CHAIN(2, 0), JUMP_IF(ID, 0, CC_NZ, 7), MOVE(3, 0),
         W("ldma", "rri", 3, 3, 255), W("resume", "rici", ZERO, 1, CC_FALSE, 0), STOP,
         /* 7: */ STOP, STOP);
    observer.context = &log;
    dpu_machine_observe(machine, &observer);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    CHECK(log.resumes == 1 && log.slept == 1 && log.stops == 3);
    CHECK(log.sleep >= log.dma_wait && log.dma_wait >= 1024);
    dpu_machine_destroy(machine);
}

static void test_faults_and_what_faults(void)
{
    struct log log = {0};
    struct dpu_observer observer = all_hooks;
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(1, 7), W("lw", "erri", 0, 2, LNEG, 4), STOP);
    observer.context = &log;
    dpu_machine_observe(machine, &observer);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_FAULT);
    CHECK(log.faults == 1 && log.fault_kind == DPU_FAULT_MEMORY && log.status == DPU_RUN_FAULT);
    CHECK(log.reads == 1 && log.last_address == 3 && log.last_pc == 1);
    dpu_machine_destroy(machine);
}

static void test_several_observers(void)
{
    struct log logs[3] = {{0}};
    struct dpu_observer observers[3];
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(1, 7), STOP);
    for (int i = 0; i < 3; i++) {
        observers[i] = (struct dpu_observer){.booted = on_boot, .context = &logs[i]};
        dpu_machine_observe(machine, &observers[i]);
    }
    observers[1].instruction = NULL;
    dpu_machine_unobserve(machine, &observers[1]);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    CHECK(logs[0].boots == 1 && logs[1].boots == 0 && logs[2].boots == 1);
    dpu_machine_destroy(machine);
}

/* Slices and steps: a launch is told of once. */
static void test_slices_and_steps(void)
{
    struct log log = {0};
    struct dpu_observer observer = all_hooks;
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_run_result result;
    load_busy(machine);
    observer.context = &log;
    dpu_machine_observe(machine, &observer);
    dpu_machine_boot(machine);
    CHECK(dpu_machine_step(machine, 3, NULL) == DPU_RUN_STEPPED);
    while (dpu_machine_slice(machine, 100, &result) == DPU_RUN_STEPPED)
        continue;
    CHECK(log.boots == 1 && log.ends == 1 && log.instructions == result.instructions);
    CHECK(log.cycles == result.cycles && log.taken == 50 * TASKLETS);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_results_are_those_of_turns();
    test_sleep();
    test_faults_and_what_faults();
    test_several_observers();
    test_slices_and_steps();
    return 0;
}
