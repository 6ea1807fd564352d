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
#include "queue.h"

_Static_assert(DPU_MACHINE_THREADS_ROOM < DPU_QUEUE_ROOM, "all tasklets may wait");

/* Where in the order of events tasklet ID stands in a round. */
#define DPU_PLACE(round, id) DPU_KEY(round, id)
#define DPU_PLACE_ROUND(place) DPU_KEY_VALUE(place)

/* The most rounds of a window. */
#define DPU_WINDOW_MOST 4096

struct dpu_window;

/* Machines with the same state but for registers and memories, of which one has the window. */
struct dpu_in_step {
    /* True if the next event of a tasklet is the same for all, and does not fault. */
    bool (*may)(const struct dpu_in_step *group, struct dpu_window *window, uint32_t id);
    /* The event OP of a tasklet was executed for the machine that has the window. */
    void (*did)(const struct dpu_in_step *group, struct dpu_window *window, uint32_t id,
                const struct dpu_operation *op);
};

struct dpu_window {
    struct dpu_machine *m;
    dpu_runner run; /* NULL: tasklets are run by the window's owner, who finds them in ASKED */
    uint64_t end;   /* round */
    uint64_t limit; /* cycle that must not be passed */
    uint64_t fault; /* place that nobody passes; DPU_NEVER */
    struct dpu_queue events;  /* places of those that do not wait for another */
    struct dpu_queue waiting; /* for DMA, by the cycle at which they can issue again */
    uint64_t is_waiting;      /* the same as a set */
    uint64_t joined[DPU_MACHINE_THREADS_ROOM]; /* round from which it is in the group */
    uint64_t regroup;                          /* round at which the group changes; DPU_NEVER */
    uint64_t length;                           /* cycles of a round */
    uint64_t group, standing, spinning;        /* tasklets; standing: for the next group */
    uint16_t spins_on[DPU_MACHINE_THREADS_ROOM];
    const struct dpu_in_step *in_step; /* other machines that share it; NULL: there are none */
    uint64_t asked;                    /* tasklets to be run up to their next event */
    uint64_t asked_round[DPU_MACHINE_THREADS_ROOM];  /* at which they are */
    uint32_t asked_budget[DPU_MACHINE_THREADS_ROOM]; /* instructions, at most */
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
    dpu_queue_put(&w->events, DPU_PLACE(round, id));
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
