/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lockstep.h: several machines with the same program, in the lanes of the host's vectors.
 *
 * Each machine has windows, events and times of its own, as in drift; but between events, tasklets
 * of several machines that are at the same pc run in one call, which executes each instruction for
 * all of them (lanes_code.h). So a machine has the same results, counts and cycles as alone,
 * whatever the others do.
 */
#ifndef OFFCHIP_DPU_LOCKSTEP_H
#define OFFCHIP_DPU_LOCKSTEP_H

#include "machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The most machines at once. */
#define DPU_LOCKSTEP_MOST 16

/* A tasklet of each lane for a call; and where it is, and what it may execute, both ways. */
struct dpu_lanes_call {
    uint32_t *registers[DPU_LOCKSTEP_MOST]; /* r, zero and carry of struct dpu_thread */
    uint32_t pc[DPU_LOCKSTEP_MOST], budget[DPU_LOCKSTEP_MOST];
};

/* Code of a program for several machines, made by others. */
struct dpu_lanes_code {
    uint32_t lanes; /* of WRAM, and the most machines */
    /*
     * Runs tasklet ID of the lanes that are set in ENTERED, each from its pc to what the code
     * leaves to the interpreter, or to where the budget is not enough for what comes next.
     */
    void (*run)(struct dpu_lanes_call *call, uint8_t *wram, uint32_t id, uint32_t entered);
    /*
     * Moves BYTES, a multiple of 4, between WRAM from a word on and a memory of each lane of SET.
     */
    void (*move_in)(uint8_t *words, uint8_t *const *memories, uint32_t bytes, uint32_t set);
    void (*move_out)(const uint8_t *words, uint8_t *const *memories, uint32_t bytes, uint32_t set);
    /* For each pc, 0 if it can be entered there; else how much is interpreted before that is tried
     * again. */
    const uint8_t *spans;
    /* Where tasklets came and could not enter, a byte for each pc, and how many instructions were
     * interpreted there. */
    _Atomic uint8_t *missed_at;
    _Atomic uint64_t *missed;
};

/* True if a machine may run with others of the same program and options. */
bool dpu_lockstep_can(const struct dpu_machine *machine);
/* True if two may run together. */
bool dpu_lockstep_match(const struct dpu_machine *a, const struct dpu_machine *b);
/*
 * The same as dpu_machine_slice() of each of COUNT machines, at most code->lanes, which match.
 * Sets their results and statuses (enum dpu_run_status in the results).
 */
void dpu_lockstep_slice(struct dpu_machine *const *machines, uint32_t count, uint64_t rounds,
                        const struct dpu_lanes_code *code, struct dpu_run_result *const *results);

#endif
