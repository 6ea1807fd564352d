/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * configuration_keys.h: the keys of a profile string. configuration.c reads them by these lists,
 * its errors name what they allow, and docs/generate.py makes a page of them; so the texts are
 * Markdown.
 */
#ifndef OFFCHIP_DPU_LIB_CONFIGURATION_KEYS_H
#define OFFCHIP_DPU_LIB_CONFIGURATION_KEYS_H

#include "dpu/machine/options.h"

#define DPULIB_RANKS_MAX 4096 /* ids have 12 bits */

/*
 * Numbers. X(key, type of the field, field, smallest, largest, default, meaning). Those of the
 * machine are in DPU_MACHINE_NUMBERS, with the same columns.
 */
#define DPULIB_VENDOR_NUMBERS(X) \
    X("chipId", uint32_t, chip_id, 0, UINT32_MAX, "none", \
      "above 8 a v1B chip: 16 tasklets, 3968 instructions, 62 KiB of WRAM; else a v1A one. " \
      "Programs marked for the other chip are rejected; without this key both run, on a v1A") \
    X("clockDivision", uint32_t, clock_division, 1, 8, "1", "only told to programs that ask") \
    X("fckFrequency", uint32_t, clock_mhz, 1, 4000, "350; v1B: 400", "clock of the DPUs in MHz") \
    X("nrDpusPerCi", uint32_t, members, 1, DPU_MAX_NR_DPUS_PER_CI, "8", \
      "DPUs in a slice: a rank has 8 slices") \
    X("nrDpusPerCI", uint32_t, members, 1, DPU_MAX_NR_DPUS_PER_CI, "8", "the same") \
    X("nrThreadsPerRank", uint32_t, threads_per_rank, 0, UINT32_MAX, "1", \
      "0: all operations are synchronous") \
    X("nrJobsPerRank", uint32_t, jobs_per_rank, 1, UINT32_MAX, "65536", \
      "length of a queue; callers wait while it is full") \
    X("sgXferMaxBlocksPerDpu", uint32_t, sg_max_blocks, 0, UINT32_MAX, "no limit", \
      "blocks of a DPU in a scatter/gather transfer")

#define DPULIB_SOFT_NUMBERS(X) \
    X("softNrRanks", uint32_t, ranks, 1, DPULIB_RANKS_MAX, "40", "number of simulated ranks") \
    X("softThreads", uint32_t, host_threads, 0, 1024, "0", \
      "host threads for launches and copies; 0: all cores") \
    X("softLaunchMicroseconds", uint32_t, launch_microseconds, 0, 1000000000, "170", \
      "what a launch costs besides its cycles in modelled times") \
    X("softInstructionPicojoules", uint32_t, instruction_picojoules, 0, 1000000, \
      "300; another chip: 0", "energy of an instruction; 0: launches have none") \
    X("softSerialToMBs", uint32_t, serial_to, 1, 1000000000, "330", \
      "MB/s (10^6) from the host to one DPU, in modelled times") \
    X("softSerialFromMBs", uint32_t, serial_from, 1, 1000000000, "120", "the same from one DPU") \
    X("softParallelToMBs", uint32_t, parallel_to, 1, 1000000000, "6680", \
      "the same to the 64 DPUs of a rank at once, all together") \
    X("softParallelFromMBs", uint32_t, parallel_from, 1, 1000000000, "4740", \
      "the same from the 64 DPUs of a rank") \
    X("softBroadcastMBs", uint32_t, broadcast, 1, 1000000000, "16880", \
      "the same for a broadcast to the 64 DPUs of a rank") \
    X("softWramMBs", uint32_t, wram, 1, 1000000000, "15", \
      "the same for WRAM and IRAM of all DPUs of a call together") \
    X("softToMicroseconds", uint32_t, call_to, 0, 1000000000, "57", \
      "what a call that copies to several DPUs costs besides its bytes, in modelled times") \
    X("softFromMicroseconds", uint32_t, call_from, 0, 1000000000, "100", \
      "the same from several DPUs") \
    X("softSerialMicroseconds", uint32_t, call_serial, 0, 1000000000, "35", \
      "the same to or from one DPU")

