/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/checks/checks.h"

#include "dpu/checks/state.h"

#include <stdlib.h>
#include <string.h>

struct dpu_check_point dpu_checks_where(const struct dpu_checks *checks, uint32_t thread)
{
    uint32_t last = checks->tasklets[thread].last;
    return check_point(checks, thread, last != NO_PC ? last : 0);
}

bool dpu_checks_is_stuck(const struct dpu_checks *checks)
{
    return checks->stuck;
}

/* --- hooks --- */

static void start_tasklet(struct tasklet *tasklet)
{
    tasklet->last = tasklet->tried_at = tasklet->waits_at = NO_PC;
    tasklet->calls = tasklet->lost = 0;
    tasklet->stack_direction = 0;
    defined_start(tasklet);
}

static void read_facts(struct dpu_checks *checks)
{
    uint64_t word;
    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        if (!dpu_machine_read_iram(checks->machine, pc, &word, 1))
            word = 0;
        fact_of(word, &checks->facts[pc]);
    }
    checks->facts_are_old = false;
}

static void on_boot(void *context, struct dpu_machine *machine)
{
    struct dpu_checks *checks = context;
    (void)machine;
    if (checks->facts_are_old)
        read_facts(checks);
    checks->flights = 0;
    checks->stuck = false;
    start_tasklet(&checks->tasklets[0]);
    order_booted(checks);
    defined_by_host(checks);
}

static void on_end(void *context, struct dpu_machine *machine, enum dpu_run_status status)
{
    (void)machine, (void)status;
    defined_end(context);
}

/* Records what the instruction at LAST has done, now that the one at PC follows. */
static void follow(struct dpu_checks *checks, uint32_t thread, uint32_t last, uint32_t pc)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    const struct fact *fact = &checks->facts[last];
    if (fact->moves_stack)
        stacks_moved(checks, thread, last);
    if (tasklet->moves_heap)
        defined_heap(checks, tasklet);
    if (fact->flow == FLOW_CALL)
        calls_enter(checks, tasklet, last);
    else if (fact->flow == FLOW_JUMP_BY_REGISTER)
        calls_return(checks, tasklet, pc);
}

static void on_instruction(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc)
{
    struct dpu_checks *checks = context;
    struct tasklet *tasklet = &checks->tasklets[thread];
    uint32_t last = tasklet->last;
    (void)machine;
    tasklet->last = pc;
    if (tasklet->tried_at != pc)
        tasklet->tried_at = tasklet->waits_at = NO_PC;
    if (last != NO_PC)
        follow(checks, thread, last, pc);
    if ((checks->wanted & DPU_CHECK_UNINITIALISED) != 0)
        defined_instruction(checks, thread, pc);
}

static void on_access(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access)
{
    struct dpu_checks *checks = context;
    (void)machine;
    if (checks->flights != 0)
        transfers_access(checks, thread, pc, access);
    if ((checks->wanted & DPU_CHECK_BOUNDS) != 0)
        bounds_access(checks, thread, pc, access);
    if ((checks->wanted & DPU_CHECK_UNINITIALISED) != 0)
        defined_access(checks, thread, pc, access);
    if ((checks->wanted & DPU_CHECK_RACE) != 0)
        races_access(checks, thread, pc, access);
}

static void on_dma(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                   const struct dpu_transfer *transfer)
{
    struct dpu_checks *checks = context;
    (void)machine;
    if ((checks->wanted & DPU_CHECK_UNINITIALISED) != 0)
        defined_addresses(checks, thread, pc);
    if ((checks->wanted & DPU_CHECK_DMA) != 0)
        transfers_check(checks, thread, pc, transfer);
    checks->facts_are_old = checks->facts_are_old || transfer->to_iram;
}

static void on_transfer(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                        const struct dpu_transfer *transfer)
{
    struct dpu_checks *checks = context;
    (void)machine;
    if (transfer->to_iram)
        read_facts(checks);
    defined_transfer(checks, transfer);
    if ((checks->wanted & DPU_CHECK_DMA) != 0)
        transfers_begin(checks, thread, pc, transfer);
    if ((checks->wanted & DPU_CHECK_RACE) != 0)
        races_transfer(checks, thread, pc, transfer);
}

static void on_acquire(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                       uint32_t bit, bool taken)
{
    struct dpu_checks *checks = context;
    (void)machine;
    if (!taken) {
        if ((checks->wanted & DPU_CHECK_DEADLOCK) != 0)
            deadlocks_refused(checks, thread, pc, bit);
        return;
    }

    checks->tasklets[thread].tried_at = checks->tasklets[thread].waits_at = NO_PC;
    checks->locks[bit].holder = thread;
    checks->locks[bit].taken = check_point(checks, thread, pc);
    order_acquired(checks, thread, bit);
}

