/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.h: one UPMEM DPU, simulated: tasklets, memories, timing.
 *
 * A machine is used by one thread at a time; different machines are independent, so that those
 * of a set can run in parallel. Only dpu_machine_interrupt() may be called from any thread at any
 * time. Nothing here prints, and no function but dpu_machine_run(), _launch(), _slice() and _step()
 * takes longer than its copy.
 *
 * Time. Tasklets run in rounds: every runnable tasklet issues one instruction per round, in the
 * order of their ids, and a round lasts max(11, runnable / issue width) cycles. DMA moves its data
 * when it is issued and blocks its tasklet for the modelled time. A tasklet that is booted or
 * resumed takes part from the next round on. So a program has one result and one cycle count.
 */
#ifndef OFFCHIP_DPU_MACHINE_H
#define OFFCHIP_DPU_MACHINE_H

#include "dpu/isa/chip.h"
#include "dpu/machine/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dpu_machine;

#define DPU_DRAM_PAGE 1024
/* Where loads and stores find MRAM, if the options have a cache. */
#define DPU_MRAM_WINDOW 0x08000000u

enum dpu_accounting {
    DPU_ACCOUNTING_PIPELINE = 0, /* rounds, as above */
    /* As the vendor's functional simulator counts: an instruction is a cycle, DMA too, and
     * `time` counts the instructions of all tasklets before it, in both modes. */
    DPU_ACCOUNTING_VENDOR = 1,
};

/*
 * Options for what is uncertain about the silicon. 0 is what was measured on the vendor's
 * simulator; each bit chooses the other reading of one point.
 */
enum dpu_switch {
    /* `small` looks at the product (< 256), and not at bits 15:8 of both operands. */
    DPU_SWITCH_SMALL_IS_PRODUCT = 1 << 0,
    /* A load or store that faults does not access memory or its register any more. */
    DPU_SWITCH_FAULT_STOPS_ACCESS = 1 << 1,
    /* Bits 31:24 of a WRAM address must be 0. */
    DPU_SWITCH_WRAM_32_BITS = 1 << 2,
    /* mul_step and div_step copy the half of db that they do not compute to dc. */
    DPU_SWITCH_STEP_COPIES_PAIR = 1 << 3,
    /* A word that is no instruction is a fault, not a no-operation. */
    DPU_SWITCH_UNDECODABLE_FAULTS = 1 << 4,
    /* MRAM addresses keep only their low 26 bits, so that 0x08000000 is the first byte. */
    DPU_SWITCH_MRAM_26_BITS = 1 << 5,
    /* DMA faults if an address is not a multiple of 8; else the low bits are ignored. */
    DPU_SWITCH_DMA_ALIGNMENT_FAULTS = 1 << 6,
    /* clr_run of a running tasklet changes its bit only and the tasklet runs on; else it stops. */
    DPU_SWITCH_CLR_RUN_KEEPS_RUNNING = 1 << 7,
    /* cls counts all leading bits equal to the sign (1 to 32), not those after it (0 to 31). */
    DPU_SWITCH_CLS_COUNTS_SIGN = 1 << 8,
};

struct dpu_machine_options {
    uint32_t size;         /* of this structure, set by dpu_machine_default_options() */
    uint32_t architecture; /* enum dpu_architecture */
    uint32_t accounting;   /* enum dpu_accounting */
    uint32_t engine;       /* enum dpu_engine_kind */
    uint32_t clock_mhz;    /* of the DPU; only banks of DRAM, whose clock is another, ask for it */
#define X(key, type, field, ...) type field;
    DPU_MACHINE_NUMBERS(X)
#undef X
};

/*
 * Engines that run the tasklets. Programs without races have the same results, cycles and counts in
 * all; others have one result in each.
 */
enum dpu_engine_kind {
    DPU_ENGINE_AUTO = 0,  /* the fastest that can run the program */
    DPU_ENGINE_TURNS = 1, /* one instruction of each tasklet in turn, as the pipeline issues them */
    DPU_ENGINE_DRIFT = 2, /* each tasklet alone up to what others notice */
    DPU_ENGINE_TRANSLATED = 3, /* the same, translated to host code as far as there is any */
    DPU_ENGINE_LOCKSTEP = 4,   /* the same, several machines at once (lockstep.h) */
    DPU_ENGINE_COUNT
};

enum dpu_run_status {
    DPU_RUN_DONE = 0, /* every tasklet has stopped */
    DPU_RUN_FAULT = 1,
    DPU_RUN_INTERRUPTED = 2, /* dpu_machine_interrupt(); dpu_machine_run() goes on */
    DPU_RUN_CYCLE_LIMIT = 3, /* max_cycles */
    DPU_RUN_STEPPED = 4,     /* the asked number of rounds is over, tasklets still run */
    DPU_RUN_NO_MEMORY = 5,   /* out of memory; nothing has run, and a further run may go on */
};

