/* SPDX-License-Identifier: BSD-3-Clause */
/* observed.h: the engine of machines that are observed, and what calls the hooks. */
#ifndef OFFCHIP_DPU_OBSERVED_H
#define OFFCHIP_DPU_OBSERVED_H

#include "engine.h"
#include "observe.h"

extern const struct dpu_engine dpu_engine_observed;

static inline bool dpu_is_observed(const struct dpu_machine *m)
{
    return m->observers != NULL || m->counts != NULL;
}

/* Where it counts. */
static inline struct dpu_count *dpu_counts_of(struct dpu_machine *m)
{
    return m->counts != NULL ? m->counts : &m->observing.no_counts[0][0];
}

/* In a row of counts: what is before FROM was the last before a jump to TO, in rounds of so many
 * cycles. */
static inline void dpu_count_jump(struct dpu_count *row, size_t from, size_t to, uint64_t cycles)
{
    row[from].instructions--;
    row[from].cycles -= cycles;
    row[to].instructions++;
    row[to].cycles += cycles;
}

/* Before an instruction, whose code was read once for this and for executing it: for the hooks
 * instruction() and access(). */
void dpu_observe_instruction(struct dpu_machine *machine, struct dpu_thread *t,
                             const struct dpu_operation *op, uint32_t code);
/* A jump without a condition. */
void dpu_observe_jump(struct dpu_machine *machine, uint32_t thread, const struct dpu_operation *op,
                      uint32_t target);
/* Before and after an instruction that other tasklets notice. */
void dpu_observe_event(struct dpu_machine *machine, struct dpu_thread *t,
                       const struct dpu_operation *op);
void dpu_observe_event_done(struct dpu_machine *machine, struct dpu_thread *t,
                            const struct dpu_operation *op);

/* T moved a line of the cache at its instruction PC. */
void dpu_observe_line(struct dpu_machine *machine, uint32_t thread, uint32_t pc,
                      const struct dpu_transfer *transfer);
/* After a launch its cache took so many cycles. */
void dpu_observe_flush(struct dpu_machine *machine, uint64_t cycles);

/* Frees the trail. */
void dpu_observed_free(struct dpu_machine *machine);

/* A launch begins; a run has ended. */
void dpu_observe_boot(struct dpu_machine *machine);
void dpu_observe_end(struct dpu_machine *machine, enum dpu_run_status status);

#endif
