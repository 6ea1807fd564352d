/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h: the numbers that describe a machine, in one list.
 *
 * From it come the fields of struct dpu_machine_options, their defaults and bounds, the keys of a
 * profile with their errors, the options that a recorded profile and its report have, what tests
 * see, and the page of keys, which docs/generate.py makes; so the texts are Markdown.
 */
#ifndef OFFCHIP_DPU_OPTIONS_H
#define OFFCHIP_DPU_OPTIONS_H

#define DPU_DMA_ENGINES_MOST 8
#define DPU_ISSUE_WIDTH_MOST 8
#define DPU_DRAM_BANKS_MOST 16
#define DPU_DRAM_ROW_MOST 65536
#define DPU_TLB_ENTRIES_MOST 256
#define DPU_CACHE_KIB_MOST 4096
#define DPU_CACHE_WAYS_MOST 64
#define DPU_CACHE_POLICY_MOST 2
#define DPU_HAZARD_MOST 100
#define DPU_TASKLETS_MOST 64
#define DPU_IRAM_MOST 4096
#define DPU_WRAM_KIB_MOST 256
#define DPU_MRAM_MIB_MOST 64
#define DPU_PAGE_MOST 67108864
_Static_assert(DPU_PAGE_MOST == DPU_MRAM_MIB_MOST << 20, "all of MRAM is one page");

/*
 * X(key, type, field, smallest, largest, default, meaning)
 *
 * A tasklet waits for a transfer for its latency and what its bytes take of that; an engine, which
 * transfers one after the other, is busy for its setup and what they take of it. Refreshes are
 * DDR4's 260 ns every 7.8 us, four at once.
 *
 * With banks of DRAM, times of rows and columns are in its clocks: DDR4-2400's 16, 39, 16 and 16,
 * and between columns what gives the same bandwidth as softDmaEnginePerKiB; the cycles beside them
 * leave transfers of 8 bytes as long as without banks.
 */
