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

#include <string.h>

#define DPU_NEVER UINT64_MAX

/* Where in the order of events tasklet ID stands in a round. */
#define DPU_PLACE(round, id) ((round) << 5 | (id))
#define DPU_PLACE_ROUND(place) ((place) >> 5)

/* The most rounds of a window, and the place of a tasklet that is not in its order. */
#define DPU_WINDOW_MOST 4096
#define DPU_NOWHERE INT32_MAX

/* Four of them in one register of the host. */
typedef int32_t dpu_four_places __attribute__((vector_size(16)));
_Static_assert(DPU_MACHINE_THREADS % 4 == 0, "places are compared four by four");

struct dpu_window {
    struct dpu_machine *m;
    dpu_runner run;
    uint64_t begin, end; /* rounds */
    uint64_t limit;      /* cycle that must not be passed */
    uint64_t fault;      /* place that nobody passes; DPU_NEVER */
    /* Counted from the beginning, so that the first of all is found quickly; DPU_NOWHERE if it
     * waits for another, or is not in it. */
    int32_t places[DPU_MACHINE_THREADS];
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
/* Puts a tasklet that comes to ROUND in its order. */
static inline void dpu_window_put(struct dpu_window *w, uint32_t id, uint64_t round)
{
    w->places[id] = (int32_t)DPU_PLACE(round - w->begin, id);
}
/* The smallest place, counted from round 0. */
static inline uint64_t dpu_window_first(const struct dpu_window *w)
{
    dpu_four_places least, other;
    memcpy(&least, w->places, sizeof least);
    for (uint32_t id = 4; id < DPU_MACHINE_THREADS; id += 4) {
        memcpy(&other, &w->places[id], sizeof other);
        dpu_four_places is_less = other < least;
        least = (other & is_less) | (least & ~is_less);
    }
    int32_t left = least[0] < least[1] ? least[0] : least[1];
    int32_t right = least[2] < least[3] ? least[2] : least[3];
    return DPU_PLACE(w->begin, 0) + (uint32_t)(left < right ? left : right);
}
/* Runs a tasklet that comes to ROUND up to its next event. */
void dpu_window_run_on(struct dpu_window *window, uint32_t id, uint64_t round);
/* The group of ROUND, which may be another one. */
void dpu_window_regroup(struct dpu_window *window, uint64_t round);
/* All have come to the end: brings the counts of the machine there. */
void dpu_window_end(struct dpu_window *window);
/* Tasklet ID has faulted in ROUND: those up to it have issued, one a cycle. */
void dpu_window_end_at_fault(struct dpu_window *window, uint32_t id, uint64_t round);

#endif
