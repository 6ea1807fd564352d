/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadlocks.c: tasklets that wait for locks which are never released: each one's is held by the
 * next one, or all that run wait. A tasklet waits if the acquire that fails is what it tries again
 * and again.
 */
#include "dpu/checks/state.h"

static void add_wait(struct dpu_checks *checks, struct dpu_finding *finding, uint32_t thread)
{
    const struct tasklet *tasklet = &checks->tasklets[thread];
    const struct lock *lock = &checks->locks[tasklet->waits_for];
    finding->waits[finding->wait_count++] = (struct dpu_check_wait){
        .point = check_point(checks, thread, tasklet->waits_at),
        .bit = tasklet->waits_for,
        .holder = lock->holder,
        .taken = lock->taken,
    };
}

/* From THREAD to whom it waits for, back to it. */
static bool find_cycle(struct dpu_checks *checks, uint32_t thread, struct dpu_finding *finding)
{
    uint32_t next = thread;
    for (uint32_t i = 0; i < checks->thread_count; i++) {
        const struct tasklet *tasklet = &checks->tasklets[next];
        if (tasklet->waits_at == NO_PC)
            return false;
        add_wait(checks, finding, next);
        next = checks->locks[tasklet->waits_for].holder;
        if (next == NOBODY)
            return false;
        if (next == thread)
            return true;
    }
    return false;
}

/* True if no tasklet runs that could release anything. */
static bool find_all(struct dpu_checks *checks, struct dpu_finding *finding)
{
    uint64_t running = dpu_machine_get_run_bits(checks->machine);
    finding->wait_count = 0;
    for (uint32_t i = 0; i < checks->thread_count; i++) {
        if ((running >> i & 1) == 0)
            continue;
        if (checks->tasklets[i].waits_at == NO_PC)
            return false;
        add_wait(checks, finding, i);
    }
    return finding->wait_count != 0;
}

void deadlocks_refused(struct dpu_checks *checks, uint32_t thread, uint32_t pc, uint32_t bit)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    /* The second time: the first may be a try. */
    bool again = tasklet->tried_at == pc;
    tasklet->tried_at = pc;
    if (!again || tasklet->waits_at == pc)
        return;

    struct dpu_finding finding = {.kind = DPU_FINDING_DEADLOCK, .check = DPU_CHECK_DEADLOCK};
    tasklet->waits_at = pc;
    tasklet->waits_for = bit;
    if (!find_cycle(checks, thread, &finding) && !find_all(checks, &finding))
        return;

    finding.here = check_point(checks, thread, pc);
    checks->stuck = true;
    check_tell(checks, &finding);
}