#define DPU_MACHINE_NUMBERS(X) \
    X("softMaxCycles", uint64_t, max_cycles, 0, UINT64_MAX, 0, \
      "a launch that takes more cycles ends with \"result timeout\" and the pcs of its tasklets; " \
      "0: no limit") \
    X("softTasklets", uint32_t, tasklets, 0, DPU_TASKLETS_MOST, 0, \
      "tasklets of a DPU; 0: as its chip has. Run bits from 24 on, or behind more tasklets, are " \
      "notifications") \
    X("softIramInstructions", uint32_t, iram, 0, DPU_IRAM_MOST, 0, \
      "instructions of IRAM; 0: as the chip has") \
    X("softWramKiB", uint32_t, wram_kib, 0, DPU_WRAM_KIB_MOST, 0, \
      "KiB of WRAM; 0: as the chip has. Checked accesses, which compilers do not use, end at 64") \
    X("softMramMiB", uint32_t, mram_mib, 0, DPU_MRAM_MIB_MOST, 0, "MiB of MRAM; 0: 64") \
    X("softPipelineCycles", uint32_t, round_cycles, 1, 1000, 11, \
      "cycles between two instructions of a tasklet") \
    X("softPipelineWidth", uint32_t, issue_width, 1, DPU_ISSUE_WIDTH_MOST, 1, \
      "instructions that are issued in a cycle, each of another tasklet") \
    X("softPipelineForwarding", uint32_t, forwarding, 0, 1000, 0, \
      "cycles, at most softPipelineCycles, after which a tasklet can issue what needs the result " \
      "of its last instruction, or comes after a jump; anything else in the next cycle. 0: no " \
      "forwarding, all come after softPipelineCycles") \
    X("softPipelineHazard", uint32_t, hazard, 0, DPU_HAZARD_MOST, 0, \
      "cycles in which nothing is issued for each register that an instruction reads beside " \
      "another one of the same bank, of which one has the even registers; 0: no hazard") \
    X("softDmaReadLatency", uint32_t, dma_read_latency, 0, 1000000, 73, \
      "cycles that a tasklet waits for a transfer from MRAM, whatever its size") \
    X("softDmaWriteLatency", uint32_t, dma_write_latency, 0, 1000000, 57, \
      "the same for a transfer to MRAM") \
    X("softDmaLatencyPerKiB", uint32_t, dma_latency_per_kib, 0, 1000000, 512, \
      "cycles that it additionally waits per 1024 bytes") \
    X("softDmaSetup", uint32_t, dma_setup, 0, 1000000, 34, \
      "cycles that a transfer occupies the DMA engine, which handles one at a time") \
    X("softDmaEngines", uint32_t, dma_engines, 1, DPU_DMA_ENGINES_MOST, 1, \
      "DMA engines, each as fast as one alone; a transfer takes the one that is free first") \
    X("softDmaEnginePerKiB", uint32_t, dma_engine_per_kib, 0, 1000000, 521, \
      "cycles that it occupies it per 1024 bytes") \
    X("softDmaPageCrossing", uint32_t, dma_page_crossing, 0, 1000000, 25, \
      "cycles that each boundary of 1024 bytes of MRAM in a transfer adds") \
    X("softDramRefreshInterval", uint32_t, dram_refresh_interval, 1, 1000000000, 10920, \
      "transfers stand still in the last cycles of each interval of a launch, as the DRAM is " \
      "refreshed") \
    X("softDramRefreshCycles", uint32_t, dram_refresh_cycles, 0, 999999999, 364, \
      "how many these are, less than the interval has; 0: no refresh") \
    X("softDramBanks", uint32_t, dram_banks, 0, DPU_DRAM_BANKS_MOST, 0, \
      "banks of the DRAM: transfers take what its rows and columns do, by the keys below, " \
      "and not by the latency, setup, size and page crossings above; rows go over the banks one " \
      "by one. 0: by those above") \
    X("softDramMHz", uint32_t, dram_mhz, 1, 10000, 1200, "clock of the DRAM in MHz") \
    X("softDramRowBytes", uint32_t, dram_row_bytes, 8, DPU_DRAM_ROW_MOST, 1024, \
      "bytes of a row, a power of two") \
    X("softDramRcdClocks", uint32_t, dram_rcd, 0, 10000, 16, \
      "tRCD: clocks of the DRAM from the opening of a row to its first access") \
    X("softDramRasClocks", uint32_t, dram_ras, 0, 20000, 39, \
      "tRAS: the least that a row is open, at least tRCD") \
    X("softDramRpClocks", uint32_t, dram_rp, 0, 10000, 16, "tRP: the time to close a row") \
    X("softDramClClocks", uint32_t, dram_cl, 0, 10000, 16, \
      "tCL: from the last access of a transfer to its data") \
    X("softDramCcdClocks", uint32_t, dram_ccd, 1, 10000, 14, \
      "tCCD: between two accesses of 8 bytes of a row") \
    X("softDramOpenRows", uint32_t, dram_open_rows, 0, 1, 0, \
      "1: a row stays open until another one of its bank is needed; 0: it is closed after the " \
      "access of a transfer") \
    X("softDramOpenRowFirst", uint32_t, dram_open_row_first, 0, 1, 0, \
      "1: of waiting transfers, what is in an open row comes first, then the oldest (FR-FCFS); " \
      "needs softDramOpenRows=1, and tasklets are run in turns. 0: in their order (FIFO)") \
    X("softDramSetupCycles", uint32_t, dram_setup, 0, 1000000, 24, \
      "cycles of the DPU from the beginning of a transfer, in which it occupies an engine, " \
      "to its first access") \
    X("softDramReadReturnCycles", uint32_t, dram_read_return, 0, 1000000, 39, \
      "cycles of the DPU that the tasklet waits after the data of a transfer from MRAM") \
    X("softDramWriteReturnCycles", uint32_t, dram_write_return, 0, 1000000, 23, \
      "the same for a transfer to MRAM") \
    X("softTlbEntries", uint32_t, tlb_entries, 0, DPU_TLB_ENTRIES_MOST, 0, \
      "pages of MRAM whose translation is known, those used last; transfers wait for the walk of " \
      "any other page. 0: MRAM is not translated") \
    X("softTlbPageBytes", uint32_t, tlb_page, 64, DPU_PAGE_MOST, 4096, \
      "bytes of a page, a power of two") \
    X("softTlbWalkCycles", uint32_t, tlb_walk, 0, 1000000, 38, \
      "cycles of a walk, in which an engine is occupied; 38 are a transfer of 8 bytes") \
    X("softCacheKiB", uint32_t, cache_kib, 0, DPU_CACHE_KIB_MOST, 0, \
      "KiB of a data cache, by which loads and stores at 0x08000000 and above access MRAM; " \
      "programs are built for it, and tasklets are run in turns. 0: there is none") \
    X("softCacheWays", uint32_t, cache_ways, 1, DPU_CACHE_WAYS_MOST, 8, \
      "lines of a set of the cache, in one of which an address can be; there is a power of two " \
      "of sets") \
    X("softCacheLineBytes", uint32_t, cache_line, 8, 2048, 64, \
      "bytes of a line of the cache, a power of two") \
    X("softCachePolicy", uint32_t, cache_policy, 0, DPU_CACHE_POLICY_MOST, 0, \
      "which line of a full set of the cache gives way: 0 the one that was not used for longest " \
      "(LRU), 1 the one that was filled first (FIFO), 2 one at random, the same in each launch") \
    X("softSwitches", uint32_t, switches, 0, UINT32_MAX, 0, \
      "the switches below as one number: bits of `enum dpu_switch`")

#endif
