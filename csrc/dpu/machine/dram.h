/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dram.h: how long transfers take in a DRAM of banks: a row is opened before its columns are
 * accessed, which takes longer if another one is open. In place of fitted constants, where the
 * options have banks.
 *
 * Rows of 1,024 bytes, or as the options say, go over the banks one by one. A transfer takes a DMA
 * engine, and goes through its rows; requests reach a bank in the order of their issue, or those of
 * open rows first. All rows are closed when a launch begins, and by each refresh.
 */
#ifndef OFFCHIP_DPU_DRAM_H
#define OFFCHIP_DPU_DRAM_H

#include "dpu/isa/chip.h"
#include "dpu/machine/options.h"

#include <stdbool.h>
#include <stdint.h>

/* All times are ticks since the boot: each clock of the DPU and of the DRAM is a whole number of
 * them. */
struct dpu_bank {
    uint64_t row;    /* that is open; DPU_NO_ROW */
    uint64_t period; /* between two refreshes, in which it was opened */
    uint64_t opened, free;
};
#define DPU_NO_ROW UINT64_MAX

/* A transfer: what is left of it. */
struct dpu_request {
    uint64_t issued; /* cycle of the machine */
    uint32_t thread, far, bytes;
    uint32_t wait;  /* cycles that its tasklet sees it later than the engine */
    uint64_t setup; /* cycles of the engine before its first access */
    bool has_begun;
};

struct dpu_dram {
    struct dpu_bank banks[DPU_DRAM_BANKS_MOST];
    /* If open rows are first: when the engine is free, and requests in the order of their issue. */
    uint64_t engine_free;
    uint32_t count;
    struct dpu_request requests[DPU_MACHINE_THREADS_ROOM];
};

struct dpu_machine;

/* True if a transfer may be overtaken, so that its end is known only when it comes: then tasklets
 * are run in turns. */
bool dpu_dram_reorders(const struct dpu_machine *machine);
/* All banks and engines are idle, and rows closed. */
void dpu_dram_reset(struct dpu_machine *machine);
/* A transfer is issued, and takes the machine's DMA engine, which is busy until then; its tasklet
 * waits. Those whose transfers are overtaken wait longer than they would have. */
void dpu_dram_transfer(struct dpu_machine *machine, const struct dpu_request *request);

#endif
