/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h: some rounds in which tasklets run alone between events, and their order and time.
 *
 * All tasklets are at the same round when a window begins and when it ends. In between each stands
 * at its next event, at the end of the window, or waits for another. The group is who issues in a
 * round; it changes only after events and when DMA is over, so that cycles follow from rounds.
 */
#ifndef OFFCHIP_DPU_WINDOW_H
#define OFFCHIP_DPU_WINDOW_H

#include "machine_state.h"

#define DPU_NEVER UINT64_MAX

/* Where in the order of events tasklet ID stands in a round. */
#define DPU_PLACE(round, id) ((round) << 5 | (id))
#define DPU_PLACE_ROUND(place) ((place) >> 5)

struct dpu_window {
    struct dpu_machine *m;
    dpu_runner run;
    uint64_t end;                         /* round */
    uint64_t limit;                       /* cycle that must not be passed */
    uint64_t fault;                       /* place that nobody passes; DPU_NEVER */
    uint64_t places[DPU_MACHINE_THREADS]; /* DPU_NEVER if it waits for another, or is not in it */
    uint64_t joined[DPU_MACHINE_THREADS]; /* round from which it is in the group */
    uint64_t regroup;                     /* round at which the group changes; DPU_NEVER */
    uint64_t length;                      /* cycles of a round */
    uint32_t group, standing, spinning;   /* tasklets; standing: for the next group */
    uint16_t spins_on[DPU_MACHINE_THREADS];
    bool is_alone; /* one tasklet ran when it began: the window ends if another one starts */
    bool is_over;  /* nobody runs any more, or the limit of cycles was reached */
};

/* The most rounds that cannot pass the limit of cycles, whoever starts. */
uint64_t dpu_window_rounds_before(const struct dpu_machine *machine, uint64_t limit);
/* Begins a window, and runs each tasklet up to its first event. */
void dpu_window_begin(struct dpu_window *window);
/* The tasklet with the smallest place. */
uint32_t dpu_window_first(const struct dpu_window *window);
/* Runs a tasklet that comes to ROUND up to its next event. */
void dpu_window_run_on(struct dpu_window *window, uint32_t id, uint64_t round);
/* The group of ROUND, which may be another one. */
void dpu_window_regroup(struct dpu_window *window, uint64_t round);
/* All have come to the end: brings the counts of the machine there. */
void dpu_window_end(struct dpu_window *window);
/* Tasklet ID has faulted in ROUND: those up to it have issued, one a cycle. */
void dpu_window_end_at_fault(struct dpu_window *window, uint32_t id, uint64_t round);

#endif
