/* SPDX-License-Identifier: BSD-3-Clause */
/* debug_run.c: see debug_run.h. */
#include "dpu/lib/run/debug_run.h"

#include "dpu/lib/ranks/rank.h"

#include <string.h>

/* Where programs have MRAM. */
#define MRAM_BASE UINT32_C(0x08000000)

/* --- watchpoints --- */

static bool overlaps(const struct dpulib_watch *watch, uint64_t address, uint64_t size)
{
    return address < (uint64_t)watch->address + watch->size && watch->address < address + size;
}

/* The first access of a round counts. */
static void note(struct dpulib_debug *debug, uint32_t thread, uint32_t pc, uint64_t address,
                 uint64_t size, uint32_t kind)
{
    for (uint32_t i = 0; i < debug->watch_count && !debug->hit; i++) {
        if ((debug->watches[i].kind & kind) == 0 || !overlaps(&debug->watches[i], address, size))
            continue;
        debug->hit = true;
        debug->thread = thread;
        debug->pc = pc;
        debug->watch = i;
    }
}

static void on_access(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access)
{
    (void)m;
    note(context, thread, pc, access->address, access->size,
         access->writes ? DPULIB_WATCH_WRITE : DPULIB_WATCH_READ);
}

static void on_transfer(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                        const struct dpu_transfer *transfer)
{
    (void)m;
    uint64_t mram = transfer->mram;
    if (mram < MRAM_BASE)
        mram += MRAM_BASE;
    note(context, thread, pc, mram, transfer->bytes,
         transfer->writes_mram ? DPULIB_WATCH_WRITE : DPULIB_WATCH_READ);
    if (!transfer->to_iram)
        note(context, thread, pc, transfer->near, transfer->bytes,
             transfer->writes_mram ? DPULIB_WATCH_READ : DPULIB_WATCH_WRITE);
}

/* An observed machine is slower, so it is observed only as long as there are watchpoints. */
static void observe(struct dpu_t *dpu, struct dpulib_debug *debug)
{
    debug->hit = false;
    if (debug->watch_count == 0)
        return;
    debug->observer = (struct dpu_observer){
        .context = debug,
        .access = on_access,
        .transferred = on_transfer,
    };
    dpu_machine_observe(dpu->machine, &debug->observer);
}

static void unobserve(struct dpu_t *dpu, struct dpulib_debug *debug)
{
    if (debug->watch_count != 0)
        dpu_machine_unobserve(dpu->machine, &debug->observer);
}

/* --- running --- */

static bool is_at_breakpoint(const struct dpulib_debug *debug, uint32_t pc)
{
    return (debug->breakpoints[pc / 64] >> (pc % 64) & 1) != 0;
}

static bool has_breakpoints(const struct dpulib_debug *debug)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < DPU_MACHINE_IRAM / 64; i++)
        any |= debug->breakpoints[i];
    return any != 0;
}

/* Looks at the tasklets after a round; true if the run ends. */
static bool look(struct dpu_t *dpu, struct dpulib_debug *debug,
                 const struct dpulib_debug_range *range)
{
    uint64_t bits = dpu_machine_get_run_bits(dpu->machine);
    if (debug->hit) {
        debug->stop = DPULIB_STOP_WATCHPOINT;
        return true;
    }

    for (uint32_t i = 0; i < dpu_machine_thread_count(dpu->machine); i++) {
        struct dpu_thread_state state;
        if ((bits >> i & 1) == 0 || !dpu_machine_get_thread(dpu->machine, i, &state))
            continue;
        if (is_at_breakpoint(debug, state.pc)) {
            debug->stop = DPULIB_STOP_BREAKPOINT;
            debug->thread = i;
            return true;
        }
        if (range->end != 0 && i == range->thread &&
            (state.pc < range->first || state.pc >= range->end)) {
            debug->stop = DPULIB_STOP_LEFT;
            debug->thread = i;
            return true;
        }
    }

    return false;
}

static void note_status(struct dpu_t *dpu, struct dpulib_debug *debug, enum dpu_run_status status)
{
    debug->status = status;
    dpu_machine_get_result(dpu->machine, &dpu->result);
    switch (status) {
    case DPU_RUN_STEPPED: return;
    case DPU_RUN_DONE: debug->stop = DPULIB_STOP_DONE; return;
    case DPU_RUN_FAULT:
        debug->stop = DPULIB_STOP_FAULT;
        debug->thread = dpu->result.fault_thread;
        debug->pc = dpu->result.fault_pc;
        return;
    case DPU_RUN_INTERRUPTED:
    case DPU_RUN_CYCLE_LIMIT:
    case DPU_RUN_NO_MEMORY: break;
    }
    debug->stop = DPULIB_STOP_LIMIT;
}

void dpulib_debug_run(struct dpu_t *dpu, struct dpulib_debug *debug, uint64_t rounds,
                      struct dpulib_debug_range range)
{
    bool looks = has_breakpoints(debug) || debug->watch_count != 0 || range.end != 0;
    enum dpu_run_status status = DPU_RUN_STEPPED;
    bool stopped = false;
    debug->stop = DPULIB_STOP_ROUNDS;
    observe(dpu, debug);
    while (rounds != 0 && status == DPU_RUN_STEPPED && !stopped) {
        uint64_t part = looks ? 1 : rounds;
        status = dpu_machine_step(dpu->machine, part, NULL);
        rounds -= part;
        stopped = (status == DPU_RUN_STEPPED || debug->hit) && look(dpu, debug, &range);
    }

    unobserve(dpu, debug);
    enum dpulib_stop stop = debug->stop;
    note_status(dpu, debug, status);
    if (stopped)
        debug->stop = stop;
}

bool dpulib_debug_step(struct dpu_t *dpu, struct dpulib_debug *debug, uint32_t thread)
{
    struct dpu_thread_state state;
    uint64_t threads = (UINT64_C(1) << dpu_machine_thread_count(dpu->machine)) - 1;
    if (!dpu_machine_get_thread(dpu->machine, thread, &state) || !state.running)
        return false;

    debug->stop = DPULIB_STOP_ROUNDS;
    observe(dpu, debug);
    enum dpu_run_status status = dpu_machine_step_thread(dpu->machine, thread, NULL);
    unobserve(dpu, debug);

    /* "Done" here is of this tasklet; another one may run. */
    if (status == DPU_RUN_DONE && (dpu_machine_get_run_bits(dpu->machine) & threads) != 0)
        status = DPU_RUN_STEPPED;
    else if (status == DPU_RUN_STEPPED && (dpu_machine_get_run_bits(dpu->machine) & threads) == 0)
        status = DPU_RUN_DONE;
    note_status(dpu, debug, status);
    if (debug->hit && status != DPU_RUN_FAULT)
        debug->stop = DPULIB_STOP_WATCHPOINT;
    return true;
}
