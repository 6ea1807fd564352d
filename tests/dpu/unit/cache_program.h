/* SPDX-License-Identifier: BSD-3-Clause */
/* cache_program.h: for tests of MRAM behind a cache. */
#ifndef OFFCHIP_TESTS_DPU_CACHE_PROGRAM_H
#define OFFCHIP_TESTS_DPU_CACHE_PROGRAM_H

#include "tests/dpu/support/program.h"

#define LOAD_WORD(r, base, offset) W("lw", "erri", 0, r, base, offset)
#define STORE_WORD(base, offset, r) W("sw", "erir", 0, base, offset, r)

enum { WINDOW = 0x08000000, LINE = 64, READ = 1000, WRITE = 3000, MOST = 128 };

/* Fills take READ cycles, and write-backs WRITE; each engine is busy as long. */
static inline struct dpu_machine_options cached(uint32_t kib, uint32_t ways, uint32_t policy)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.cache_kib = kib;
    options.cache_ways = ways;
    options.cache_policy = policy;
    options.round_cycles = 1;
    options.dram_refresh_cycles = 0;
    options.dma_page_crossing = 0;
    options.dma_setup = 0;
    options.dma_engine_per_kib = 0;
    options.dma_latency_per_kib = 0;
    options.dma_read_latency = READ;
    options.dma_write_latency = WRITE;
    return options;
}

static inline struct dpu_machine *make(const struct dpu_machine_options *options)
{
    struct dpu_machine *machine = dpu_machine_create(options);
    CHECK(machine != NULL);
    return machine;
}

static inline struct dpu_run_result launch(struct dpu_machine *machine)
{
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_machine_engine_name(machine), "turns") == 0);
    return result;
}

#endif
