/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/dpu/support/observer.h"

#include "dpu/machine/observe.h"

#include <stdlib.h>

struct observer_of_all {
    struct dpu_observer observer;
    struct observed told;
};

static void on_instruction(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc)
{
    struct observed *told = context;
    (void)m, (void)thread, (void)pc;
    told->instructions++;
}

static void on_access(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access)
{
    struct observed *told = context;
    (void)m, (void)thread, (void)pc, (void)access;
    told->accesses++;
}

static void on_transfer(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                        const struct dpu_transfer *transfer)
{
    struct observed *told = context;
    (void)m, (void)thread, (void)pc, (void)transfer;
    told->transfers++;
}

static void on_line(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer)
{
    struct observed *told = context;
    (void)m, (void)thread, (void)pc, (void)transfer;
    told->lines++;
}

struct observer_of_all *observe_all(struct dpu_machine *machine)
{
    struct observer_of_all *all = calloc(1, sizeof *all);
    if (all == NULL)
        return NULL;

    all->observer = (struct dpu_observer){
        .context = &all->told,
        .instruction = on_instruction,
        .access = on_access,
        .transferred = on_transfer,
        .line_moved = on_line,
    };
    dpu_machine_observe(machine, &all->observer);
    return all;
}

void get_observed(const struct observer_of_all *observer, struct observed *told)
{
    *told = observer->told;
}

void unobserve(struct dpu_machine *machine, struct observer_of_all *observer)
{
    dpu_machine_unobserve(machine, &observer->observer);
    free(observer);
}
