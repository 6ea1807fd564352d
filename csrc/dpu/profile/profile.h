/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.h: where the cycles of a DPU go, per tasklet and instruction, per launch, and as a
 * timeline; collected by an observer of its machine (dpu/machine/observe.h).
 *
 * A profile belongs to one machine, and is used by the thread that runs it.
 */
#ifndef OFFCHIP_DPU_PROFILE_H
#define OFFCHIP_DPU_PROFILE_H

#include "dpu/machine/observe.h"

struct dpu_profile;

/* Counts of one tasklet at one instruction. Cycles are those of the DPU. */
struct dpu_profile_site {
    uint16_t pc;
    uint8_t thread;
    uint64_t instructions;
    uint64_t issue; /* cycles of the rounds that the instruction was issued in */
    uint64_t spin;  /* of them those in which an atomic bit was not to be had */
    uint64_t dma;   /* cycles that the tasklet waited for its transfer */
    uint64_t sleep; /* cycles from a stop to the resume */
};

/* Calls of what begins at TARGET by the instruction at SITE, and what passed in them. Of calls
 * within calls of the same function only the count is added. */
struct dpu_profile_call {
    uint16_t site, target;
    uint64_t count;
    uint64_t instructions, issue, spin, dma, sleep; /* as of a site */
};

/* A tasklet in one launch. Begin, end and waits are cycles of it. */
struct dpu_profile_tasklet {
    uint64_t instructions;
    uint64_t begin, end; /* from its boot to its last stop; both 0 if it did not take part */
    uint64_t spin, dma, sleep;
};

struct dpu_profile_launch {
    uint64_t status; /* enum dpu_run_status */
    uint64_t cycles, instructions;
    /* Cycles in which nothing was issued, by what kept the pipeline from being full: tasklets that
     * waited for DMA, tasklets that had stopped, or too few tasklets. */
    uint64_t lost_dma, lost_stopped, lost_few;
    uint64_t reads, writes, read_bytes, write_bytes; /* transfers, of lines of a cache too */
    uint64_t dma_busy; /* cycles of the DMA engine; of several, the mean */
    struct dpu_profile_tasklet tasklets[DPU_MACHINE_THREADS_ROOM];
};

enum dpu_profile_event_kind {
    DPU_PROFILE_READ = 1, /* of MRAM; its value has the bytes. From its issue */
    DPU_PROFILE_WRITE = 2,
    DPU_PROFILE_ENGINE = 3, /* the same transfer in the DMA engine */
    DPU_PROFILE_SLEEP = 4,
    DPU_PROFILE_SPIN = 5, /* on an atomic bit, the value, until it was to be had */
    DPU_PROFILE_HELD = 6, /* an atomic bit, by the tasklet that took it */
    DPU_PROFILE_RUN = 7,  /* from boot to stop */
};

struct dpu_profile_event {
    uint64_t begin, end; /* cycles of the launch */
    uint32_t value;
    uint16_t pc;
    uint8_t kind; /* enum dpu_profile_event_kind */
    uint8_t thread;
};

/* Begins to observe MACHINE, which runs slower from now on; with up to EVENTS events of each
 * launch. NULL if out of memory. */
struct dpu_profile *dpu_profile_create(struct dpu_machine *machine, uint32_t events);
/* Ends it, before its machine is destroyed. */
void dpu_profile_destroy(struct dpu_profile *profile);

/* A function begins at PC; for functions that another one jumps to as its last deed. */
void dpu_profile_add_function(struct dpu_profile *profile, uint32_t pc);
/* There is another program. */
void dpu_profile_forget_functions(struct dpu_profile *profile);

/* The last launch, and whether it is over. */
bool dpu_profile_get_launch(const struct dpu_profile *profile, struct dpu_profile_launch *launch);
/* Its events in the order of their ends, and how many more there were. Until the next launch. */
const struct dpu_profile_event *dpu_profile_events(const struct dpu_profile *profile,
                                                   uint32_t *count, uint64_t *dropped);

/*
 * Calls TAKE for each site that was executed, in the order of tasklets and instructions, and
 * forgets them.
 */
void dpu_profile_take_sites(struct dpu_profile *profile,
                            void (*take)(void *context, const struct dpu_profile_site *site),
                            void *context);
/* Calls TAKE for each row of calls, of all tasklets together, and forgets them. Not while a launch
 * is under way. */
void dpu_profile_take_calls(struct dpu_profile *profile,
                            void (*take)(void *context, const struct dpu_profile_call *call),
                            void *context);

#endif
