/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * observe.h: looking at a machine while it runs.
 *
 * A machine with an observer or with counts runs on an engine of its own ("observed"), which has
 * the results and cycles of turns. A machine without any is as fast as if nothing of this existed.
 *
 * Hooks are called in the thread that runs the machine, and, unless they say otherwise, in the
 * order of rounds and ids, before the instruction executes that they are about. They may read the
 * machine (dpu_machine_get_thread(), dpu_machine_read_wram(), ...) but not change it. Cycles are
 * those of the launch.
 */
#ifndef OFFCHIP_DPU_OBSERVE_H
#define OFFCHIP_DPU_OBSERVE_H

#include "machine.h"

/* A load or a store. Its bytes are in WRAM, or by a cache in MRAM, unless it will fault. */
struct dpu_access {
    uint32_t address, size;
    bool writes;
};

/* A transfer between MRAM and WRAM or IRAM; addresses are in bytes. */
struct dpu_transfer {
    uint32_t near, mram, bytes;
    bool writes_mram, to_iram;
    uint64_t issued;
    /* For transferred(): when its engine begins and is free again, and the tasklet may go on. */
    uint64_t start, engine_end, tasklet_end;
};

enum dpu_run_bit_change {
    DPU_RUN_BIT_BOOT,
    DPU_RUN_BIT_RESUME,
    DPU_RUN_BIT_CLEAR,
    DPU_RUN_BIT_READ,
    DPU_RUN_BIT_STOP
};

/* A call keeps the address of the next instruction in a register. Other jumps without a condition
 * go to an address that the instruction has, or a register, as returns do. */
enum dpu_jump { DPU_JUMP_CALL, DPU_JUMP_DIRECT, DPU_JUMP_BY_REGISTER };

/* Why a tasklet did not issue for some time. */
enum dpu_wait { DPU_WAIT_DMA, DPU_WAIT_SLEEP };

/* A time in which the same tasklets took part. */
struct dpu_span {
    uint64_t cycles, rounds;
    uint32_t runnable; /* tasklets that issued in each round; 0: all waited for DMA */
    uint32_t waiting;  /* tasklets that waited for DMA */
    uint32_t stopped;  /* tasklets that took part before in this launch, and had stopped */
};

/* Hooks may be NULL. The caller owns it, and keeps it until it is removed. */
struct dpu_observer {
    void *context;
    struct dpu_observer *next; /* for the machine */

    /* A launch begins, or it is over: DPU_RUN_DONE, _FAULT or _CYCLE_LIMIT. */
    void (*booted)(void *context, struct dpu_machine *m);
    void (*ended)(void *context, struct dpu_machine *m, enum dpu_run_status status);

    void (*instruction)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc);
    /* Also one that will fault. */
    void (*access)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                   const struct dpu_access *access);
    void (*dma)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                const struct dpu_transfer *transfer);
    /* After the instruction, whose data has moved; not if it has faulted. */
    void (*transferred)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                        const struct dpu_transfer *transfer);
    /* A line of the cache was filled, or written to MRAM; its place in another memory is 0. */
    void (*line_moved)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       const struct dpu_transfer *transfer);

    /* Calls, returns and other jumps without a condition. If no observer has instruction() or
     * access(), those of a tasklet are told up to some rounds late, and before those of others, but
     * at the latest when its next event is; only time and instructions are then as at the jump. */
    void (*jumped)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                   enum dpu_jump kind, uint32_t target);

    /* TAKEN: the bit was clear. Else the program may try again. */
    void (*acquire)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    uint32_t bit, bool taken);
    void (*release)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    uint32_t bit);
    /* TARGET: index of the run bit, which is a tasklet's below dpu_machine_thread_count(). */
    void (*run_bit)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_run_bit_change change, uint32_t target, bool was_set);

    /* A tasklet will issue again, after it has waited at the instruction PC. */
    void (*waited)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                   enum dpu_wait wait, uint64_t since, uint64_t until);
    /* Afterwards. */
    void (*passed)(void *context, struct dpu_machine *m, const struct dpu_span *span);
    void (*fault)(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                  enum dpu_fault_kind kind);
};

/*
 * How often one tasklet has executed an instruction, and the cycles of the rounds that it was
 * issued in. Only jumps are counted while it runs: a row has the differences, modulo 2^64, between
 * an instruction and the one before, so that what an instruction counts is the sum of the row up
 * to it. That holds between runs.
 */
struct dpu_count {
    uint64_t instructions;
    uint64_t cycles;
};

/* There are two counts more than instructions, which mean nothing. */
#define DPU_COUNTS (DPU_MACHINE_IRAM + 2)

/* Between runs. An observer is put behind those that the machine has. */
void dpu_machine_observe(struct dpu_machine *machine, struct dpu_observer *observer);
void dpu_machine_unobserve(struct dpu_machine *machine, struct dpu_observer *observer);
/* Adds to COUNTS, which has a row of DPU_COUNTS for each tasklet, from now on; NULL: no more. */
void dpu_machine_count(struct dpu_machine *machine, struct dpu_count *counts);

/* For hooks: the cycle of the launch, the cycles of the round and the cycle at which it ends, and
 * the instructions of a tasklet in this launch, with the one that the hook is about. */
uint64_t dpu_machine_now(const struct dpu_machine *machine);
uint64_t dpu_machine_round_cycles(const struct dpu_machine *machine);
uint64_t dpu_machine_round_end(const struct dpu_machine *machine);
uint64_t dpu_machine_thread_instructions(const struct dpu_machine *machine, uint32_t thread);

#endif