static void on_release(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                       uint32_t bit)
{
    struct dpu_checks *checks = context;
    (void)machine, (void)pc;
    checks->locks[bit].holder = NOBODY;
    order_released(checks, thread, bit);
}

static void on_run_bit(void *context, struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                       enum dpu_run_bit_change change, uint32_t target, bool was_set)
{
    struct dpu_checks *checks = context;
    (void)machine, (void)pc;
    if (change == DPU_RUN_BIT_STOP)
        order_stopped(checks, thread);
    if (target >= checks->thread_count || was_set)
        return;

    if (change == DPU_RUN_BIT_BOOT || change == DPU_RUN_BIT_RESUME)
        order_started(checks, thread, target);
    else if (change == DPU_RUN_BIT_READ || change == DPU_RUN_BIT_CLEAR)
        order_saw_stopped(checks, thread, target);
    if (change == DPU_RUN_BIT_BOOT)
        start_tasklet(&checks->tasklets[target]);
}

/* --- making --- */

struct dpu_checks *dpu_checks_create(struct dpu_machine *machine, uint32_t wanted,
                                     dpu_checks_tell *tell, void *context)
{
    struct dpu_machine_options options;
    struct dpu_checks *checks = calloc(1, sizeof *checks);
    if (checks == NULL)
        return NULL;

    dpu_machine_get_options(machine, &options);
    checks->machine = machine;
    checks->thread_count = dpu_machine_thread_count(machine);
    checks->has_cache = options.cache_kib != 0;
    checks->undefined = calloc(dpu_machine_wram_size(machine), 1);
    checks->kept = calloc(dpu_machine_wram_size(machine), 1);
    if (!shadow_create(&checks->shadow, dpu_machine_wram_size(machine), checks->thread_count,
                       checks->has_cache) ||
        checks->undefined == NULL || checks->kept == NULL) {
        shadow_destroy(&checks->shadow);
        free(checks->undefined);
        free(checks->kept);
        free(checks);
        return NULL;
    }

    checks->wanted = wanted;
    checks->tell = tell;
    checks->context = context;
    checks->facts_are_old = true;
    checks->node_count = 1;
    for (uint32_t i = 0; i < checks->thread_count; i++)
        start_tasklet(&checks->tasklets[i]);
    for (uint32_t i = 0; i < DPU_MACHINE_ATOMIC_BITS; i++)
        checks->locks[i].holder = NOBODY;

    checks->observer = (struct dpu_observer){
        .context = checks,
        .booted = on_boot,
        .ended = on_end,
        .instruction = on_instruction,
        .access = on_access,
        .dma = on_dma,
        .transferred = on_transfer,
        .acquire = on_acquire,
        .release = on_release,
        .run_bit = on_run_bit,
    };
    dpu_machine_observe(machine, &checks->observer);
    return checks;
}

void dpu_checks_destroy(struct dpu_checks *checks)
{
    if (checks == NULL)
        return;
    dpu_machine_unobserve(checks->machine, &checks->observer);
    shadow_destroy(&checks->shadow);
    free(checks->undefined);
    free(checks->kept);
    free(checks->wram);
    free(checks->mram);
    free(checks);
}

static bool copy_areas(struct area **to, const struct dpu_check_area *from, size_t count)
{
    uint32_t furthest = 0;
    struct area *areas = calloc(count + 1, sizeof *areas);
    free(*to);
    *to = areas;
    for (size_t i = 0; areas != NULL && i < count; i++) {
        uint32_t end = from[i].address + from[i].size;
        furthest = end > furthest ? end : furthest;
        areas[i] = (struct area){from[i].address, end, furthest};
    }
    return areas != NULL;
}

bool dpu_checks_load(struct dpu_checks *checks, const struct dpu_check_layout *layout)
{
    checks->facts_are_old = true;
    checks->is_known = false;
    memset(checks->told, 0, sizeof checks->told);
    checks->told_count = 0;
    memset(checks->nodes, 0, sizeof checks->nodes);
    checks->node_count = 1;
    for (uint32_t i = 0; i < checks->thread_count; i++)
        start_tasklet(&checks->tasklets[i]);
    order_booted(checks);
    if (layout == NULL) {
        defined_load(checks);
        return true;
    }

    checks->layout = *layout;
    checks->is_known = copy_areas(&checks->wram, layout->wram, layout->wram_count) &&
                       copy_areas(&checks->mram, layout->mram, layout->mram_count);
    checks->layout.wram = checks->layout.mram = NULL;
    defined_load(checks);
    return checks->is_known;
}
