/* SPDX-License-Identifier: BSD-3-Clause */
/* observer.h: an observer with all hooks, for comparing machines that are observed with others. */
#ifndef OFFCHIP_TESTS_DPU_OBSERVER_H
#define OFFCHIP_TESTS_DPU_OBSERVER_H

#include <stdint.h>

struct dpu_machine;
struct observer_of_all;

/* How often each hook was called. */
struct observed {
    uint64_t instructions, accesses, transfers, lines;
};

/* NULL if out of memory. The machine must not run meanwhile. */
struct observer_of_all *observe_all(struct dpu_machine *machine);
void get_observed(const struct observer_of_all *observer, struct observed *told);
/* Frees it. */
void unobserve(struct dpu_machine *machine, struct observer_of_all *observer);

#endif
