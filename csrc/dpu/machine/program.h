/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h: decoded programs, shared by all machines that have the same words in IRAM.
 *
 * A machine joins the program of its IRAM when a run begins after IRAM or switches have changed,
 * and leaves it when it joins another one or is destroyed. An operation is decoded when it is first
 * executed by any machine; until then its code is DPU_CODE_DECODE, and afterwards it does not
 * change. The last programs without machines are kept for a while. A program that writes to IRAM is
 * not shared, nor kept. Any thread may call these functions; none
 * blocks for longer than a decoding.
 */
#ifndef OFFCHIP_DPU_PROGRAM_H
#define OFFCHIP_DPU_PROGRAM_H

#include "machine_state.h"

/* Code that runs tasklets of one program faster; made by others. */
struct dpu_translation {
    dpu_runner run;
    void (*release)(struct dpu_translation *translation); /* when the program is freed */
};

struct dpu_program {
    /* The two after the IRAM: going on at its first word, and the end of a round. */
    struct dpu_operation operations[DPU_MACHINE_IRAM + 2];
    uint64_t iram[DPU_MACHINE_IRAM];
    uint32_t size; /* words from here on are 0 */
    uint32_t switches, wram_size;
    bool needs_turns;          /* it has instructions that only turns can execute */
    _Atomic uint64_t executed; /* instructions, by all machines, at the ends of runs */
    _Atomic(struct dpu_translation *) translation; /* NULL: none yet */

    /* For program.c. */
    struct dpu_program *next;
    uint64_t hash, departed;
    uint32_t users;
    bool is_shared;
};

/* Sets m->program and m->operations, and moves tasklets there. False if out of memory: then the
 * machine is as before, and cannot run. */
bool dpu_program_join(struct dpu_machine *machine);
/* Leaves it forever. */
void dpu_program_leave(struct dpu_machine *machine);
/* A reference for somebody who is no machine, and its end. */
void dpu_program_ref(struct dpu_program *program);
void dpu_program_unref(struct dpu_program *program);
/* Puts a decoded operation at INDEX, unless another thread has done so. */
void dpu_program_publish(struct dpu_program *program, uint32_t index,
                         const struct dpu_operation *operation);

/* Where tasklets of a machine without a program point to; never read. */
extern struct dpu_operation dpu_no_operations[DPU_MACHINE_IRAM + 2];

#endif