enum dpu_fault_kind {
    DPU_FAULT_NONE = 0,
    DPU_FAULT_BREAKPOINT = 1,  /* `fault` and `bkp`; breakpoint holds its number */
    DPU_FAULT_DMA = 2,         /* a transfer out of the bounds of WRAM, IRAM or MRAM */
    DPU_FAULT_MEMORY = 3,      /* a load or store out of bounds or misaligned, or a stack check */
    DPU_FAULT_UNDECODABLE = 4, /* only with DPU_SWITCH_UNDECODABLE_FAULTS */
};

/* Causes of faults of transfers (DPU_FAULT_DMA). */
enum dpu_fault_detail {
    DPU_FAULT_DETAIL_NONE = 0,
    DPU_FAULT_DETAIL_BOUNDS = 1,     /* of WRAM or IRAM */
    DPU_FAULT_DETAIL_MISALIGNED = 2, /* only with DPU_SWITCH_DMA_ALIGNMENT_FAULTS */
    DPU_FAULT_DETAIL_MRAM_BOUNDS = 3,
};

/* Of the cache of MRAM: loads and stores that found their line or not, and what was moved. */
struct dpu_cache_totals {
    uint64_t hits;
    uint64_t misses;
    uint64_t write_backs; /* of dirty lines */
    uint64_t fill_bytes;
};

/* All figures are of the launch so far, summed over dpu_machine_run() calls that continue it. */
struct dpu_run_result {
    uint32_t status; /* enum dpu_run_status */
    uint32_t fault;  /* enum dpu_fault_kind */
    uint32_t fault_thread;
    uint32_t fault_pc; /* instruction index; the pc of that tasklet */
    uint32_t breakpoint;
    uint32_t fault_address; /* that the faulting access asked for */
    uint32_t fault_detail;  /* enum dpu_fault_detail */
    uint32_t fault_bytes;   /* of the transfer, after DPU_FAULT_DMA */
    uint64_t cycles;
    uint64_t rounds;
    uint64_t instructions;
    uint64_t dma_read_bytes;  /* from MRAM */
    uint64_t dma_write_bytes; /* to MRAM */
    struct dpu_cache_totals cache;
    uint64_t thread_instructions[DPU_MACHINE_THREADS_ROOM];
};