/* Bits of machine.switches: true or false. X(key, bit, meaning) */
#define DPULIB_SOFT_SWITCHES(X) \
    X("softSmallIsProduct", DPU_SWITCH_SMALL_IS_PRODUCT, \
      "an alternative semantics of one instruction, as the three below; " \
      "`csrc/dpu/machine/machine.h` describes them at `enum dpu_switch`") \
    X("softFaultStopsAccess", DPU_SWITCH_FAULT_STOPS_ACCESS, \
      "a faulting load or store does not access memory") \
    X("softWram32Bits", DPU_SWITCH_WRAM_32_BITS, \
      "WRAM addresses beyond 24 bits are faults; else the upper 8 bits are ignored") \
    X("softStepCopiesPair", DPU_SWITCH_STEP_COPIES_PAIR, "see `enum dpu_switch`") \
    X("softUndecodableFaults", DPU_SWITCH_UNDECODABLE_FAULTS, \
      "a word that is not an instruction is a fault; else it does nothing") \
    X("softMram26Bits", DPU_SWITCH_MRAM_26_BITS, \
      "only the low 26 bits of MRAM addresses are used; else addresses beyond 64 MiB are faults") \
    X("softDmaAlignmentFaults", DPU_SWITCH_DMA_ALIGNMENT_FAULTS, \
      "DMA with an address that is not a multiple of 8 is a fault; else the low bits are " \
      "ignored, " \
      "as on UPMEM's simulator") \
    X("softClrRunKeepsRunning", DPU_SWITCH_CLR_RUN_KEEPS_RUNNING, "see `enum dpu_switch`") \
    X("softClsCountsSign", DPU_SWITCH_CLS_COUNTS_SIGN, "see `enum dpu_switch`")

/* Others, with a function that reads each. X(key, function, values, default, meaning) */
#define DPULIB_VENDOR_WORDS(X) \
    X("backend", read_backend, "simulator, cas, hw, model, spi or scenario", "cas", \
      "`simulator`: one cycle per instruction, as in UPMEM's simulator; `cas`: pipeline timing; " \
      "the others need real DPUs, and nothing is allocated") \
    X("sgXferEnable", read_sg_enabled, "true or false", "false", \
      "whether there are scatter/gather transfers") \
    X("disableResetOnAlloc", read_no_reset, "true or false", "false", \
      "whether DPUs keep what they had when they are allocated")

#define DPULIB_SOFT_WORDS(X) \
    X("softEngine", read_engine, "auto, turns, drift, translated or lockstep", "auto", \
      "how tasklets are executed; see [engines](../dpu.md#engines)") \
    X("softServers", read_servers, "share, only or none", "share", \
      "which ranks [servers](../dpu.md#more-than-one-process), if there are any, run: their " \
      "share, all, or none")

/* Known, and without effect. X(key, whether stderr says so, why) */
#define DPULIB_IGNORED_KEYS(X) \
    X("mramSize", true, "softMramMiB sets the size") \
    X("wramSize", true, "softWramKiB sets the size") \
    X("iramSize", true, "softIramInstructions sets the size") \
    X("disabledMask", true, "no simulated DPU is broken") \
    X("rankPath", true, "there are no real ranks") \
    X("cycleAccurate", true, "backend says how time is counted") \
    X("enableProfiling", true, "DPU_PROFILE makes profiles") \
    X("doProfiling", true, "DPU_PROFILE makes profiles") \
    X("profileInstruction", true, "DPU_PROFILE makes profiles") \
    X("profileDma", true, "DPU_PROFILE makes profiles") \
    X("profileMemory", true, "DPU_PROFILE makes profiles") \
    X("profileIla", true, "DPU_PROFILE makes profiles") \
    X("profilingDpuId", false, "of UPMEM's profiler") \
    X("profilingSliceId", false, "of UPMEM's profiler") \
    X("mcountAddress", false, "of UPMEM's profiler") \
    X("retMcountAddress", false, "of UPMEM's profiler") \
    X("threadProfilingAddress", false, "of UPMEM's profiler") \
    X("threadPcMaskRegIndex", false, "of UPMEM's profiler") \
    X("mramAccessByDpuOnly", false, "of real DPUs") \
    X("disableSafeChecks", false, "of real DPUs") \
    X("disableMuxSwitch", false, "of real DPUs") \
    X("cmdsBufferSize", false, "of real DPUs") \
    X("immDma", false, "of UPMEM's simulator") \
    X("regionMode", false, "of real DPUs") \
    X("ignoreVersion", false, "of real DPUs") \
    X("ignoreVpd", false, "of real DPUs") \
    X("tryRepairIram", false, "of real DPUs") \
    X("tryRepairWram", false, "of real DPUs") \
    X("nrThreadPerPool", false, "of UPMEM's library")

#endif
