/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: vector clocks. What a tasklet's clock says of another one is up to where it knows it. */
#include "dpu/checks/state.h"

static void join(const struct dpu_checks *checks, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < checks->thread_count; i++)
        if (clock[i] < other[i])
            clock[i] = other[i];
}

/* A clock that has reached its end stands still: what comes then is taken for ordered. */
static void tick(struct dpu_checks *checks, uint32_t thread)
{
    uint32_t *clock = &checks->tasklets[thread].clock[thread];
    if (*clock < RECORD_CLOCK_MOST)
        (*clock)++;
}

/* All that was before is before all that comes. */
void order_booted(struct dpu_checks *checks)
{
    uint32_t all[DPU_MACHINE_THREADS_ROOM] = {0};
    for (uint32_t i = 0; i < checks->thread_count; i++)
        join(checks, all, checks->tasklets[i].clock);
    for (uint32_t i = 0; i < checks->thread_count; i++) {
        join(checks, checks->tasklets[i].clock, all);
        tick(checks, i);
    }
}

void order_acquired(struct dpu_checks *checks, uint32_t thread, uint32_t bit)
{
    join(checks, checks->tasklets[thread].clock, checks->locks[bit].clock);
}

void order_released(struct dpu_checks *checks, uint32_t thread, uint32_t bit)
{
    join(checks, checks->locks[bit].clock, checks->tasklets[thread].clock);
    tick(checks, thread);
}

void order_started(struct dpu_checks *checks, uint32_t thread, uint32_t target)
{
    order_saw_stopped(checks, thread, target);
    join(checks, checks->tasklets[target].clock, checks->tasklets[thread].clock);
    tick(checks, thread);
}

void order_stopped(struct dpu_checks *checks, uint32_t thread)
{
    tick(checks, thread);
}

/* A tasklet that stands still has the clock that it stopped with. */
void order_saw_stopped(struct dpu_checks *checks, uint32_t thread, uint32_t target)
{
    if (thread == target)
        return;
    uint32_t own = checks->tasklets[target].clock[target];
    join(checks, checks->tasklets[thread].clock, checks->tasklets[target].clock);
    /* The tasklet's accesses after it goes on are not known. */
    if (own != 0 && checks->tasklets[thread].clock[target] == own)
        checks->tasklets[thread].clock[target] = own - 1;
}