/* Totals of DMA instructions since the machine exists. */
struct dpu_dma_totals {
    uint64_t reads; /* instructions that read MRAM: ldma, ldmai */
    uint64_t writes;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

struct dpu_thread_state {
    uint32_t registers[DPU_MACHINE_REGISTERS]; /* d0 = {r0 high, r1 low} */
    uint32_t pc;                               /* 0 to 4095 */
    uint8_t zero;
    uint8_t carry;
    uint8_t running; /* its run bit */
    uint8_t reserved;
};

/* The performance counter; value has 36 bits. */
struct dpu_counter_state {
    uint64_t value; /* `time` gives value >> 4 */
    uint32_t mode;  /* 1 cycles, 2 instructions, 3 off */
    uint32_t reserved;
};

void dpu_machine_default_options(struct dpu_machine_options *options);
/* The chip of the options, with what they say of its sizes. */
struct dpu_chip dpu_machine_chip(const struct dpu_machine_options *options);
/*
 * A machine with zeroed memories, registers and bits, all tasklets stopped at pc 0. OPTIONS may
 * be NULL for the defaults. NULL without memory or for options that make no sense (errno).
 */
struct dpu_machine *dpu_machine_create(const struct dpu_machine_options *options);
void dpu_machine_destroy(struct dpu_machine *machine); /* NULL is allowed */
void dpu_machine_get_options(const struct dpu_machine *machine,
                             struct dpu_machine_options *options);
/* May be called between runs. False if the architecture or a size would change, or a value is
 * invalid. */
bool dpu_machine_set_options(struct dpu_machine *machine,
                             const struct dpu_machine_options *options);

/* False if options of banks of the DRAM make no sense together. */
bool dpu_machine_dram_is_possible(const struct dpu_machine_options *options);
/* The same of the cache: its sets, and with the DRAM. */
bool dpu_machine_cache_is_possible(const struct dpu_machine_options *options);

/* Sizes of the chip: tasklets, instructions of IRAM, bytes of WRAM and MRAM. */
uint32_t dpu_machine_thread_count(const struct dpu_machine *machine);
uint32_t dpu_machine_iram_size(const struct dpu_machine *machine);
uint32_t dpu_machine_wram_size(const struct dpu_machine *machine);
uint32_t dpu_machine_mram_size(const struct dpu_machine *machine);

/*
 * Memories. False, and nothing done, if [OFFSET, OFFSET + SIZE) is not inside. Byte offsets for
 * WRAM and MRAM, instruction indexes for IRAM, whose words have 48 bits (the others are dropped).
 * Writing to IRAM makes the words be decoded anew.
 */
bool dpu_machine_read_wram(const struct dpu_machine *machine, uint32_t offset, void *data,
                           size_t size);
bool dpu_machine_write_wram(struct dpu_machine *machine, uint32_t offset, const void *data,
                            size_t size);
bool dpu_machine_read_mram(const struct dpu_machine *machine, uint32_t offset, void *data,
                           size_t size);
bool dpu_machine_write_mram(struct dpu_machine *machine, uint32_t offset, const void *data,
                            size_t size);
/* Zeros; whole pages of them take no memory afterwards. */
bool dpu_machine_clear_mram(struct dpu_machine *machine, uint32_t offset, size_t size);
bool dpu_machine_read_iram(const struct dpu_machine *machine, uint32_t index, uint64_t *words,
                           size_t count);
bool dpu_machine_write_iram(struct dpu_machine *machine, uint32_t index, const uint64_t *words,
                            size_t count);
/* SIZE bytes of the memories themselves from OFFSET on, all inside, for transfers without a copy:
 * to be read, or also written, before anything else is done with the machine. */
uint8_t *dpu_machine_wram(struct dpu_machine *machine, uint32_t offset, size_t size, bool writes);
uint8_t *dpu_machine_mram(struct dpu_machine *machine, uint32_t offset, size_t size, bool writes);

/* State. False for an index that does not exist. A running tasklet set here goes on in run(). */
bool dpu_machine_get_thread(const struct dpu_machine *machine, uint32_t thread,
                            struct dpu_thread_state *state);
bool dpu_machine_set_thread(struct dpu_machine *machine, uint32_t thread,
                            const struct dpu_thread_state *state);
/* Bit i of *bits is run bit i. Setting that of a tasklet makes it run from its pc. */
uint64_t dpu_machine_get_run_bits(const struct dpu_machine *machine);
void dpu_machine_set_run_bits(struct dpu_machine *machine, uint64_t bits);
bool dpu_machine_get_atomic(const struct dpu_machine *machine, uint32_t bit, bool *value);
bool dpu_machine_set_atomic(struct dpu_machine *machine, uint32_t bit, bool value);
void dpu_machine_get_counter(const struct dpu_machine *machine, struct dpu_counter_state *state);
bool dpu_machine_set_counter(struct dpu_machine *machine, const struct dpu_counter_state *state);
void dpu_machine_get_dma_totals(const struct dpu_machine *machine, struct dpu_dma_totals *totals);

/*
 * Boots tasklet 0 at pc 0 and runs. Registers, flags, bits, pcs of tasklets that are not started,
 * and memories are as the last launch left them. A machine in fault does not run: the result is
 * that fault again until dpu_machine_clear_fault().
 */
enum dpu_run_status dpu_machine_launch(struct dpu_machine *machine, struct dpu_run_result *result);
/* The same without running: for dpu_machine_run() or dpu_machine_step() to follow. */
void dpu_machine_boot(struct dpu_machine *machine);
/* Goes on until every tasklet has stopped, a fault, an interruption, or the cycle limit. */
enum dpu_run_status dpu_machine_run(struct dpu_machine *machine, struct dpu_run_result *result);
/*
 * The same up to the next multiple of ROUNDS, which is not 0, since the boot (rounds in which only
 * DMA is waited for do not count).
 */
enum dpu_run_status dpu_machine_slice(struct dpu_machine *machine, uint64_t rounds,
                                      struct dpu_run_result *result);
/* Engine that ran last: "turns" or "drift". "" before the first run. Static. */
const char *dpu_machine_engine_name(const struct dpu_machine *machine);
/* Goes on for at most ROUNDS rounds, in turns. */
enum dpu_run_status dpu_machine_step(struct dpu_machine *machine, uint64_t rounds,
                                     struct dpu_run_result *result);
/* One instruction of one tasklet, which must be running; the others stand still. */
enum dpu_run_status dpu_machine_step_thread(struct dpu_machine *machine, uint32_t thread,
                                            struct dpu_run_result *result);
/* Makes a run in another thread, or the next run, end within 10 ms. Safe in a signal handler. */
void dpu_machine_interrupt(struct dpu_machine *machine);
/* Result as it is now, without running. */
void dpu_machine_get_result(const struct dpu_machine *machine, struct dpu_run_result *result);
/* Forgets the fault, and stops all tasklets. */
void dpu_machine_clear_fault(struct dpu_machine *machine);
/* Puts a fault into the machine, as a restored checkpoint needs it. */
bool dpu_machine_set_fault(struct dpu_machine *machine, enum dpu_fault_kind kind, uint32_t thread,
                           uint32_t breakpoint);

const char *dpu_fault_name(enum dpu_fault_kind kind);
const char *dpu_run_status_name(enum dpu_run_status status);

#endif
